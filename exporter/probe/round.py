"""The plan of a round: who is asked, in what order, with whose ticket.

For each backend and version a full handshake and its ticket back home, as an adjacent pair whose order alternates from
round to round; then each backend's ticket to its neighbour in the ring. What a neighbour refused is asked once more and
the other way round, and what stood refused before is asked again, so that a mended fleet shows at once.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial

from exporter.model.failure import Failure, Stage
from exporter.model.observation import Handshake, Mode, Observation, Offer, Origin
from exporter.model.target import Address, Target, TlsVersion
from exporter.probe.dial import Dial, Dialled
from exporter.probe.memory import Home, Kept, Memory
from exporter.probe.spread import spread
from exporter.verdict.hints import standing_refusals
from exporter.verdict.history import Pair

_OFFERS_FAULT = frozenset(
    {Stage.HANDSHAKE, Stage.HTTP}
)  # stages in which an offered ticket can have killed a connection


class Round:
    """One pass over the backends of a target.

    Attributes:
        observations: what was seen so far, in order.
        starved: failures that were put down to our own starvation and tried again.
    """

    def __init__(
        self,
        target: Target,
        backends: tuple[Address, ...],
        memory: Memory,
        dial: Dial,
        monotonic: Callable[[], float],
    ) -> None:
        self.observations: list[Observation] = []
        self.starved: list[tuple[Address, Failure]] = []
        self._target = target
        self._ring = backends
        self._memory = memory
        self._dial = dial
        self._monotonic = monotonic
        self._reached: set[Address] = set()
        self._fresh: dict[Home, list[Kept]] = {}
        self._refused_at_home: set[Home] = set()
        self._pairs = itertools.count()

    async def run(self) -> None:
        """Probe all backends at home, then round the ring."""
        waiting = [backend for backend in self._memory.unreached if backend in self._ring]
        order = [*waiting, *(backend for backend in self._ring if backend not in waiting)]
        await spread(partial(self._visit, backend) for backend in order)
        extra = self._target.probe.max_extra_connections
        for version in self._target.versions:
            extra -= await self._go_round(version, extra)

    def unreached(self) -> tuple[Address, ...]:
        """Return the backends whose turn did not come, or was cut short."""
        return tuple(backend for backend in self._ring if backend not in self._reached)

    async def _visit(self, backend: Address) -> None:
        """Probe one backend at home in every version."""
        for version in self._target.versions:
            if self._memory.skips((backend, version)):
                continue
            failure = await self._visit_version((backend, version))
            if failure is not None and failure.stage is Stage.CONNECT:
                self._give_up(backend, failure)
                break
        self._reached.add(backend)

    def _give_up(self, backend: Address, failure: Failure) -> None:
        """Lay a failure to connect to the versions that were not tried yet: TCP does not know of them."""
        tried = {seen.version for seen in self.observations if seen.backend == backend}
        for version in self._target.versions:
            if version not in tried:
                self.observations.append(Observation(backend, version, None, failure))

    async def _visit_version(self, home: Home) -> Failure | None:
        """Make the pair of a full and a resumed handshake; return why the full one failed, if it did."""
        pair = next(self._pairs)
        kept = self._memory.kept(home) if self._memory.rounds % 2 else None
        renewed = await self._offer(kept, home, Origin.SELF, pair) if kept else None
        full = await self._dial_full(home, pair)
        if isinstance(full.outcome, Failure):
            return full.outcome
        fresh = self._keep(home, full)
        if fresh and _mode(renewed) is not Mode.RESUMED:
            renewed = await self._offer(fresh[0], home, Origin.SELF, pair)
        self._fresh[home] = fresh
        if _mode(renewed) is Mode.REFUSED:
            self._refused_at_home.add(home)
        self._memory.keep(home, [*(self._keep(home, renewed) if renewed else ()), *fresh])
        return None

    async def _go_round(self, version: TlsVersion, extra: int) -> int:
        """Offer each ticket to the next backend in the ring, and ask again where that was refused.

        Returns:
            How many of the `extra` connections were used.
        """
        alive = [backend for backend in self._ring if (backend, version) in self._fresh]
        if len(alive) < 2:
            return 0
        asked: set[Pair] = set()
        refused: list[Pair] = []

        async def ask(pair: Pair) -> None:
            asked.add(pair)
            if await self._cross(pair, version) is Mode.REFUSED:
                refused.append(pair)

        await spread(partial(ask, pair) for pair in itertools.pairwise([*alive, alive[0]]))
        again = list(_questions(refused, asked, standing_refusals(self._memory.history, version, alive)))[:extra]
        await spread(partial(ask, pair) for pair in again)
        return len(again)

    async def _cross(self, pair: Pair, version: TlsVersion) -> Mode | None:
        """Offer the issuer's freshest ticket to another backend; one that was refused at home would prove nothing."""
        issuer, acceptor = pair
        sessions = self._fresh.get((issuer, version), [])
        if not sessions or (issuer, version) in self._refused_at_home:
            return None
        return _mode(await self._offer(sessions[-1], (acceptor, version), Origin.PEER))

    async def _dial_full(self, home: Home, pair: int | None) -> Dialled:
        dialled = await self._dial(self._target, *home, http=self._target.http.enabled)
        self._note(home, None, dialled, pair)
        return dialled

    async def _offer(self, kept: Kept, home: Home, origin: Origin, pair: int | None = None) -> Dialled:
        """Offer a session. A connection that breaks is tried again, and then without the session.

        Only a session that broke two connections, between which one without it worked, is said to kill them.
        """
        dialled, offer = await self._dial_offer(kept, home, origin)
        self._note(home, offer, dialled, pair)
        if not _broke(dialled):
            return dialled
        again, offer = await self._dial_offer(kept, home, origin)
        confirmed = False
        if _broke(again):
            without = await self._dial_full(home, None)
            confirmed = isinstance(without.outcome, Handshake)
        self._note(home, offer, again, pair, confirmed=confirmed)
        return again

    async def _dial_offer(self, kept: Kept, home: Home, origin: Origin) -> tuple[Dialled, Offer]:
        kept.offered += 1
        offer = Offer(kept.issuer, origin, self._monotonic() - kept.received, kept.session.ticket)
        return await self._dial(self._target, *home, kept.session), offer

    def _keep(self, home: Home, dialled: Dialled) -> list[Kept]:
        now = self._monotonic()
        return [Kept(session, home[0], now) for session in dialled.sessions]

    def _note(
        self, home: Home, offer: Offer | None, dialled: Dialled, pair: int | None, *, confirmed: bool = False
    ) -> None:
        backend, version = home
        self.observations.append(Observation(backend, version, offer, dialled.outcome, pair, confirmed))
        self.starved += [(backend, failure) for failure in dialled.starved]


def _mode(dialled: Dialled | None) -> Mode | None:
    return dialled.outcome.mode if dialled is not None and isinstance(dialled.outcome, Handshake) else None


def _broke(dialled: Dialled) -> bool:
    return isinstance(dialled.outcome, Failure) and dialled.outcome.stage in _OFFERS_FAULT


def _questions(refused: list[Pair], asked: set[Pair], standing: tuple[Pair, ...]) -> Iterator[Pair]:
    """Yield what to ask again: first what was refused just now, then its reverse, then what stood refused before."""
    seen = set(asked)
    yield from refused
    for pair in (*((acceptor, issuer) for issuer, acceptor in refused), *standing):
        if pair not in seen:
            seen.add(pair)
            yield pair
