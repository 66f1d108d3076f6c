"""Rounds played with a simulated fleet, over time."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from exporter.model.failure import Reason
from exporter.model.target import Address
from exporter.model.verdicts import BackendState, Cause, Mechanism, OfferOutcome, TargetState
from exporter.verdict.judge import judge
from tests.verdict.fleet import NOW, TLS12, TLS13, Key, Prober, Server, address, named

A, B = named("A"), named("B")
ONE, TWO, THREE, FOUR = (address(number) for number in (1, 2, 3, 4))


def fleet(*servers: Server) -> dict[Address, Server]:
    """Give the servers addresses in order."""
    return {address(number): server for number, server in enumerate(servers, 1)}


def shared(count: int, key: Key = A) -> dict[Address, Server]:
    """Make a fleet that shares one key."""
    return fleet(*(Server([key]) for _ in range(count)))


def lossy(share: float) -> Callable[[Random], bool]:
    """Lose this share of the dials."""
    return lambda random: random.random() < share


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 32])
@pytest.mark.parametrize("key", [A, Key("hidden")], ids=["named", "hidden"])
def test_a_shared_key_is_never_anything_but_consistent(count: int, key: Key) -> None:
    """Thirty rounds over a fleet of equals raise no alarm, whatever its size, in both versions."""
    prober = Prober(shared(count, key))

    for _ in range(30):
        judgement = prober.round()

        for verdict in judgement.verdicts.values():
            assert verdict.state is TargetState.CONSISTENT
            assert (verdict.judged, verdict.groups, verdict.odd) == (count, 1, ())
            assert {found.key_group for found in verdict.backends.values()} == {1}
        assert judgement.failures == ()


@pytest.mark.parametrize("count", [3, 5, 32])
@pytest.mark.parametrize("keys", [(A, B), (Key("a"), Key("b"))], ids=["named", "hidden"])
@pytest.mark.parametrize("version", [TLS12, TLS13])
def test_one_other_key_splits_the_fleet_at_once_and_its_mend_shows_at_once(
    count: int, keys: tuple[Key, Key], version: str
) -> None:
    """A backend with a key of its own is named in the first round, and forgiven one round after it is mended."""
    prober = Prober(shared(count, keys[0]))
    prober.fleet[TWO].keys = [keys[1]]

    for _ in range(4):
        verdict = prober.round().verdicts[TLS13 if version == TLS13 else TLS12]
        assert (verdict.state, verdict.odd, verdict.groups) == (TargetState.SPLIT, (TWO,), 2)
        assert verdict.backends[TWO].key_group != verdict.backends[ONE].key_group
        assert verdict.backends[TWO].state is BackendState.RESUMES
    prober.fleet[TWO].keys = [keys[0]]

    for _ in range(4):
        mended = prober.round().verdicts[TLS13 if version == TLS13 else TLS12]
        assert (mended.state, mended.odd) == (TargetState.CONSISTENT, ())


def test_two_backends_that_differ_are_split_without_a_culprit() -> None:
    """Of two that refuse each other, neither is the odd one."""
    verdict = Prober(fleet(Server([A]), Server([B]))).verdict()

    assert (verdict.state, verdict.odd, verdict.groups) == (TargetState.SPLIT, (), 2)
    assert {crossing.cause for crossing in verdict.crossings if crossing.issuer != crossing.acceptor} == {Cause.KEY}


@pytest.mark.parametrize("order", [[A, A, B, B], [A, B, A, B]], ids=["blocks", "alternating"])
def test_half_a_fleet_is_two_groups(order: Sequence[Key]) -> None:
    """Two halves with a key each are two groups, and neither half is named as odd."""
    verdict = Prober(fleet(*(Server([key]) for key in order))).verdict()

    assert (verdict.state, verdict.groups, verdict.odd) == (TargetState.SPLIT, 2, ())


def test_alternating_hidden_keys_leave_the_number_of_groups_open() -> None:
    """Nobody offered a ticket from the first to the third, so it is not claimed that their keys differ."""
    a, b = Key("a"), Key("b")

    verdict = Prober(fleet(*(Server([key]) for key in (a, b, a, b)))).verdict()

    assert (verdict.state, verdict.groups) == (TargetState.SPLIT, None)


@pytest.mark.parametrize("keys", [(A, B), (Key("a"), Key("b"))], ids=["named", "hidden"])
def test_a_key_that_others_have_not_learnt_is_one_way(keys: tuple[Key, Key]) -> None:
    """A backend that encrypts with a new key and still takes the old one is named as the one not understood."""
    old, new = keys
    prober = Prober(fleet(Server([old]), Server([new, old]), Server([old]), Server([old])))

    for _ in range(5):
        verdict = prober.verdict()
        assert (verdict.state, verdict.odd, verdict.groups) == (TargetState.ONE_WAY, (TWO,), 2)


def test_a_backend_that_missed_the_new_key_is_one_way() -> None:
    """Where most have the new key, the one that has not learnt it is the odd one."""
    verdict = Prober(fleet(Server([B, A]), Server([B, A]), Server([A]), Server([B, A]))).verdict()

    assert (verdict.state, verdict.odd) == (TargetState.ONE_WAY, (THREE,))


@pytest.mark.parametrize("count", [2, 5])
def test_a_rotation_in_two_passes_is_never_worse_than_rotating(count: int) -> None:
    """The new key is taught everywhere before anyone encrypts with it, so no ticket is ever refused."""
    prober = Prober(shared(count))

    for step in ([A, B], [B, A], [B]):
        for server in prober.fleet.values():
            server.keys = list(step)
            judgement = prober.round()
            for verdict in judgement.verdicts.values():
                assert verdict.state in {TargetState.CONSISTENT, TargetState.ROTATING}
                refused = [c for c in verdict.crossings if c.outcome is OfferOutcome.REFUSED]
                assert refused == [] or step == [B]


def test_a_rotation_all_at_once_is_consistent_again_at_once() -> None:
    """When all keys are replaced together, kept tickets die, yet fresh ones are good everywhere."""
    prober = Prober(shared(3))
    for key in (A, B, named("C"), named("D")):
        for server in prober.fleet.values():
            server.keys = [key]
        for version, verdict in prober.round().verdicts.items():
            assert verdict.state is TargetState.CONSISTENT, version
            assert {found.state for found in verdict.backends.values()} == {BackendState.RESUMES}


def test_the_number_of_a_group_follows_its_key() -> None:
    """Keys are numbered in order of first sight, and one that comes back has its old number again."""
    prober = Prober(shared(2))
    numbers = []
    for key in (A, A, B, B, A, A):
        for server in prober.fleet.values():
            server.keys = [key]
        numbers.append(prober.verdict().backends[ONE].key_group)

    assert numbers == [1, 1, 2, 2, 1, 1]


def test_a_backend_that_is_down_is_its_own_matter() -> None:
    """A refused connection is a failure of that backend and no refusal of a ticket; the others stay consistent."""
    prober = Prober(shared(3))
    prober.fleet[TWO].up = False

    for _ in range(5):
        judgement = prober.round()
        for verdict in judgement.verdicts.values():
            assert (verdict.state, verdict.judged, verdict.odd) == (TargetState.CONSISTENT, 2, ())
            assert verdict.backends[TWO].state is BackendState.FAILED
            assert verdict.backends[TWO].failure is not None
        assert {backend for backend, _ in judgement.failures} == {TWO}


def test_a_flapping_backend_raises_no_other_alarm() -> None:
    """A backend that comes and goes is failed and resumes in turn, and the fleet stays consistent."""
    prober = Prober(shared(3))
    states = []
    for turn in range(8):
        prober.fleet[THREE].up = turn % 2 == 0
        verdict = prober.verdict()
        assert verdict.state is TargetState.CONSISTENT
        states.append(verdict.backends[THREE].state)

    assert states == [BackendState.RESUMES, BackendState.FAILED] * 4


def test_a_version_that_nobody_speaks_is_a_fact() -> None:
    """A fleet of TLS 1.3 alone has no failures, and its version 1.2 is reported as not spoken."""
    prober = Prober(fleet(*(Server([A], versions=(TLS13,)) for _ in range(2))))

    for _ in range(12):
        judgement = prober.round()
        assert judgement.failures == ()
        assert judgement.supported == {(b, v): v is TLS13 for b in (ONE, TWO) for v in (TLS12, TLS13)}
        assert {found.state for found in judgement.verdicts[TLS12].backends.values()} == {BackendState.NOT_SPOKEN}
        assert judgement.verdicts[TLS12].state is TargetState.UNKNOWN
        assert judgement.verdicts[TLS13].state is TargetState.CONSISTENT


@pytest.mark.parametrize("version", [TLS12, TLS13])
@pytest.mark.parametrize("tickets", [1, 2])
def test_state_kept_by_each_backend_is_no_split(version: str, tickets: int) -> None:
    """Sessions that each backend keeps itself resume at home, and the ring's refusals do not read as keys."""
    prober = Prober(fleet(*(Server(store=set(), tickets=tickets) for _ in range(3))))

    for _ in range(6):
        verdict = prober.round().verdicts[TLS13 if version == TLS13 else TLS12]
        assert (verdict.state, verdict.groups) == (TargetState.STATEFUL, None)
        assert {found.state for found in verdict.backends.values()} == {BackendState.STATEFUL}
        assert {found.mechanism for found in verdict.backends.values()} == {Mechanism.STATEFUL}


def test_state_kept_in_common_is_consistent() -> None:
    """Backends that share their session store accept each other's sessions."""
    store: set[int] = set()
    prober = Prober(fleet(*(Server(store=store) for _ in range(3))))

    for _ in range(6):
        for verdict in prober.round().verdicts.values():
            assert verdict.state is TargetState.CONSISTENT


def test_tickets_for_one_use_are_no_contradiction() -> None:
    """A store that gives each session up once it was resumed is stateful, and never mixed."""
    prober = Prober(fleet(*(Server(store=set(), single_use=True) for _ in range(2))))

    for _ in range(8):
        for verdict in prober.round().verdicts.values():
            assert verdict.state is TargetState.STATEFUL


@pytest.mark.parametrize(
    ("server", "old", "new"),
    [
        pytest.param(lambda: Server(ids=True), TargetState.NO_TICKETS, TargetState.BROKEN, id="ids of nothing"),
        pytest.param(Server, TargetState.NO_TICKETS, TargetState.NO_TICKETS, id="nothing"),
    ],
)
def test_tickets_off_without_a_cache(server: Callable[[], Server], old: TargetState, new: TargetState) -> None:
    """Servers that accept nothing are broken if they issue TLS 1.3 tickets all the same."""
    prober = Prober(fleet(server(), server(), server()))

    for _ in range(5):
        judgement = prober.round()
        assert judgement.verdicts[TLS12].state is old
        assert judgement.verdicts[TLS13].state is new


def test_some_that_resume_and_some_that_do_not_are_uneven() -> None:
    """A backend with tickets off among others that resume is named."""
    prober = Prober(fleet(Server([A]), Server(ids=True), Server([A])))

    for _ in range(5):
        for verdict in prober.round().verdicts.values():
            assert (verdict.state, verdict.odd) == (TargetState.UNEVEN, (TWO,))


def test_tickets_beside_state_are_split() -> None:
    """A backend that keeps its sessions itself does not share the others' key, although all resume at home."""
    prober = Prober(fleet(Server([A]), Server([A]), Server(store=set())))

    for _ in range(5):
        for verdict in prober.round().verdicts.values():
            assert (verdict.state, verdict.odd) == (TargetState.SPLIT, (THREE,))


def test_a_certificate_that_differs_is_the_cause() -> None:
    """Where sessions are bound to the certificate, one that differs splits the fleet, and the key is not to blame."""
    prober = Prober(fleet(*(Server([A], bound=True, leaf=b"new" if n == 2 else b"old") for n in range(4))))

    for _ in range(4):
        verdict = prober.verdict()
        causes = {c.cause for c in verdict.crossings if c.outcome is OfferOutcome.REFUSED}
        assert (verdict.state, verdict.odd) == (TargetState.SPLIT, (THREE,))
    assert causes == {Cause.CERTIFICATE}


@pytest.mark.parametrize("count", [1, 2])
def test_an_alert_on_each_ticket_kills(count: int) -> None:
    """A server that answers foreign and own tickets by a fatal alert is told in the first round, and not `failed`."""
    servers = [Server(ids=True, kills=Reason.ALERT_INTERNAL_ERROR) for _ in range(count)]
    prober = Prober(fleet(*servers))

    for _ in range(4):
        verdict = prober.verdict()
        assert {found.state for found in verdict.backends.values()} == {BackendState.KILLS}
        assert verdict.state is TargetState.BROKEN


def test_a_reset_on_each_ticket_kills_after_a_third() -> None:
    """A reset may be chance, so it takes three in a row to lay it to the ticket."""
    prober = Prober(fleet(Server(ids=True, kills=Reason.RESET)))

    states = [prober.verdict().backends[ONE].state for _ in range(5)]

    assert states == [BackendState.UNKNOWN] + [BackendState.KILLS] * 4


def test_a_restart_between_two_connections_is_no_refusal() -> None:
    """What was proven good is unsaid only by two rounds in a row."""
    prober = Prober(shared(2))
    prober.round()
    for server in prober.fleet.values():
        server.keys, server.ids = [], True

    first, second = prober.verdict(), prober.verdict()

    assert (first.state, second.state) == (TargetState.CONSISTENT, TargetState.BROKEN)


@pytest.mark.parametrize("count", [2, 5, 16])
@pytest.mark.parametrize("share", [0.1, 0.4])
@pytest.mark.parametrize("key", [A, Key("hidden")], ids=["named", "hidden"])
def test_lost_probes_raise_no_false_alarm(count: int, share: float, key: Key) -> None:
    """Losing dials on the way leaves a healthy fleet consistent or unknown, never split and never refusing."""
    prober = Prober(shared(count, key), seed=count, loss=lossy(share))

    for _ in range(60):
        for verdict in prober.round().verdicts.values():
            assert verdict.state in {TargetState.CONSISTENT, TargetState.UNKNOWN}


def test_a_split_outlives_lost_probes() -> None:
    """With a tenth of the dials lost, an odd backend is still found and stays found."""
    prober = Prober(shared(6), seed=5, loss=lossy(0.1))
    prober.fleet[FOUR].keys = [B]

    states = [prober.verdict().state for _ in range(40)]

    assert TargetState.SPLIT in states[:3]
    assert states.count(TargetState.SPLIT) > 30


def test_a_state_fades_when_nothing_is_seen_of_it() -> None:
    """An offer that is lost is no refusal: the last state holds for three rounds, and then it is not known."""
    prober = Prober(shared(2))
    prober.round()
    backends = tuple(prober.fleet)
    history = prober.history
    states = []
    for _ in range(5):
        judgement = judge(prober.target, backends, (), history, now=NOW)
        history = judgement.history
        states.append(judgement.verdicts[TLS13].state)

    assert states == [TargetState.CONSISTENT] * 3 + [TargetState.UNKNOWN] * 2


def test_a_backend_that_left_is_forgotten() -> None:
    """Nothing is remembered of an address that the name no longer stands for."""
    prober = Prober(shared(3))
    prober.fleet[THREE].keys = [B]
    assert prober.verdict().state is TargetState.SPLIT
    del prober.fleet[THREE]

    verdict = prober.verdict()

    assert (verdict.state, set(verdict.backends)) == (TargetState.CONSISTENT, {ONE, TWO})
    for remembered in prober.history.versions.values():
        assert THREE not in remembered.backends
        assert all(THREE not in pair for pair in remembered.standing)


def test_several_keys_behind_one_address_are_mixed() -> None:
    """An address that a balancer spreads over servers with keys of their own is never said to refuse its tickets."""
    prober = Prober(fleet(Server([A])))
    server, random = prober.fleet[ONE], Random(3)  # noqa: S311 - a simulation must repeat itself
    server.behind = lambda: random.choice([[A], [B]])

    states = [prober.verdict().state for _ in range(30)]

    assert set(states) <= {TargetState.UNKNOWN, TargetState.CONSISTENT, TargetState.MIXED}
    assert states.count(TargetState.MIXED) > 10
