"""Several servers of one kind, as the backends of one name."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from exporter.model.target import Address
from tests.servers.process import Server

S = TypeVar("S", bound=Server)
C = TypeVar("C")


def addresses(port: int, count: int = 3) -> tuple[Address, ...]:
    """Return 127.0.0.2, 127.0.0.3 and so on, all with one port."""
    return tuple(Address(f"127.0.0.{last}", port) for last in range(2, 2 + count))


@contextmanager
def start(
    start_one: Callable[[Path, Address, C], S], folder: Path, where: Sequence[Address], settings: Sequence[C]
) -> Iterator[tuple[S, ...]]:
    """Run a server at each address with the settings in the same place, each in a folder of its own below `folder`.

    Raises:
        ServerError: one of them did not start; those before it have been stopped.
    """
    servers: list[S] = []
    with ExitStack() as stops:
        for index, (address, one) in enumerate(zip(where, settings, strict=True)):
            servers.append(start_one(folder / f"{index}", address, one))
            stops.callback(servers[-1].stop)
        yield tuple(servers)
