"""What holds for every fleet and every round."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Observation
from exporter.model.verdicts import BackendState, TargetState
from exporter.verdict.judge import judge
from tests.verdict.fleet import NOW, Key, Prober, Server, address, named

KEYS = (named("A"), named("B"), Key("c"), Key("d"))
ALARMS = {
    TargetState.SPLIT,
    TargetState.ONE_WAY,
    TargetState.BROKEN,
    TargetState.UNEVEN,
    TargetState.MIXED,
    TargetState.NO_TICKETS,
}


def build(kind: str, store: set[int]) -> Server:
    """Build a server of a kind: keys by their letters, the first encrypts; or how it keeps its state."""
    kinds = {
        "own": Server(store=set()),
        "shared": Server(store=store),
        "refuses": Server(ids=True),
        "none": Server(),
        "down": Server(up=False),
    }
    return kinds.get(kind) or Server([KEYS["ABcd".index(letter)] for letter in kind])


KINDS = st.sampled_from(
    ["A", "A", "A", "AB", "BA", "B", "c", "c", "d", "dc", "own", "shared", "refuses", "none", "down"]
)
FLEETS = st.lists(KINDS, min_size=1, max_size=6)


def prober(kinds: Sequence[str], seed: int = 0) -> Prober:
    """Put up a fleet of these kinds."""
    store: set[int] = set()
    return Prober({address(number): build(kind, store) for number, kind in enumerate(kinds, 1)}, seed)


@settings(max_examples=60, deadline=None)
@given(kinds=FLEETS, rounds=st.integers(1, 4), shuffled=st.permutations(range(6)))
def test_the_order_of_the_backends_does_not_matter(kinds: list[str], rounds: int, shuffled: list[int]) -> None:
    """Addresses come from DNS in any order, and each backend's dials may interleave with others' in any way."""
    fleet = prober(kinds)
    for _ in range(rounds - 1):
        fleet.round()
    before = fleet.history
    plain = fleet.round()
    places = sorted(fleet.fleet)
    order = [places[index] for index in shuffled if index < len(places)]
    regrouped = sorted(fleet.observations, key=lambda seen: order.index(seen.backend))

    turned = judge(fleet.target, tuple(order), regrouped, before, now=fleet.now)

    for version, verdict in plain.verdicts.items():
        other = turned.verdicts[version]
        assert (verdict.state, verdict.odd, verdict.groups, verdict.judged) == (
            other.state,
            other.odd,
            other.groups,
            other.judged,
        )
        assert verdict.backends == other.backends
    assert plain.supported == turned.supported


@settings(max_examples=80, deadline=None)
@given(kinds=FLEETS, rounds=st.integers(1, 4), data=st.data())
def test_lost_probes_never_bring_an_alarm(kinds: list[str], rounds: int, data: st.DataObject) -> None:
    """Whatever dials of a round are lost, a fleet without an alarm has none, and no backend is said to refuse."""
    fleet = prober(kinds)
    for _ in range(rounds - 1):
        fleet.round()
    before = fleet.history
    plain = fleet.round()
    lost = data.draw(st.sets(st.integers(0, max(0, len(fleet.observations) - 1))))
    stage = data.draw(st.sampled_from([Stage.CONNECT, Stage.HANDSHAKE]))

    left = [lose(seen, stage) if index in lost else seen for index, seen in enumerate(fleet.observations)]
    lossy = judge(fleet.target, tuple(fleet.fleet), left, before, now=NOW)

    for version, verdict in plain.verdicts.items():
        if verdict.state not in ALARMS:
            assert lossy.verdicts[version].state not in ALARMS
        for backend, found in verdict.backends.items():
            if found.state is not BackendState.REFUSES:
                assert lossy.verdicts[version].backends[backend].state is not BackendState.REFUSES


def lose(seen: Observation, stage: Stage) -> Observation:
    """Lose a dial on the way."""
    return replace(seen, outcome=Failure(stage, Reason.TIMEOUT), confirmed=False)


@settings(max_examples=40, deadline=None)
@given(kinds=FLEETS, rounds=st.integers(1, 5))
def test_a_fleet_that_does_not_change_is_judged_alike(kinds: list[str], rounds: int) -> None:
    """What is true in the first round is true in the next ones, and a fleet that is mended shows so at once."""
    fleet = prober(kinds)
    first = {version: verdict.state for version, verdict in fleet.round().verdicts.items()}
    # Some key names come to light with the second full handshake, and the odd backends with them.
    second = {version: (verdict.state, verdict.odd) for version, verdict in fleet.round().verdicts.items()}
    assert {version: state for version, (state, _) in second.items()} == first
    for _ in range(rounds):
        again = {version: (verdict.state, verdict.odd) for version, verdict in fleet.round().verdicts.items()}
        assert again == second

    for place in fleet.fleet:
        fleet.fleet[place] = Server([KEYS[0]])
    for verdict in fleet.round().verdicts.values():
        assert (verdict.state, verdict.odd) == (TargetState.CONSISTENT, ())
