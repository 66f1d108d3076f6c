"""Held connections: how long may they be idle, and what does a backend do with them when it leaves?

A held connection rests for a while, is asked again, and rests for longer, up to a bound. A server that closes one is
seen at once, so the time is known to a moment; one that the path forgets (a firewall) is found at the next request.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from exporter.model.connections import End, Farewell, HeldEnd, Idle
from exporter.model.failure import Failure, Reason
from exporter.model.target import Address, IdleScope, Target, TlsVersion
from exporter.probe.held import Held
from exporter.probe.means import Hold

STEPS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0, 600.0, 900.0, 1800.0, 3600.0)
"""Seconds of rest, one after the other."""
_REST = 60.0
"""Seconds between two connections at least, once it is known when they die."""
_PARTING = 30.0
"""Seconds for which a connection to a backend that has left is still watched, and an end before that counts as its."""
_ENDS_BY_PEER = frozenset({End.GOAWAY, End.CLOSED, End.RESET, End.IDLE_TIMEOUT, End.IN_FLIGHT})
_MOST_ENDS = 256
_DOUBTS = 3
"""Deaths in a row that are believed, whenever they came."""


@dataclass(slots=True)
class _Watched:
    """One backend whose connections are held.

    Attributes:
        left: set when the backend has left.
        ended: when its last connection ended by the peer's doing, by the monotonic clock, and whether it said so.
        doubts: ages of deaths in a row that were earlier than what was seen to be lived through.
        foreseen: the last death came when one was due by what was known, so that it was no farewell.
    """

    idle: Idle = field(default_factory=Idle)
    position: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    ended: tuple[float, bool] | None = None
    doubts: tuple[float, ...] = ()
    foreseen: bool = False


class IdleWatch:
    """The held connections of one target.

    Args:
        hold: makes one.
        clock: seconds, never going back.
        steps: seconds of rest, one after the other; those beyond the target's bound are left out.
        rest: seconds between two connections at least, once it is known when they die.
    """

    def __init__(
        self,
        target: Target,
        hold: Hold,
        clock: Callable[[], float],
        *,
        steps: tuple[float, ...] = STEPS,
        rest: float = _REST,
    ) -> None:
        bound = target.probe.idle_bound
        self._target = target
        self._hold = hold
        self._clock = clock
        self._steps = (*(step for step in steps if step < bound), bound)
        self._rest = rest
        self._wanted: dict[Address, TlsVersion] = {}
        self._watched: dict[Address, _Watched] = {}
        self._ends: list[HeldEnd] = []
        self._changed = asyncio.Event()

    def follow(self, target: Target, backends: dict[Address, TlsVersion]) -> None:
        """Take note of the backends that can be connected to now, each with a version that it speaks.

        Args:
            target: with its proxy's address as it is now.
            backends: all that the name stands for; those that are down are kept on in hope.
        """
        self._target = target
        scope = target.probe.idle
        if scope is IdleScope.TARGET:
            stays = next((backend for backend in self._watched if backend in backends), None)
            chosen = stays or next(iter(backends), None)
            backends = {} if chosen is None else {chosen: backends[chosen]}
        self._wanted = {} if scope is IdleScope.OFF else backends
        self._changed.set()

    @property
    def idles(self) -> dict[Address, Idle]:
        """What is known of the backends that are watched."""
        return {
            backend: watched.idle
            for backend, watched in self._watched.items()
            if watched.idle.lived or watched.idle.died is not None
        }

    def take_ends(self) -> tuple[HeldEnd, ...]:
        """Return how connections ended since the last call."""
        ends, self._ends = tuple(self._ends), []
        return ends

    async def run(self) -> None:
        """Hold connections until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._changed.wait()
                self._changed.clear()
                for backend, watched in self._watched.items():
                    if backend not in self._wanted:
                        watched.left.set()
                for backend in self._wanted:
                    if backend not in self._watched:
                        watched = self._watched[backend] = _Watched()
                        group.create_task(self._watch(backend, watched), name=f"hold {backend}")

    async def _watch(self, backend: Address, watched: _Watched) -> None:
        try:
            while not watched.left.is_set():
                version = self._wanted.get(backend)
                pause = self._rest
                if version is not None:
                    pause = await self._hold_once(backend, version, watched)
                await _wait(watched.left, pause)
            if watched.ended is not None and self._clock() - watched.ended[0] < _PARTING:
                self._part(backend, End.CLOSED, Farewell.DRAINED if watched.ended[1] else Farewell.DROPPED, watched)
        finally:
            del self._watched[backend]

    async def _hold_once(self, backend: Address, version: TlsVersion, watched: _Watched) -> float:
        """Hold one connection to its end; return the seconds until the next one."""
        held = await self._hold(self._target, backend, version)
        if isinstance(held, Failure):
            return self._rest
        try:
            return await self._live(backend, held, watched)
        finally:
            await held.close()

    async def _live(self, backend: Address, held: Held, watched: _Watched) -> float:
        end = held.last.end if not isinstance(held.last.outcome, Failure) else End.ERROR
        lived = watched.foreseen = False
        while end is None:
            step = self._steps[watched.position]
            began = self._clock()
            end = await self._rest_or_leave(held, step, watched)
            rested = self._clock() - began
            if watched.left.is_set():
                await self._see_off(backend, held, end, watched)
                return 0.0
            if end is None:
                end = await self._ask(held, rested, watched)
                lived = True
            else:
                end = self._note_idle_end(end, rested, watched)
        self._note(backend, end, watched, announced=held.said_goodbye)
        limited = end is End.MAX_REQUESTS and lived
        return min(1.0, self._rest) if limited else self._rest

    async def _ask(self, held: Held, rested: float, watched: _Watched) -> End | None:
        """Ask again after a rest; a step that was lived through leads to the next."""
        outcome, end, _ = await held.ask(self._target.timeout)
        if not isinstance(outcome, Failure):
            watched.doubts = ()
            died = watched.idle.died
            watched.idle = Idle(max(watched.idle.lived, rested), died if died is None or died > rested else None)
            watched.position = min(watched.position + 1, len(self._steps) - 1)
            return end
        if end is End.IN_FLIGHT or outcome.reason is Reason.TIMEOUT:
            self._note_death(rested, watched)
        return end or End.ERROR

    def _note_idle_end(self, end: End, rested: float, watched: _Watched) -> End:
        self._note_death(rested, watched)
        return End.IDLE_TIMEOUT if end is End.CLOSED else end

    def _note_death(self, rested: float, watched: _Watched) -> None:
        """Take a death into account; one that came too early by what is known may be a reload, and needs others.

        A timeout strikes at the same age each time, and nobody else does; but who never lives as long as before is
        believed in the end.
        """
        lived, died = watched.idle.lived, watched.idle.died
        watched.foreseen = died is not None and rested >= died - _blur(died)
        alike = any(abs(rested - doubt) <= _blur(rested) for doubt in watched.doubts[-1:])
        watched.doubts = (*watched.doubts, rested)[-_DOUBTS:]
        if rested < lived and not alike and len(watched.doubts) < _DOUBTS:
            return
        watched.doubts = ()
        below = [step for step in self._steps if step < rested]
        watched.idle = Idle(min(lived, below[-1] if below else 0.0), rested)
        watched.position = max(0, len(below) - 1)

    async def _see_off(self, backend: Address, held: Held, end: End | None, watched: _Watched) -> None:
        """Tell how a backend that left parted; one that said nothing is asked, since it may be gone in silence."""
        if end is None:
            outcome, end, _ = await held.ask(self._target.timeout)
            if not (isinstance(outcome, Failure) or held.said_goodbye):
                self._part(backend, End.OWN_LIMIT, Farewell.ALIVE, watched)
                return
        self._part(backend, end or End.ERROR, Farewell.DRAINED if held.said_goodbye else Farewell.DROPPED, watched)

    async def _rest_or_leave(self, held: Held, seconds: float, watched: _Watched) -> End | None:
        """Rest; once the backend has left, only for so long as a parting may take."""
        async with asyncio.TaskGroup() as group:
            resting = group.create_task(held.rest(seconds))
            leaving = group.create_task(watched.left.wait())
            await asyncio.wait({resting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not resting.done():
                await asyncio.wait({resting}, timeout=min(seconds, _PARTING))
            resting.cancel()
            leaving.cancel()
        return None if resting.cancelled() else resting.result()

    def _note(self, backend: Address, end: End, watched: _Watched, *, announced: bool) -> None:
        if end in _ENDS_BY_PEER and not watched.foreseen:
            watched.ended = (self._clock(), announced)
        self._remember(HeldEnd(backend, end))

    def _part(self, backend: Address, end: End, farewell: Farewell, watched: _Watched) -> None:
        watched.ended = None
        self._remember(HeldEnd(backend, end, farewell))

    def _remember(self, end: HeldEnd) -> None:
        if len(self._ends) < _MOST_ENDS:
            self._ends.append(end)


def _blur(age: float) -> float:
    """Return the seconds by which ages of death may differ that one timeout explains."""
    return max(1.0, age / 10)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
