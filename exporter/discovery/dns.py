"""Turns a target's names into addresses through the system's own resolver, so that host files and search lists count.

The C library offers nothing but a call that blocks, for half a minute at times. Each name is looked up in a
thread of its own, which is a daemon: the process can end while one hangs, as it could not with an executor's threads.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from exporter.discovery.literal import in_order, literal
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, Resolved, Target

Lookup = Callable[[str], frozenset[str]]
"""Blocks until a name is resolved to IP literals; raises what socket.getaddrinfo raises."""

_Answer = frozenset[str] | Failure

# Some systems lack some of these; every other number means that the name service did not do its work.
_NO_SUCH_NAME = frozenset(
    getattr(socket, number) for number in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, number)
)


@dataclass(frozen=True, slots=True)
class _Kept:
    hosts: frozenset[str]
    since: float


def system_lookup(name: str) -> frozenset[str]:
    """Return the A and AAAA addresses of a name, as the system resolves it; this blocks."""
    return frozenset(str(where[0]) for *_, where in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))


class Resolver:
    """Resolves targets, and keeps what a name stood for while its name service is down; it serves one event loop.

    Args:
        deadline: seconds that a target may wait for its names.
        keep: seconds for which the last addresses of a failing name are still given.
        threads: how many names are looked up at a time; one name has one thread at most, however often it is asked for.
        lookup: the blocking call, made in several threads at once.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        *,
        deadline: float = 2.0,
        keep: float = 600.0,
        threads: int = 32,
        lookup: Lookup = system_lookup,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._deadline = deadline
        self._keep = keep
        self._threads = threads
        self._lookup = lookup
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._running: dict[str, asyncio.Future[_Answer]] = {}

    async def resolve(self, target: Target) -> Resolved:
        """Return the addresses of the target's backends where it lists some, else of its endpoint.

        Whatever goes wrong with a name is a value: other names of the target are not affected by it.
        """
        endpoints = dict.fromkeys(target.backends or (target.endpoint,))
        proxies = [] if target.proxy is None else [target.proxy]
        answers = await asyncio.gather(*map(self.find, [*endpoints, *proxies]))
        found = {address for addresses, _ in answers[: len(endpoints)] for address in addresses}
        proxy = in_order({address for addresses, _ in answers[len(endpoints) :] for address in addresses})
        failure = next((failure for _, failure in answers if failure is not None), None)
        return Resolved(in_order(found), failure, proxy[0] if proxy else None)

    async def find(self, endpoint: Endpoint) -> tuple[frozenset[Address], Failure | None]:
        """Return the addresses of one endpoint, and why its name gave none this time."""
        if (address := literal(endpoint)) is not None:
            return frozenset({address}), None
        answer = await self._ask(endpoint.host)
        failure = answer if isinstance(answer, Failure) else None
        hosts = self._last(endpoint.host) if isinstance(answer, Failure) else self._remember(endpoint.host, answer)
        return frozenset(Address(host, endpoint.port) for host in hosts), failure

    def _remember(self, name: str, hosts: frozenset[str]) -> frozenset[str]:
        self._kept[name] = _Kept(hosts, self._clock())
        return hosts

    def _last(self, name: str) -> frozenset[str]:
        oldest = self._clock() - self._keep
        self._kept = {each: kept for each, kept in self._kept.items() if kept.since >= oldest}
        return self._kept[name].hosts if name in self._kept else frozenset()

    async def _ask(self, name: str) -> _Answer:
        """Wait for the name's thread, a new one or one that still runs, for no longer than the deadline."""
        try:
            async with asyncio.timeout(self._deadline):
                while name not in self._running:
                    if len(self._running) < self._threads:
                        self._start(name)
                    else:
                        await asyncio.wait(self._running.values(), return_when=asyncio.FIRST_COMPLETED)
                return await asyncio.shield(self._running[name])  # others wait for it, too
        except TimeoutError:
            return Failure(Stage.RESOLVE, Reason.TIMEOUT, f"{name}: no answer within {self._deadline:g} s")

    def _start(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Answer] = loop.create_future()

        def work() -> None:
            answer = _ask_system(self._lookup, name)
            try:
                loop.call_soon_threadsafe(finish, answer)
            except RuntimeError:
                return  # the loop was closed long before the answer came

        def finish(answer: _Answer) -> None:
            del self._running[name]
            future.set_result(answer)

        self._running[name] = future
        try:
            threading.Thread(target=work, name=f"resolve {name}", daemon=True).start()
        except RuntimeError:
            loop.call_soon(finish, Failure(Stage.RESOLVE, Reason.NAME_SERVICE, f"{name}: no thread left to ask for it"))


def _ask_system(lookup: Lookup, name: str) -> _Answer:
    try:
        return lookup(name) or Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, f"{name}: no address")
    except socket.gaierror as error:
        reason = Reason.NO_SUCH_NAME if error.errno in _NO_SUCH_NAME else Reason.NAME_SERVICE
        return Failure(Stage.RESOLVE, reason, f"{name}: {error.strerror}")
    except ValueError:  # a label over 63 bytes, an empty one, a zero byte
        return Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, f"{name}: not a host name")
    except Exception as error:  # noqa: BLE001 -- without an answer the name would count as being asked for ever
        return Failure(Stage.RESOLVE, Reason.NAME_SERVICE, f"{name}: {error}")
