"""The worker processes, one for each core, from the parent's side."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

import exporter
from exporter.load.orders import Message, Order, Scouted, Site, Tally, encode, read

# Run with -P, so that the folder that we were started in cannot put other modules in the library's place.
_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from exporter.load.worker import main; main()"
_ENDED = "a worker process has ended, maybe for want of memory; try again, with fewer --processes"
_END_SECONDS = 2.0
_NOTICE_SECONDS = 0.1
"""From an order to its beginning, so that all workers have read it by then."""


class CrewError(RuntimeError):
    """The workers cannot do what they are for; the message says why."""


class SiteError(CrewError):
    """The site does not answer as it should."""


class Crew:
    """Processes that have learned of one site and wait for orders.

    Attributes:
        scouted: what the first of them saw of the site.
        most: connections that all of them together can have under way at once.
    """

    def __init__(self, workers: Sequence["subprocess.Popen[bytes]"], site: Site) -> None:
        self._workers = workers
        for worker in workers:
            _send(worker, encode(site))
        answers = [_read(worker, Scouted) for worker in workers]
        for answer in answers:
            if answer.problem:
                raise SiteError(answer.problem)
        self.scouted = answers[0]
        self.most = sum(answer.most for answer in answers)
        if self.most < self.size:
            raise CrewError("no connection can be begun: too few files may be open; raise `ulimit -n`")

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self._workers)

    def carry_out(self, order: Order) -> Sequence[Tally]:
        """Share an order out, wait until it was carried out, and return what each worker counted.

        Args:
            order: as for one worker alone; when it begins, and who does what of it, is decided here.

        Raises:
            CrewError: a worker ended over it.
        """
        begin = time.monotonic() + _NOTICE_SECONDS
        # Without a client of its own, a worker's part would be one of an open loop.
        workers = self._workers[: order.clients] if order.clients else self._workers
        size = len(workers)
        for number, worker in enumerate(workers):
            clients = order.clients // size + (number < order.clients % size)
            part = replace(order, begin=begin, number=number, workers=size, clients=clients)
            _send(worker, encode(part))
        return [_read(worker, Tally) for worker in workers]


@contextmanager
def hire(site: Site, workers: int) -> Iterator[Crew]:
    """Run so many workers for a site until the block ends; they also end when we do, however that comes about.

    Raises:
        SiteError: the site does not answer as it should.
        CrewError: they cannot be started.
    """
    with ExitStack() as stack:
        hired: list[subprocess.Popen[bytes]] = []
        while len(hired) < workers:
            hired.append(_start())
            stack.callback(_dismiss, hired[-1])
        yield Crew(hired, site)


def cores() -> int:
    """Return how many processor cores we may use."""
    return len(os.sched_getaffinity(0))


def _start() -> "subprocess.Popen[bytes]":
    # In a group of its own, what a terminal sends to ours does not reach it, however early that is.
    command = (sys.executable, "-P", "-c", _CODE, str(Path(exporter.__file__).parent.parent))
    try:
        return subprocess.Popen(  # noqa: S603 - all words are our own
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
    except OSError as error:
        raise CrewError(
            f"a worker cannot be started: {error.strerror}; raise `ulimit -n` and `-u`, or name fewer --processes"
        ) from None


def _dismiss(worker: "subprocess.Popen[bytes]") -> None:
    for pipe in (worker.stdin, worker.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        worker.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def _send(worker: "subprocess.Popen[bytes]", frame: bytes) -> None:
    pipe = _piped(worker.stdin)
    try:
        pipe.write(frame)
        pipe.flush()
    except OSError:
        raise CrewError(_ENDED) from None


def _read(worker: "subprocess.Popen[bytes]", kind: type[Message]) -> Message:
    try:
        return read(kind, _piped(worker.stdout).read)
    except EOFError:
        raise CrewError(_ENDED) from None


def _piped(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError("a worker has no pipes")
    return pipe
