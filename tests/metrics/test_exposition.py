"""How expositions are asked for, and what becomes of texts and faults that would break them."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.metrics.collector import LedgerCollector
from exporter.metrics.exposition import prefers_openmetrics, render
from exporter.metrics.faults import Faults
from exporter.metrics.labels import LONGEST, legible
from exporter.metrics.ledger import Ledger
from exporter.metrics.lines import Lines
from exporter.metrics.own import OwnCollector, Reload, Sources, this_build
from tests.metrics.parsed import OPENMETRICS, TEXT, expose, families, series
from tests.metrics.rounds import A, full, round_of, target
from tests.metrics.scenes import BUILD, Unheard, collector

PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
PROMETHEUS_2 = "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
PROTOBUF_FIRST = (
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,*/*;q=0.2"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        pytest.param("", False, id="nothing asked"),
        pytest.param("*/*", False, id="curl"),
        pytest.param("text/html,application/xhtml+xml,*/*;q=0.8", False, id="a browser"),
        pytest.param(PROMETHEUS_3, True, id="Prometheus 3"),
        pytest.param(PROMETHEUS_2, False, id="an OpenMetrics that is too old"),
        pytest.param(PROTOBUF_FIRST, False, id="only protobuf and anything"),
        pytest.param("application/openmetrics-text", True, id="any version"),
        pytest.param('Application/OpenMetrics-Text; Version="1.0.0"', True, id="quoted, in capitals"),
        pytest.param("application/openmetrics-text;version=2.0.0", False, id="a version that is not written"),
        pytest.param("application/openmetrics-text;q=0", False, id="refused"),
        pytest.param("application/openmetrics-text;q=0.2,text/plain;q=0.9", False, id="text is liked better"),
        pytest.param("application/openmetrics-text;q=nan", False, id="a weight that is no number"),
        pytest.param(";;,=,q=,application/openmetrics-text;q=x;;", False, id="garbage"),
    ],
)
def test_negotiation(accept: str, expected: bool) -> None:
    """OpenMetrics is for those who ask for the version that is written, and rank it no lower than text."""
    assert expected is prefers_openmetrics(accept)


@pytest.mark.parametrize(
    ("accept", "content_type", "end"),
    [
        pytest.param("*/*", "text/plain; version=0.0.4; charset=utf-8", b"} 1.0\n", id="text"),
        pytest.param(
            PROMETHEUS_3, "application/openmetrics-text; version=1.0.0; charset=utf-8", b"# EOF\n", id="OpenMetrics"
        ),
    ],
)
def test_content_type(accept: str, content_type: str, end: bytes) -> None:
    """The content type is the one of the format that was written."""
    ledger = Ledger()
    ledger.admit(target())

    body, named = render([collector(ledger)], accept, Faults(Unheard()))

    assert (content_type, end) == (named, body[-len(end) :])


HOSTILE = [
    pytest.param('quote" back\\slash', id="quotes"),
    pytest.param("line\nfeed\r\n\x85\u2028tlsprobe_success 1", id="line breaks"),
    pytest.param("} 1\n# EOF\n# TYPE x counter", id="the format itself"),
    pytest.param("\x00\x1b[31m\x7f", id="control characters"),
    pytest.param("lone \udc80 surrogate \ud800", id="invalid Unicode"),
    pytest.param("ünïcödé 🔑", id="valid Unicode"),
    pytest.param("x" * 100_000, id="long"),
    pytest.param("\udc80" * 1000, id="long and invalid"),
    pytest.param("", id="empty"),
]


@pytest.mark.parametrize("accept", [TEXT, OPENMETRICS])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_labels(text: str, accept: str) -> None:
    """Whatever a name or an owner's label holds, the exposition parses back to it and to nothing more."""
    ledger = Ledger()
    ledger.fold(round_of(target(text, labels=(("team", text),)), (A,), [full()]))

    found = series(families(expose([collector(ledger)], accept), accept))

    assert {legible(text)} == {dict(labels)["target"] for _, labels in found}
    assert ("tlsprobe_target_info", frozenset({("target", legible(text)), ("team", legible(text))})) in found


@given(st.text(st.characters(), max_size=2 * LONGEST))
@settings(deadline=None)
def test_any_text_can_be_made_legible(text: str) -> None:
    """The legible form of a text can be encoded, is short enough, and is legible itself."""
    shown = legible(text)

    assert shown.encode().decode() == shown == legible(shown)
    assert len(shown) <= LONGEST


@given(st.text(st.characters(), max_size=2 * LONGEST))
@settings(max_examples=30, deadline=None)
def test_any_text_is_a_label(text: str) -> None:
    """Any text at all survives both formats as its legible form."""
    ledger = Ledger()
    ledger.admit(target(text, versions=()))

    parsed = [series(families(expose([collector(ledger)], accept), accept)) for accept in (TEXT, OPENMETRICS)]

    assert parsed[0] == parsed[1]
    assert {legible(text)} == {dict(labels)["target"] for _, labels in parsed[0]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("shop", "shop", id="plain"),
        pytest.param("é" * LONGEST, "é" * LONGEST, id="just short enough"),
        pytest.param("a\udcffb", "a\\udcffb", id="a surrogate"),
    ],
)
def test_legible(text: str, expected: str) -> None:
    """What can be written is left alone, and what cannot is spelt out."""
    assert expected == legible(text)


def test_long_texts_stay_apart() -> None:
    """Two long texts with the same beginning are two labels still."""
    one, two = legible("x" * 1000 + "1"), legible("x" * 1000 + "2")

    assert one != two
    assert (LONGEST, LONGEST) == (len(one), len(two))


def test_a_fault_in_one_target_costs_only_its_own_series() -> None:
    """A label that no format can write leaves its target out, whole, and is counted and told."""
    ledger, unheard = Ledger(), Unheard()
    faults = Faults(unheard)
    ledger.fold(round_of(target("good"), (A,), [full()]))
    ledger.fold(round_of(target("bad", labels=(("no label", "x"),)), (A,), [full()]))
    ledger.fold(round_of(target("fine"), (A,), [full()]))

    body, _ = render([LedgerCollector(ledger, faults)], TEXT, faults)

    assert {"good", "fine"} == {dict(labels)["target"] for _, labels in series(families(body.decode()))}
    assert (1, ["target bad"]) == (faults.count, [part for part, _ in unheard.faults])


class Broken:
    """A part that fails."""

    def lines(self) -> Iterable[Lines]:
        """Fail."""
        raise OSError("no answer")


def test_a_part_that_fails_is_left_out() -> None:
    """The others are shown, and the fault is told."""
    ledger, unheard = Ledger(), Unheard()
    ledger.admit(target())

    body, _ = render([Broken(), collector(ledger)], OPENMETRICS, Faults(unheard))

    assert b"tlsprobe_rounds_total" in body
    assert ["Broken"] == [part for part, _ in unheard.faults]


def _fail() -> bool | None:
    raise OSError("no answer")


def test_a_source_that_fails_costs_its_own_family() -> None:
    """The rest about the exporter is shown, with the fault counted."""
    unheard = Unheard()
    faults = Faults(unheard)
    ledger = Ledger()
    sources = Sources(
        starvation=ledger.starvation,
        timing_source=ledger.timing_source,
        reload=lambda: Reload(successful=True, succeeded_at=None),
        reference_ok=_fail,
    )

    found = series(families(expose([OwnCollector(this_build(), sources, faults)])))

    assert 1 == found["tlsprobe_exposition_faults_total", frozenset()]
    assert 1 == found["tlsprobe_config_last_reload_successful", frozenset()]
    assert {"tlsprobe_reference_ok", "tlsprobe_timing_source_info"}.isdisjoint(name for name, _ in found)


def test_nothing_to_say_is_absent() -> None:
    """Without a configuration, a reference and a handshake, their families are absent."""
    ledger = Ledger()
    sources = Sources(
        starvation=ledger.starvation,
        timing_source=ledger.timing_source,
        reload=lambda: None,
        reference_ok=lambda: None,
    )

    names = {metric.name for metric in OwnCollector(BUILD, sources, Faults(Unheard())).collect()}

    assert {"tlsprobe_build_info", "tlsprobe_starvation_seconds", "tlsprobe_exposition_faults"} == names
