"""Both formats against the encoders of prometheus_client: the same families, and less time."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.core import Metric

from exporter.metrics.assembly import assemble
from exporter.metrics.families import FAMILIES, TABLE
from exporter.metrics.family import SECONDS_BUCKETS, Family
from exporter.metrics.formats import write_openmetrics, write_text
from exporter.metrics.histogram import Histogram
from exporter.metrics.ledger import Ledger
from exporter.metrics.lines import Lines, write_lines, write_rows
from exporter.metrics.reading import Reading
from exporter.metrics.row import Row, check
from tests.metrics.cost import THEIRS, fleet, measure
from tests.metrics.parsed import OPENMETRICS, TEXT, expose, families
from tests.metrics.rounds import A, full, round_of, target
from tests.metrics.scenes import SCENES, collector

OURS: Mapping[str, Callable[[Sequence[Lines]], Iterator[bytes]]] = {TEXT: write_text, OPENMETRICS: write_openmetrics}


class Fixed:
    """A collector of rows that are given."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def collect(self) -> Sequence[Metric]:
        """Make families of them."""
        return list(assemble(self._rows))


def both(rows: Sequence[Row], accept: str) -> tuple[Sequence[Metric], Sequence[Metric]]:
    """Parse the families of their encoder and of ours."""
    theirs = THEIRS[accept](Fixed(rows)).decode()
    return families(theirs, accept), families(ours(rows, accept), accept)


def ours(rows: Sequence[Row], accept: str) -> str:
    """Write rows as we do."""
    return b"".join(OURS[accept]([write_rows(rows)])).decode()


@pytest.mark.parametrize("accept", THEIRS)
@pytest.mark.parametrize("scene", SCENES)
def test_scenes_read_alike(scene: str, accept: str) -> None:
    """Each family has the name, type, help, unit, series and values that prometheus_client gives it, in its order."""
    rows = [row for shown in SCENES[scene]() for row in shown.read()]

    expected, found = both(rows, accept)

    assert len(expected) > 1
    assert expected == found


@pytest.mark.parametrize("accept", THEIRS)
@given(text=st.text(st.characters(), max_size=300), value=st.floats(allow_nan=False))
@settings(deadline=None)
def test_any_label_and_value_reads_alike(accept: str, text: str, value: float) -> None:
    """Neither braces, quotes and line breaks in a label nor the size of a number make a difference."""
    histogram = Histogram(SECONDS_BUCKETS)
    histogram.observe(abs(value))
    rows = check(
        [
            Reading("ticket_oldest_accepted_seconds", (text, text, text), value),
            Reading("target_info", (text,), value, (("aa", text), ("zz", text))),
            Reading("rounds_total", (text,), abs(value)),
            Reading("http_request_duration_seconds", (text, text), histogram.freeze()),
        ]
    )

    expected, found = both(rows, accept)

    assert expected == found


@pytest.mark.parametrize("accept", THEIRS)
def test_no_number_at_all(accept: str) -> None:
    """A value that is not a number is written as the formats want it."""
    rows = check([Reading("rtt_seconds", ("shop", "x"), float("nan"))])

    assert 'tlsprobe_rtt_seconds{backend="x",target="shop"} NaN\n' in ours(rows, accept)


def test_families_stand_together() -> None:
    """Series of one family from several parts are not parted by those of others."""
    ledgers = [Ledger(), Ledger()]
    for number, ledger in enumerate(ledgers):
        ledger.fold(round_of(target(f"shop {number}"), (A,), [full()]))

    text = expose([collector(ledger) for ledger in ledgers])

    heads = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads)) == len(families(text))


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        pytest.param(Reading("rtt_seconds", ("shop",), 1), "1 label values for 2 labels", id="a label is missing"),
        pytest.param(Reading("rounds_total", ("shop",), Histogram((1.0,)).freeze()), "counter", id="no single number"),
        pytest.param(Reading("starvation_seconds", (), Histogram((1.0,)).freeze()), "bounds", id="other buckets"),
        pytest.param(Reading("starvation_seconds", (), 1), "histogram", id="no distribution"),
        pytest.param(Reading("target_info", ("shop",), 1, (("target", "x"),)), "label", id="a label twice"),
        pytest.param(Reading("target_info", ("shop",), 1, (("__x", "x"),)), "label", id="a name that is not allowed"),
    ],
)
def test_what_cannot_be_written_is_an_error_beforehand(reading: Reading, message: str) -> None:
    """Such a reading costs its own part, for any registry and in our own text, and never the whole exposition."""
    for take in (check, write_lines):
        with pytest.raises(ValueError, match=message):
            take([reading])


@pytest.mark.parametrize("family", TABLE, ids=lambda family: family.name)
def test_help_is_written_as_it_is(family: Family) -> None:
    """No help holds what a format would have to escape."""
    assert family.help.isprintable()
    assert not set(family.help) & set('\\"')
    assert family is FAMILIES[family.name]


@pytest.mark.parametrize("accept", THEIRS)
def test_a_scrape_costs_less_than_half(accept: str) -> None:
    """From the ledger to the bytes, ours takes less than half the CPU time of prometheus_client's encoder."""
    cost = measure(fleet(20), accept)

    assert cost.series > 10_000
    assert cost.ours < cost.theirs / 2
