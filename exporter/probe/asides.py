"""What a round asks beside its handshakes, each at its own slow pace, so that no round costs much more than another."""

from collections.abc import Awaitable, Callable, Sequence
from zlib import crc32

from exporter.model.connections import HelloCheck, HelloSplit, RequestPair, Staple
from exporter.model.failure import Failure, Stage
from exporter.model.observation import Handshake
from exporter.model.target import Address, Target
from exporter.probe.dial import Dialled
from exporter.probe.errand import Errand
from exporter.probe.means import Means
from exporter.probe.memory import Home, Memory

_SELDOM = 20
"""Rounds from one larger body, or hello in two parts, to the next at the same backend."""
_CUTS = {3: HelloSplit.SEGMENTS, 13: HelloSplit.RECORDS}
_STAPLE_LIFE = 600.0
"""Seconds for which a stapled answer is not asked for again: servers renew theirs every few hours."""
_STAPLE_REST = 120.0
"""Seconds for which nobody is asked again who did not go through with the handshake: it may hang each time."""

Spend = Callable[[], bool]
"""Takes one of the round's extra connections; False when there is none left."""
DialFull = Callable[[Home, Errand], Awaitable[Dialled]]
"""A full handshake that counts as one of the round's."""


class Asides:
    """Whose turn it is in a round for what, and what came of it.

    Attributes:
        request_pairs: a request that opened a connection beside one that did not.
        hello_checks: of this round.
    """

    def __init__(self, target: Target, window: Sequence[Address], memory: Memory, means: Means) -> None:
        self.request_pairs: list[RequestPair] = []
        self.hello_checks: list[HelloCheck] = []
        self._target = target
        self._memory = memory
        self._means = means
        self._round = memory.rounds
        self._places = {backend: place for place, backend in enumerate(window)}

    def errand(self, home: Home, *, keep: int, settled: bool, left: float) -> Errand:
        """Return what the round's full handshake is made for.

        Args:
            keep: how many sessions are wanted.
            settled: whether a resumed handshake is yet to follow, beside which this one's time will stand: requests in
                between would warm up both ends for it.
            left: seconds to the round's end; further requests take half of them at most, so that a server that answers
                slowly does not keep the round from its handshakes.
        """
        http = self._target.http
        if not http.enabled or settled or not self._has_turn(home):
            return Errand(http=http.enabled, keep=keep)
        large = http.large_path is not None and self._rota(home[0]) < 2
        return Errand(http=True, keep=keep, requests=self._target.probe.requests, large=large, within=left / 2)

    def asks_resumed(self, home: Home) -> bool:
        """Say whether the same request goes over the resumed connection."""
        return self._target.http.enabled and self._target.probe.requests > 1 and self._has_turn(home)

    async def compare_requests(self, home: Home, dialled: Dialled, dial_full: DialFull, spend: Spend) -> None:
        """Set the request that opened a connection beside one that did not, the order alternating from pair to pair.

        One backend has its turn in every fourth round, since every second pair takes a handshake more.

        Args:
            dialled: the full handshake with its requests.
            spend: takes one of the round's extra connections.
        """
        turn, rest = divmod(self._round // 2, 2)
        if rest or self._places[home[0]] != turn % len(self._places) or not isinstance(dialled.outcome, Handshake):
            return
        reuse = dialled.outcome.reuse
        if reuse is None or not reuse.answers:
            return
        new, reused = dialled, reuse.answers[0]
        if turn % 2:
            if not spend():
                return
            new, reused = await dial_full(home, Errand(http=True)), reuse.answers[-1]
        seconds = _opening_time(new)
        if seconds is not None and not reused.disturbed:
            self.request_pairs.append(RequestPair(seconds, reused.duration))

    async def visit(self, home: Home, spend: Spend) -> None:
        """Ask what has its turn at a backend with which a handshake just worked."""
        await self._ask_staple(home)
        how = _CUTS.get(self._rota(home[0]))
        if how is not None and self._target.probe.hello_splits and spend():
            await self._check_hello(home, how, spend)

    def _has_turn(self, home: Home) -> bool:
        """Say whether a version has its turn for requests: they tell of the server and not of the version.

        It is every second visit's, since the full handshake comes last in those.
        """
        spoken = [version for version in self._target.versions if not self._memory.skips((home[0], version))]
        visits = self._memory.visits.get(home[0], 0)
        if visits and not visits % 2:
            return False
        return home[1] is spoken[(visits + 1) // 2 % len(spoken)] if spoken else False

    def _rota(self, backend: Address) -> int:
        """Return a backend's place in the long turn: its own visits count, and neighbours stand at different places."""
        return (self._memory.visits.get(backend, 0) + crc32(str(backend).encode())) % _SELDOM

    async def _ask_staple(self, home: Home) -> None:
        backend, version = home
        if self._means.ask_staple is None or not self._target.probe.staple:
            return
        now = self._means.monotonic()
        known = self._memory.staples.get(backend)
        failed = self._memory.unstapled.get(backend)
        if known is not None and now - known[0] < _STAPLE_LIFE:
            return
        if failed is not None and now - failed < _STAPLE_REST:
            return
        self._memory.unstapled[backend] = now  # from the start, since the round's end may cut the handshake short
        staple = await self._means.ask_staple(self._target, backend, version)
        if isinstance(staple, Staple):
            self._memory.staples[backend] = (now, staple)
            del self._memory.unstapled[backend]

    async def _check_hello(self, home: Home, how: HelloSplit, spend: Spend) -> None:
        """Send a hello in two parts; only one that fails twice, while whole ones are taken, was not taken."""
        failure = await self._send_cut(home, how)
        if failure is not None and spend():
            whole = await self._means.dial(self._target, *home)
            if whole.failure is not None or not spend():
                return
            failure = await self._send_cut(home, how)
        if failure is None or failure.stage is Stage.HANDSHAKE:
            self.hello_checks.append(HelloCheck(home[0], how, failure))

    async def _send_cut(self, home: Home, how: HelloSplit) -> Failure | None:
        return (await self._means.dial(self._target, *home, errand=Errand(cut=how))).failure


def _opening_time(dialled: Dialled) -> float | None:
    """Return the seconds that a request took which opened its connection: connect, handshake and the request itself."""
    if not isinstance(dialled.outcome, Handshake):
        return None
    timing, answer = dialled.outcome.timing, dialled.outcome.http
    if answer is None or isinstance(answer, Failure) or timing.connect is None:
        return None
    if timing.disturbed or timing.duration_bound or answer.disturbed:
        return None
    return timing.connect + timing.duration + answer.duration
