"""What was learned of ticket keys, kept on disk across restarts."""

import asyncio
import contextlib
import errno
import os
import stat
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import structlog
from structlog.typing import FilteringBoundLogger

from exporter.probe.document import MAX_BYTES, DocumentError, Records, begin, decode, encode
from exporter.verdict.history import History

T = TypeVar("T")

_log: FilteringBoundLogger = structlog.get_logger()

_MOST_DAMAGED = 3
_FORGOTTEN = 30 * 86_400.0  # seconds for which the keys of a target that is not probed are kept
_FIRST_WORD, _LAST_WORD = 5.0, 1.0  # seconds that a slow disk may hold up the start and the end of the process


class StateFile:
    """One file for all targets. Nothing that is wrong with it stops anything; it is told in the log.

    Attributes:
        path: of the file; beside it stand the next one while it is written, and damaged ones that were set aside.
    """

    def __init__(self, path: Path, salt: bytes, unix: Callable[[], float]) -> None:
        self.path = path.resolve()  # a link stays one, and what it names is written
        self._salt = salt
        self._unix = unix
        self._read: Records = {}
        self._written = b""
        self._failing = False
        self._usable = True
        self._writing = threading.Lock()

    async def recall(self) -> Mapping[str, History]:
        """Return the history with which each target begins; one that is not in it is unknown."""
        if self.path.exists() and not self.path.is_file():
            self._usable = False
            _log.warning("the state file is no regular file, and is left alone", path=str(self.path))
            return {}
        try:
            async with asyncio.timeout(_FIRST_WORD):
                return await _in_thread(self._recall)
        except OSError as error:  # TimeoutError is one
            why = error.strerror or f"no answer within {_FIRST_WORD:g} s"
            _log.warning("the state file cannot be read", path=str(self.path), error=why)
            return {}

    async def keep(self, look: Callable[[], Records], pause: float = 60.0) -> None:
        """Write what `look` gives, every `pause` seconds if it changed, until cancelled and then once more."""
        try:
            while True:
                await asyncio.sleep(pause)
                await self._write_later(look())
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORD):
                    await self._write_later(look())

    def _recall(self) -> Mapping[str, History]:
        try:
            records = decode(_read_bounded(self.path), self._salt, self._unix())
            histories = begin(records)
        except FileNotFoundError:
            return {}
        except DocumentError as error:
            self._set_aside(str(error))
            return {}
        self._read = records
        return histories

    def _set_aside(self, why: str) -> None:
        """Move the file out of the way, so that what is in it can still be looked at, but not too many of them."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{self._unix():.0f}")
        try:
            self.path.rename(aside)
        except OSError as error:
            _log.warning("the state file cannot be used", path=str(self.path), why=why, error=error.strerror)
            return
        _log.warning("the state file cannot be used and was set aside", path=str(aside), why=why)
        with contextlib.suppress(OSError):
            older = sorted(self.path.parent.glob(f"{_quote(self.path.name)}.damaged-*"), key=_age_of)
            for each in older[:-_MOST_DAMAGED]:
                each.unlink()

    async def _write_later(self, records: Records) -> None:
        if not self._usable:
            return
        oldest = self._unix() - _FORGOTTEN
        resting = {
            name: those
            for name, those in self._read.items()
            if name not in records and any(one.last_seen > oldest for one in those)
        }
        try:
            await _in_thread(lambda: self._write({**records, **resting}))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the file, probing goes on
            if not self._failing:
                _log.warning("the state file cannot be written", path=str(self.path), error=str(error))
            self._failing = True
            return
        if self._failing:
            _log.info("the state file is written again", path=str(self.path))
        self._failing = False

    def _write(self, records: Records) -> None:
        content = encode(records, self._salt)
        with self._writing:  # the last write of all does not wait for one that hangs, but must not get in its way
            if content != self._written:
                _replace(self.path, content)
                self._written = content


def _read_bounded(path: Path) -> bytes:
    """Return a file's content.

    Raises:
        OSError: it cannot be read.
        DocumentError: it is no regular file, or too large.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # opening a pipe would wait for its writer
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise DocumentError("it is no regular file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise DocumentError(f"it is over {MAX_BYTES >> 20} MiB")
    return content


def _replace(path: Path, content: bytes) -> None:
    """Put a new file in the place of an old one, so that there is a whole one whenever the power fails.

    Raises:
        OSError: a file cannot be written there; the old one stays.
    """
    fresh = path.with_name(f".{path.name}.{os.uname().nodename}-{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        fresh.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)  # else the new name could be lost
    finally:
        os.close(folder)


def _age_of(path: Path) -> int:
    number = path.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _quote(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


async def _in_thread(work: Callable[[], T]) -> T:
    """Do something that may wait for a disk; a daemon's thread, so that a disk that hangs does not keep the process.

    Raises:
        OSError: no thread can be started.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(outcome: T | BaseException) -> None:
        if future.done():
            return
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    def run() -> None:
        outcome: T | BaseException
        try:
            outcome = work()
        except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it
            outcome = error
        with contextlib.suppress(RuntimeError):  # the loop was closed before
            loop.call_soon_threadsafe(finish, outcome)

    try:
        threading.Thread(target=run, name="state file", daemon=True).start()
    except RuntimeError:
        raise OSError(errno.EAGAIN, "no thread left") from None
    return await future
