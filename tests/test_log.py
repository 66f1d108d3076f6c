"""Log lines, in each of their forms."""

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
import structlog

from exporter import log

HOSTILE = 'CN=a"b\n2026-01-01T00:00:00Z error   forged\x1b[31m\x9b\u202e\udc80\r'
FORMATS: tuple[log.Format, ...] = ("text", "json", "logfmt")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def written(form: log.Format, *, stream: io.StringIO | None = None, **fields: object) -> str:
    """Return what one event with these fields looks like."""
    stream = stream or io.StringIO()
    log.configure("info", form, stream)
    structlog.get_logger().info("round done", **fields)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        pytest.param("text", r"\S+Z info    round done target=shop backends=3 note=\"a b\"\n", id="text"),
        pytest.param(
            "logfmt", r'time=\S+Z level=info msg="round done" target=shop backends=3 note="a b"\n', id="logfmt"
        ),
        pytest.param(
            "json",
            r'\{"time": "\S+Z", "level": "info", "msg": "round done", "target": "shop", "backends": 3, '
            r'"note": "a b"\}\n',
            id="json",
        ),
    ],
)
def test_a_line(form: log.Format, expected: str) -> None:
    """Time in UTC, level and message come first, and the fields follow in the order in which they were given."""
    assert re.fullmatch(expected, written(form, target="shop", backends=3, note="a b"))


@pytest.mark.parametrize(
    ("stream", "starts"),
    [
        pytest.param(Terminal(), "20", id="a terminal gets text"),
        pytest.param(io.StringIO(), "time=20", id="anything else gets logfmt"),
    ],
)
def test_auto(stream: io.StringIO, starts: str) -> None:
    """The form is chosen by who reads it."""
    assert written("auto", stream=stream).startswith(starts)


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_text_is_escaped(form: log.Format) -> None:
    """What a certificate says can neither forge a line nor reach the terminal's control sequences."""
    lines = written(form, subject=HOSTILE)

    assert lines.endswith("\n")
    assert lines[:-1].isprintable()
    assert "forged" in lines


def test_json_keeps_the_value() -> None:
    """A program that decodes the line gets the value as it was."""
    assert json.loads(written("json", subject=HOSTILE))["subject"] == HOSTILE


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("value", "shown", "hidden"),
    [
        pytest.param(b"secret ticket", "<13 bytes>", "secret", id="bytes are only counted"),
        pytest.param("x" * 5000, "(5000 characters)", "x" * 3000, id="long values are cut"),
        pytest.param(("a", "b"), "a,b", "(", id="lists are joined"),
        pytest.param(["One, two.", "Three."], "One, two.; Three.", "[", id="lists of sentences are joined"),
    ],
)
def test_values(form: log.Format, value: object, shown: str, hidden: str) -> None:
    """Values are made plain and bounded, and secrets in bytes never come out."""
    line = written(form, value=value)

    assert shown in line
    assert hidden not in line


def raise_forged() -> None:
    """Raise an error whose message tries to look like a line of the log."""
    raise ValueError(HOSTILE)


@pytest.mark.parametrize("form", FORMATS)
def test_a_traceback_cannot_forge_a_line(form: log.Format) -> None:
    """An exception's traceback is told, as one field or as indented lines."""
    stream = io.StringIO()
    log.configure("info", form, stream)
    try:
        raise_forged()
    except ValueError:
        structlog.get_logger().exception("a bug")
    first, *rest = stream.getvalue().splitlines()

    assert "a bug" in first
    assert "raise_forged" in stream.getvalue()
    assert all(line.startswith("    ") and line.isprintable() for line in rest)
    assert bool(rest) is (form == "text")


@pytest.mark.parametrize("form", FORMATS)
def test_the_standard_library_goes_the_same_way(form: log.Format) -> None:
    """What a library logs comes out in the same form, with its logger's name."""
    stream = io.StringIO()
    log.configure("info", form, stream)
    logging.getLogger("asyncio").warning("Executing %s took %.3f seconds", "x", 0.5)
    line = stream.getvalue()

    assert "warning" in line
    assert "Executing x took 0.500 seconds" in line
    assert "asyncio" in line


def test_level() -> None:
    """Lines below the level are dropped, ours and the libraries' alike."""
    stream = io.StringIO()
    log.configure("warning", "logfmt", stream)
    structlog.get_logger().info("ours")
    logging.getLogger("aiohttp").info("theirs")
    structlog.get_logger().warning("kept")

    assert stream.getvalue().count("\n") == 1
    assert "kept" in stream.getvalue()


def test_another_level() -> None:
    """A level that changes while we run holds for loggers that were made before, the standard library's too."""
    stream = io.StringIO()
    log.configure("warning", "logfmt", stream)
    ours, theirs = structlog.get_logger(), logging.getLogger("aiohttp")
    for level in ("info", "error"):
        log.set_level(level)
        ours.info(f"ours at {level}")
        theirs.warning(f"theirs at {level}")

    assert re.findall(r'msg="([^"]*)"', stream.getvalue()) == ["ours at info", "theirs at info"]


def test_configuring_again_replaces() -> None:
    """A second call moves the log, so that no line comes twice."""
    before, after = io.StringIO(), io.StringIO()
    log.configure("info", "logfmt", before)
    log.configure("info", "json", after)
    structlog.get_logger().info("moved")

    assert before.getvalue() == ""
    assert json.loads(after.getvalue())["msg"] == "moved"


def test_unknown_level() -> None:
    """A level that does not exist is refused."""
    with pytest.raises(KeyError):
        log.configure("loud", "json", io.StringIO())
