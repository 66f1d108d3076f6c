"""Expositions as wholes: against files that people read, the parsers of scrapers, and the linter of Prometheus."""

import shutil
import subprocess
from collections.abc import Mapping

import pytest
from prometheus_client.core import Metric

from exporter.metrics.families import TABLE
from exporter.metrics.family import Family, Kind
from tests.metrics.parsed import OPENMETRICS, TEXT, expose, families, series
from tests.metrics.scenes import SCENES
from tests.metrics.write_golden import FORMATS, GOLDEN

PROMTOOL = shutil.which("promtool")
BY_FULL_NAME: Mapping[str, Family] = {family.full_name: family for family in TABLE}


def full_name(metric: Metric) -> str:
    """Return a family's name as the table has it; parsers take the end off a counter's."""
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("scene", SCENES)
def test_golden(scene: str, ending: str) -> None:
    """Every scene reads as its file does, byte for byte."""
    expected = (GOLDEN / f"{scene}.{ending}").read_text()

    assert expected == expose(SCENES[scene](), FORMATS[ending])


@pytest.mark.parametrize("scene", SCENES)
def test_formats_agree(scene: str) -> None:
    """Both formats hold the same series with the same values."""
    text = series(families(expose(SCENES[scene](), TEXT)))
    openmetrics = series(families(expose(SCENES[scene](), OPENMETRICS), OPENMETRICS))

    assert text == openmetrics


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.skipif(PROMTOOL is None, reason="promtool, from Debian's package prometheus, is not installed")
def test_promtool_has_no_complaint(scene: str) -> None:
    """The linter of Prometheus says nothing at all."""
    assert PROMTOOL is not None

    done = subprocess.run(
        [PROMTOOL, "check", "metrics"],
        input=expose(SCENES[scene]()),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("scene", SCENES)
def test_families_are_as_the_table_says(scene: str) -> None:
    """What is exposed has a row in the table, with its type, help, unit and labels."""
    for metric in families(expose(SCENES[scene](), OPENMETRICS), OPENMETRICS):
        family = BY_FULL_NAME[full_name(metric)]
        assert (family.kind, family.help, family.unit) == (metric.type, metric.documentation, metric.unit)
        for sample in metric.samples:
            buckets = {"le"} if sample.name.endswith("_bucket") else set()
            owner = set(sample.labels) - set(family.labels) - buckets
            assert set(family.labels) | buckets <= set(sample.labels)
            assert not owner or family.owner_labels


def test_every_family_is_exposed() -> None:
    """No row of the table is a promise only."""
    exposed = {full_name(metric) for scene in SCENES.values() for metric in families(expose(scene()))}

    assert set(BY_FULL_NAME) == exposed


def test_no_created_series() -> None:
    """Series that tell when a counter began would double the small families."""
    endings = {name for scene in SCENES.values() for name, _ in series(families(expose(scene()))) if "_created" in name}

    assert set() == endings


@pytest.mark.parametrize("secret", ["secret of a ticket", "key's own name", "key name", "CN=", "nobody listens"])
def test_nothing_secret_or_unbounded_is_exposed(secret: str) -> None:
    """No ticket, key name, subject or error text is part of an exposition."""
    assert all(secret not in expose(scene()) for scene in SCENES.values())


@pytest.mark.parametrize("family", TABLE, ids=lambda family: family.name)
def test_names_follow_their_type(family: Family) -> None:
    """Counters end in `_total` and nothing else does."""
    assert (family.kind is Kind.COUNTER) == family.name.endswith("_total")
