"""One structured line for each thing worth telling.

Every module asks `structlog.get_logger()` for its logger; what libraries tell through the standard library's
`logging` comes out of the same handler in the same form.
"""

import contextlib
import io
import logging
import os
import queue
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

Format = Literal["auto", "text", "json", "logfmt"]

_VALUE_BOUND = 2048
_WAITING_LINES = 1000
_TRACEBACK_BOUND = 16384


class Detached(io.TextIOBase):
    """Writes to a stream from a thread of its own, so that a reader who does not read holds up nobody else.

    Lines that find no room are lost, and their number is told as soon as there is room again.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(_WAITING_LINES)
        self._lost = 0
        self._thread = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._thread.start()

    def isatty(self) -> bool:
        """Say whether a person reads it."""
        return self._stream.isatty()

    def write(self, text: str) -> int:
        """Take a line, or lose it."""
        try:
            if self._lost:
                self._lines.put_nowait(f"{self._lost} lines were lost here, since nobody read them\n")
                self._lost = 0
            self._lines.put_nowait(text)
        except queue.Full:
            self._lost += 1
        return len(text)

    def finish(self, patience: float) -> None:
        """Wait until all is written, for so many seconds at the most."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(patience)

    def _write_all(self) -> None:
        # Past the stream's own buffer, whose lock would keep the process from ending while this waits for a reader.
        descriptor = self._stream.fileno()
        while (text := self._lines.get()) is not None:
            rest = text.encode(errors="backslashreplace")
            with contextlib.suppress(OSError):  # the reader has gone
                while rest:
                    rest = rest[os.write(descriptor, rest) :]


def configure(level: str, format: Format, stream: TextIO | Detached) -> None:  # noqa: A002 -- named as in the configuration
    """Send every line of `level` and above to `stream`.

    Args:
        level: "debug", "info", "warning", "error" or "critical".
        format: "text" for people, "json" or "logfmt" for programs, "auto" for text on a terminal and logfmt elsewhere.
        stream: where lines go; it is left open.

    Raises:
        KeyError: the level or the format is none of these.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    if format == "auto":
        format = "text" if stream.isatty() else "logfmt"  # noqa: A001
    handler = _LineHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_SHARED, *_RENDERERS[format]],
        )
    )
    root = logging.getLogger()
    for former in [each for each in root.handlers if isinstance(each, _LineHandler)]:
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(number)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def set_level(level: str) -> None:
    """Let every line of `level` and above through from now on; the names are those of `configure`."""
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger().setLevel(number)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(number))


class _LineHandler(logging.StreamHandler[TextIO | Detached]):
    """Our own handler, so that configuring twice replaces it and leaves handlers of others alone."""


def _arrange(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Put time, level and message first and make every value a plain, bounded one."""
    ordered: dict[str, object] = {"time": event.pop("time"), "level": event.pop("level"), "msg": event.pop("event")}
    traceback = event.pop("exception", None)
    arranged = {key: _plain(value) for key, value in (ordered | dict(event)).items()}
    return arranged if traceback is None else arranged | {"exception": str(traceback)[-_TRACEBACK_BOUND:]}


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"  # never the bytes themselves: they may be a ticket or a secret
    text = _joined([str(each) for each in value]) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= _VALUE_BOUND else f"{text[:_VALUE_BOUND]}... ({len(text)} characters)"


def _escape(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Make what a server or certificate sent unable to start a line, colour a terminal or turn the writing round."""
    return {key: _visible(value) if isinstance(value, str) else value for key, value in event.items()}


def _joined(texts: Sequence[str]) -> str:
    """Put a list into one value; sentences, which have commas of their own, are parted by semicolons."""
    return ("; " if any(" " in text for text in texts) else ",").join(texts)


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def _render_text(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    """Render a line for people, a traceback indented below it so that no line of it passes for one of ours."""
    time, level, message = (event.pop(key) for key in ("time", "level", "msg"))
    traceback = str(event.pop("exception", ""))
    words = [str(time), f"{level:<7}", _visible(str(message))]
    words += [f"{key}={_quoted(value)}" for key, value in event.items()]
    return "\n    ".join([" ".join(words), *map(_visible, traceback.splitlines())])


def _quoted(value: object) -> str:
    text = _visible(str(value))
    return text if text and not {" ", "=", '"'} & set(text) else '"' + text.replace('"', '\\"') + '"'


_SHARED: tuple[Processor, ...] = (
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    structlog.processors.format_exc_info,
    _arrange,
)
_RENDERERS: Mapping[str, tuple[Processor, ...]] = MappingProxyType(
    {
        "text": (_render_text,),
        "json": (structlog.processors.JSONRenderer(),),  # JSON escapes all that is not printable ASCII by itself
        "logfmt": (_escape, structlog.processors.LogfmtRenderer(bool_as_flag=False)),
    }
)
