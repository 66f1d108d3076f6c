"""Finding what is sustained, against servers whose limit is known because they are arithmetic."""

import struct
from collections.abc import Callable, Sequence

import pytest

from exporter.cli.capacity_table import render_end
from exporter.load.capacity import Capacity, Plan, measure_closed, measure_open
from exporter.load.document import to_document
from exporter.load.orders import Order, Scouted, Site, Tally
from exporter.load.requirement import judge, parse_requirement
from exporter.load.search import Ladder, Rates, Search, Timed
from exporter.load.step import Step, Strain, strain, sum_up
from exporter.model.observation import Mode
from tests.load.simulated import delaying, refusing

PLAN = Plan(seconds=3.0, most_rate=1e6)
Server = Callable[[float], Callable[[Order], Sequence[Tally]]]


def unheard(_step: Step, _why: Strain | None) -> None:
    """Tell nobody."""


@pytest.mark.parametrize("admitted", [37.0, 250.0, 5000.0])
@pytest.mark.parametrize("server", [refusing, delaying])
def test_limit_is_found(server: Server, admitted: float) -> None:
    """The highest rate that is sustained is the server's own, within 5 %, whether it refuses or delays."""
    found = measure_open(server(admitted), Mode.FULL, Search(100.0, 1e6, 0.02), PLAN, unheard)

    assert found.rate == pytest.approx(admitted, rel=0.05)
    assert not found.generator_bound


def far(order: Order) -> list[Tally]:
    """Answer all that comes, a fifth of a second later."""
    due = round(order.rate * order.seconds)
    return [Tally(due=due, done=due, handshakes=times(0.2) * due, lateness=times(0.0) * due, wall=order.seconds)]


def test_a_far_server() -> None:
    """A path that takes long by itself is no sign of strain."""
    found = measure_open(far, Mode.FULL, Ladder((50.0, 100.0)), PLAN, unheard)

    assert [why for _, why in found.steps] == [None, None]
    assert found.rate == pytest.approx(100.0, rel=0.01)


def test_half_of_them_fail() -> None:
    """A closed loop of which many fail sustains nothing, so that it meets no pass line."""
    tally = Tally(due=200, done=100, handshakes=times(0.01) * 100, failures={"handshake: closed": 100})
    found = measure_closed(lambda _: [tally], Mode.FULL, 4, Plan(seconds=1.0, most_rate=1e6), unheard)

    assert found.steps[0][1] is Strain.ERRORS
    assert not judge(parse_requirement("full>=10"), [found]).met


def test_search_does_not_exceed_its_bound() -> None:
    """Where a server sustains all that is allowed, that is what was found, and nothing above was tried."""
    found = measure_open(refusing(1e5), Mode.FULL, Search(100.0, 1000.0, 0.02), PLAN, unheard)

    assert found.rate == pytest.approx(1000.0, rel=0.01)
    assert max(step.offered for step, _ in found.steps) == pytest.approx(1000.0, rel=0.01)


def test_ladder_ends_at_the_first_that_is_not_sustained() -> None:
    """Given steps are run in order, the one that failed once more, and none behind it."""
    told: list[tuple[float, Strain | None]] = []
    found = measure_open(
        refusing(250.0),
        Mode.FULL,
        Ladder((100.0, 200.0, 400.0, 800.0)),
        PLAN,
        lambda step, why: told.append((round(step.offered), why)),
    )

    assert told == [(100, None), (200, None), (400, Strain.ERRORS), (400, Strain.ERRORS)]
    assert found.rate == pytest.approx(200.0, rel=0.01)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        pytest.param(Ladder((100.0, 200.0)), True, id="all given ones are sustained"),
        pytest.param(Ladder((100.0, 200.0, 400.0)), False, id="the last is not"),
        pytest.param(Search(100.0, 150.0, 0.02), True, id="the bound is sustained"),
        pytest.param(Search(100.0, 1e6, 0.02), False, id="the limit is found"),
    ],
)
def test_highest_that_was_tried(rates: Rates, expected: bool) -> None:
    """Where no rate was too high, what was found is one that the server sustains at least, and no ceiling."""
    found = measure_open(refusing(250.0), Mode.FULL, rates, PLAN, unheard)
    outcome = judge(parse_requirement("full>=9999"), [found])
    printed = "\n".join(render_end([found], [outcome], unresumable=False))

    assert expected is found.highest_tried
    assert expected is ("full: at least " in printed)
    assert expected is (", the highest rate that was tried.\n" in printed)
    assert expected is (" a second, the highest rate that was tried" in printed.splitlines()[-1])
    (mode,) = to_document(Site("127.0.0.1", 443, "a"), Scouted(), [found], [])["modes"].values()
    assert expected is mode["highest_tried"]


def test_search_ends_at_its_least() -> None:
    """Where next to nothing is sustained, no rate is tried of which too few connections would be due."""
    found = measure_open(refusing(0.01), Mode.FULL, Search(100.0, 1e6, 0.02, least=10.0), PLAN, unheard)

    assert min(step.offered for step, _ in found.steps) == pytest.approx(12.5, rel=0.05)


def test_nothing_is_sustained() -> None:
    """A server that takes nobody has no ceiling, and no pass line is met."""
    found = measure_open(refusing(0.01), Mode.FULL, Search(100.0, 1e6, 0.02), PLAN, unheard)

    assert found.rate is None
    assert not judge(parse_requirement("full>=1"), [found]).met
    assert not judge(parse_requirement("p99<=10s"), [found]).met


def test_no_step_begins_when_time_is_up() -> None:
    """A bound on the whole time is kept between steps."""
    moments = iter([0.0, 9.0, 10.0])
    rates = Timed(Ladder((1.0, 2.0, 3.0)), lambda: next(moments), until=10.0)

    assert [rates.next_rate() for _ in range(3)] == [1.0, 2.0, None]


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        pytest.param(Tally(due=100, done=100), None, id="all well"),
        pytest.param(Tally(due=100, done=98, failures={"connect: timeout": 2}), Strain.ERRORS, id="2 % failed"),
        pytest.param(Tally(due=100, done=99, failures={"connect: timeout": 1}), None, id="1 % failed"),
        pytest.param(Tally(due=100, done=94), Strain.BACKLOG, id="a backlog grows"),
        pytest.param(Tally(due=100, done=99, unstarted=1), Strain.GENERATOR, id="one could not begin"),
    ],
)
def test_strain(tally: Tally, expected: Strain | None) -> None:
    """What moved is named."""
    tally.handshakes = times(0.01)
    assert expected is strain(summed(tally), None, None)


@pytest.mark.parametrize(
    ("p99", "calm", "limit", "expected"),
    [
        pytest.param(0.049, None, None, None, id="below what is ever slow"),
        pytest.param(0.051, None, None, Strain.LATENCY, id="above it, and nothing calmer is known"),
        pytest.param(0.051, 0.02, None, None, id="not much above what was seen before"),
        pytest.param(0.11, 0.02, None, Strain.LATENCY, id="far above it"),
        pytest.param(0.011, 0.01, 0.01, Strain.LATENCY, id="above what is asked for"),
    ],
)
def test_slowness(p99: float, calm: float | None, limit: float | None, expected: Strain | None) -> None:
    """A p99 is compared with what is asked for, or else with what it was at lower rates."""
    assert expected is strain(summed(Tally(due=1, done=1, handshakes=times(p99))), calm, limit)


@pytest.mark.parametrize(
    ("processor", "run_delay", "late", "expected"),
    [
        pytest.param(0.84, 0.0, 0.0, False, id="time to spare"),
        pytest.param(0.86, 0.0, 0.0, True, id="busy"),
        pytest.param(0.46, 0.5, 0.0, True, id="busy whenever it was let"),
        pytest.param(0.1, 0.0, 0.021, True, id="late"),
    ],
)
def test_generator_bound(processor: float, run_delay: float, late: float, expected: bool) -> None:
    """A generator at over 85 % of what it could have had, or one that begins late, has measured itself."""
    tally = Tally(due=1, done=1, processor=processor, run_delay=run_delay, wall=1.0, lateness=times(late))

    assert expected is summed(tally).generator_bound


def test_busiest_worker_counts() -> None:
    """One worker without time to spare is enough."""
    idle, busy = Tally(due=1, done=1, processor=0.1, wall=1.0), Tally(due=1, done=1, processor=0.9, wall=1.0)

    assert sum_up(ORDER, [idle, busy]).generator_bound


def test_only_resumed_ones_count_as_resumed() -> None:
    """Where a server resumes half of what it is offered, its rate of resumed handshakes is half of what it did."""
    tally = Tally(due=100, done=100, resumed=50, handshakes=times(0.01))
    found = measure_closed(lambda _: [tally], Mode.RESUMED, 4, Plan(seconds=1.0, most_rate=1e6), unheard)

    assert found.rate == 50.0
    assert found.best is not None
    assert not found.best.resumption_held
    (mode,) = to_document(Site("127.0.0.1", 443, "a"), Scouted(), [found], [])["modes"].values()
    assert (50.0, False) == (mode["ceiling_per_second"], mode["resumption_held"])


@pytest.mark.parametrize(
    ("text", "met"),
    [
        pytest.param("full>=100", True, id="just"),
        pytest.param("full>=100.1", False, id="just not"),
        pytest.param("resumed>=1", False, id="not measured"),
        pytest.param("p99<=10ms", True, id="quick enough"),
        pytest.param("p99 <= 0.009s", False, id="not quick enough"),
        pytest.param("p50<=1s", True, id="another quantile"),
    ],
)
def test_requirements(text: str, met: bool) -> None:
    """A pass line is met or missed by what was found."""
    step = summed(Tally(due=100, done=100, handshakes=times(0.01)))

    assert met is judge(parse_requirement(text), [Capacity(Mode.FULL, ((step, None),), step)]).met


@pytest.mark.parametrize(
    "text", ["", "fast", "full>8000", "full<=8000", "p99>=5ms", "p99<=5", "full>=5ms", "full>=0", "full>=-1", "p98<=1s"]
)
def test_senseless_requirements(text: str) -> None:
    """What is no pass line is refused."""
    with pytest.raises(ValueError, match="is no pass line"):
        parse_requirement(text)


ORDER = Order(mode=Mode.FULL, begin=0.0, seconds=1.0, rate=100.0)


def summed(tally: Tally) -> Step:
    """Return a second of an open loop."""
    return sum_up(ORDER, [tally])


def times(seconds: float) -> bytes:
    """Return one time, as it is sent."""
    return struct.pack("d", seconds)
