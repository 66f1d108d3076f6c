"""The plan of a round: who is asked, in what order, with whose ticket.

For each backend and version a full handshake and the ticket that it issued in the round before, as an adjacent pair
whose order alternates from round to round; then each backend's new ticket to its neighbour in the ring. What was
refused is asked again, at home and in the ring, so that one lost probe proves nothing and a mend shows at once. Beside
them go tickets kept back until they are old, tickets of backends that are gone, and now and then a stray one, so that a
balancer's stride does not fall in with ours.
"""

import asyncio
import itertools
from collections.abc import Sequence
from functools import partial

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Mode, Observation, Offer, Origin
from exporter.model.target import Address, Target, TlsVersion
from exporter.probe.asides import Asides
from exporter.probe.dial import Dialled
from exporter.probe.errand import PLAIN, Errand
from exporter.probe.kept import Kept
from exporter.probe.means import Means
from exporter.probe.memory import Home, Memory
from exporter.probe.spread import spread
from exporter.verdict.hints import mixed, questions, single_use_likely
from exporter.verdict.history import Pair

_WITNESSES = 3
_STRAYS = 0.125
_STRAYS_ALONE = 0.5
_HOME_SHARE = 0.5  # of the interval, after which the ring begins without those who still hang
_HUNG_SHARE = 0.9
_OFFERS_FAULT = frozenset(
    {Stage.HANDSHAKE, Stage.HTTP}
)  # stages in which an offered ticket can have killed a connection


class Round:
    """One pass over the backends of a target.

    Attributes:
        observations: what was seen so far, in order.
        starved: failures that were put down to our own starvation and tried again.
        asides: what was asked beside the handshakes.
    """

    def __init__(self, target: Target, backends: tuple[Address, ...], memory: Memory, means: Means) -> None:
        self.observations: list[Observation] = []
        self.starved: list[tuple[Address, Failure]] = []
        self._target = target
        self._memory = memory
        self._means = means
        self._window = memory.take_window(backends, target.probe.sample)
        self.asides = Asides(target, self._window, memory, means)
        self._closed = len(self._window) == len(backends)
        self._extra = target.probe.max_extra_connections
        self._reached: set[Address] = set()
        self._fresh: dict[Home, list[Kept]] = {}
        self._refused_at_home: set[Home] = set()
        self._down: dict[Address, Failure] = {}
        self._pairs = itertools.count()
        self._began = means.monotonic()

    async def run(self) -> None:
        """Probe the backends at home, then round the ring; who hangs at home does not hold up the others' ring."""
        waiting = [backend for backend in self._memory.unreached if backend in self._window]
        order = [*waiting, *(backend for backend in self._window if backend not in waiting)]
        async with asyncio.TaskGroup() as group:
            visits = group.create_task(spread(partial(self._visit, backend) for backend in order))
            await asyncio.wait({visits}, timeout=self._target.interval * _HOME_SHARE)
            for version in self._target.versions:
                alive = [backend for backend in self._window if (backend, version) in self._fresh]
                await self._go_round(version, alive)
                await self._ask_for_departed(version, alive)

    def unreached(self) -> tuple[Address, ...]:
        """Return the backends whose turn did not come, or was cut short."""
        return tuple(backend for backend in self._window if backend not in self._reached)

    async def _visit(self, backend: Address) -> None:
        """Probe one backend at home in every version."""
        for version in self._target.versions:
            if self._memory.skips((backend, version)):
                continue
            failure = await self._visit_version((backend, version))
            if failure is not None and self._tells_all(failure):
                self._give_up(backend, failure)
                break
        self._reached.add(backend)
        spoken = [version for version in self._target.versions if (backend, version) in self._fresh]
        if spoken:
            await self.asides.visit((backend, max(spoken)), self._spend)

    def _tells_all(self, failure: Failure) -> bool:
        """Say whether a failure stands for all versions: TCP knows of none, or the round has no time for another."""
        late = failure.reason is Reason.TIMEOUT and self._left() < self._target.timeout
        return failure.stage is Stage.CONNECT or late

    def _left(self) -> float:
        """Return the seconds to the round's end."""
        return self._target.interval - (self._means.monotonic() - self._began)

    def _give_up(self, backend: Address, failure: Failure) -> None:
        """Lay a failure to the versions that were not tried yet."""
        tried = {seen.version for seen in self.observations if seen.backend == backend}
        for version in self._target.versions:
            if version not in tried:
                self.observations.append(Observation(backend, version, None, failure))

    async def _visit_version(self, home: Home) -> Failure | None:
        """Make the pair of a full and a resumed handshake, and what follows from it; return why the full one failed."""
        pair = next(self._pairs)
        kept = self._memory.kept(home, self._means.monotonic())
        renewed = None
        if kept is not None and self._memory.visits.get(home[0], 0) % 2 and not self._in_doubt(home[0]):
            errand = Errand(http=self.asides.asks_resumed(home))
            renewed = await self._offer(kept, home, Origin.SELF, pair, errand)
            if _unconnected(renewed):
                self._retell_as_full(home)
                return renewed.failure
            if home[0] in self._down:
                return self._down[home[0]]
        settled = kept is not None and renewed is None
        errand = self.asides.errand(home, keep=self._wanted(home), settled=settled, left=self._left())
        full = await self._dial_full(home, errand, pair)
        if full.failure is not None:
            return full.failure
        await self.asides.compare_requests(home, full, self._dial_full, self._spend)
        fresh = self._keep(home, full)
        if kept is not None and renewed is None:
            renewed = await self._offer(kept, home, Origin.SELF, pair)
        if fresh and _mode(renewed) is not Mode.RESUMED:
            await self._ask_for_new(home, fresh, pair)
        if kept is not None and _mode(renewed) is Mode.REFUSED and not mixed(self._memory.history, *home):
            await self._call_witnesses(home, kept)
        await self._offer_more(home, kept)
        self._fresh[home] = fresh
        # An offer whose answer was lost is made again in the next round, lest a key's end go unseen.
        if renewed is None or renewed.failure is None:
            self._memory.keep(home, fresh, plant=self._target.probe.survival)
        return None

    def _in_doubt(self, backend: Address) -> bool:
        """Say whether a backend may be down, so that a full handshake has to show first that it is not."""
        return backend in self._memory.failing or backend in self._down

    def _retell_as_full(self, home: Home) -> None:
        """Note the last connection as one for a full handshake: it failed before any ticket could go out."""
        last = self.observations.pop()
        self.observations.append(Observation(*home, None, last.outcome))

    async def _ask_for_new(self, home: Home, fresh: Sequence[Kept], pair: int) -> None:
        """Offer this round's own tickets at home, since an older one was not accepted.

        A server may know but the last of those that it gave on one connection (stunnel with its cache).
        """
        modes = set()
        for kept in dict.fromkeys((fresh[0], fresh[-1])):
            modes.add(_mode(await self._offer(kept, home, Origin.SELF, pair)))
            if Mode.REFUSED not in modes or Mode.RESUMED in modes:
                break
        if modes == {Mode.REFUSED}:
            self._refused_at_home.add(home)

    async def _call_witnesses(self, home: Home, kept: Kept) -> None:
        """Offer an older ticket, and then the refused one some more times, until one is accepted.

        Several keys behind one address accept old tickets now and then, a key that is gone never does. The older ticket
        may be of another key than the refused one, which no further offer of the same could show.
        """
        spare = self._memory.spare(home, self._means.monotonic())
        if spare is not None and self._spend() and _mode(await self._offer(spare, home, Origin.AGED)) is Mode.RESUMED:
            return
        for _ in range(_WITNESSES):
            if not self._spend() or _mode(await self._offer(kept, home, Origin.SELF)) is Mode.RESUMED:
                break

    async def _offer_more(self, home: Home, kept: Kept | None) -> None:
        """Offer a ticket that has come to its age, or else now and then a stray one."""
        now = self._means.monotonic()
        canary = self._memory.take_canary(home, now)
        if canary is not None:
            await self._offer(canary, home, Origin.AGED)
        elif kept is not None and kept.lives(now) and self._means.chance() < self._stray_share():
            await self._offer(kept, home, Origin.SELF)

    def _stray_share(self) -> float:
        return _STRAYS_ALONE if len(self._window) == 1 else _STRAYS

    def _spend(self) -> bool:
        """Take one of the round's extra connections; False when there is none left."""
        self._extra -= 1
        return self._extra >= 0

    async def _go_round(self, version: TlsVersion, alive: Sequence[Address]) -> None:
        """Offer each ticket to the next backend in the ring, and ask again where that was refused."""
        if len(alive) < 2:
            return
        asked: set[Pair] = set()
        refused: list[Pair] = []

        async def ask(pair: Pair) -> None:
            asked.add(pair)
            if await self._cross(pair, version) is Mode.REFUSED:
                refused.append(pair)

        ring = [*alive, alive[0]] if self._closed else alive
        await spread(partial(ask, pair) for pair in itertools.pairwise(ring))
        again = questions(self._memory.history, version, alive, frozenset(asked), tuple(refused))
        await spread(partial(ask, pair) for pair in itertools.takewhile(lambda _: self._spend(), again))

    async def _cross(self, pair: Pair, version: TlsVersion) -> Mode | None:
        """Offer the issuer's freshest ticket to another backend; one that was refused at home would prove nothing."""
        issuer, acceptor = pair
        sessions = self._fresh.get((issuer, version), [])
        if not sessions or (issuer, version) in self._refused_at_home:
            return None
        return _mode(await self._offer(sessions[-1], (acceptor, version), Origin.PEER))

    async def _ask_for_departed(self, version: TlsVersion, alive: Sequence[Address]) -> None:
        """Offer the tickets of backends that are gone until a present one accepts them: clients still hold such."""
        for kept in self._memory.departed(version, self._means.monotonic()):
            turn = self._memory.rounds % max(1, len(alive))
            modes = []
            for acceptor in [*alive[turn:], *alive[:turn]]:
                if not self._spend():
                    return
                modes.append(_mode(await self._offer(kept, (acceptor, version), Origin.DEPARTED)))
                if modes[-1] is Mode.RESUMED:
                    break
            if self._closed and modes and all(mode is Mode.REFUSED for mode in modes):
                self._memory.bury(kept, version)

    def _wanted(self, home: Home) -> int:
        """Return how many sessions of a full handshake there is a use for."""
        return 2 if single_use_likely(self._memory.history, *home) else 1

    async def _dial_full(self, home: Home, errand: Errand, pair: int | None = None) -> Dialled:
        began = self._means.monotonic()
        try:
            dialled = await self._means.dial(self._target, *home, errand=errand)
        except asyncio.CancelledError:
            # The round is over, and a server that was waited for as long as it may take has failed, not we.
            if self._means.monotonic() - began >= _HUNG_SHARE * self._target.timeout:
                hung = Failure(Stage.HANDSHAKE, Reason.TIMEOUT, "at the end of the round")
                self._give_up(home[0], hung)
                self._reached.add(home[0])
            raise
        self._note(home, None, dialled, pair)
        return dialled

    async def _offer(
        self, kept: Kept, home: Home, origin: Origin, pair: int | None = None, errand: Errand = PLAIN
    ) -> Dialled:
        """Offer a session. Where the connection breaks, one without it is tried, and then the session once more.

        Only a session that broke two connections, between which one without it worked, is said to kill them.
        """
        dialled, offer = await self._dial_offer(kept, home, origin, errand)
        self._note(home, offer, dialled, pair)
        if not _broke(dialled):
            return dialled
        without = await self._dial_full(home, Errand(http=self._target.http.enabled, keep=self._wanted(home)))
        if without.failure is not None:
            self._down[home[0]] = without.failure
            return dialled
        again, offer = await self._dial_offer(kept, home, origin, errand)
        self._note(home, offer, again, pair, confirmed=_broke(again))
        return again

    async def _dial_offer(self, kept: Kept, home: Home, origin: Origin, errand: Errand) -> tuple[Dialled, Offer]:
        kept.offered += 1
        age = self._means.monotonic() - kept.received
        offer = Offer(kept.issuer, origin, age, kept.session.ticket, fresh=kept.received >= self._began)
        return await self._means.dial(self._target, *home, kept.session, errand), offer

    def _keep(self, home: Home, dialled: Dialled) -> list[Kept]:
        now = self._means.monotonic()
        return [Kept(session, home[0], now) for session in dialled.sessions]

    def _note(
        self, home: Home, offer: Offer | None, dialled: Dialled, pair: int | None, *, confirmed: bool = False
    ) -> None:
        backend, version = home
        self.observations.append(Observation(backend, version, offer, dialled.outcome, pair, confirmed))
        self.starved += [(backend, failure) for failure in dialled.starved]


def _mode(dialled: Dialled | None) -> Mode | None:
    return dialled.outcome.mode if dialled is not None and isinstance(dialled.outcome, Handshake) else None


def _unconnected(dialled: Dialled) -> bool:
    return dialled.failure is not None and dialled.failure.stage is Stage.CONNECT


def _broke(dialled: Dialled) -> bool:
    return dialled.failure is not None and dialled.failure.stage in _OFFERS_FAULT
