"""The prober tells the path's share of a handshake from the server's and from its own, starved or not."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from exporter.model.observation import TimingSource
from exporter.model.target import TlsVersion
from tests.link.link import SERVER, Link, why_not
from tests.link.measurement import Measurement, Probers, measure, median, probe, serve, starve
from tests.servers.certificates import Authority, Leaf

MISSING = why_not()
pytestmark = [pytest.mark.skipif(bool(MISSING), reason=MISSING), pytest.mark.servers("nginx")]

PLAIN, RETRYING = 8443, 8444  # ports of a namespace that is ours alone
DELAY = 0.020
ROUND_TRIP = 2 * DELAY
SERVER_ERROR = 0.0003
OWN_WORK = 0.05
"""Round trips by which our own processor time may move: after a long wait it is more, since caches are cold."""
STARVED = 0.001

Load = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def probers(tmp_path_factory: pytest.TempPathFactory, authority: Authority, leaf: Leaf) -> Iterator[Probers]:
    """Probers on both sides of one link, and two servers on its far side, one of which wants a group of its own."""
    folder = tmp_path_factory.mktemp("link")
    with (
        Link(DELAY) as link,
        serve(link, PLAIN, folder / "plain", leaf),
        serve(link, RETRYING, folder / "retrying", leaf, "ssl_ecdh_curve secp521r1;"),
        probe(link, authority.file) as running,
    ):
        yield running


def check_common(measurement: Measurement, trips: int) -> None:
    """See that the path's share is the link's delay, the server's is what the link saw, and no time is above wall."""
    timings = [visit.timing for visit in measurement.far]
    everywhere = [*timings, *(sample.timing for sample in measurement.near)]
    assert {TimingSource.KERNEL} == {timing.source for timing in everywhere}
    assert min(timing.wall - timing.duration for timing in everywhere) >= 0.0
    assert 0.0 < median(timing.rtt for timing in timings) - ROUND_TRIP < 0.0005
    truth = [sum(visit.times[:trips]) for visit in measurement.far]
    errors = [timing.server - took for timing, took in zip(timings, truth, strict=True) if timing.server is not None]
    assert len(timings) == len(errors)
    assert abs(median(errors)) < SERVER_ERROR


def round_trips(measurement: Measurement) -> float:
    """Return by how many round trips of the path a handshake is longer than without it."""
    far = median(visit.timing.duration for visit in measurement.far)
    near = median(sample.timing.duration for sample in measurement.near)
    return (far - near) / median(visit.timing.rtt for visit in measurement.far)


@pytest.mark.parametrize(
    "load", [pytest.param(contextlib.nullcontext, id="idle"), pytest.param(starve, id="four loops on the core")]
)
@pytest.mark.parametrize(
    ("version", "trips"), [pytest.param(TlsVersion.TLS12, 2, id="1.2"), pytest.param(TlsVersion.TLS13, 1, id="1.3")]
)
def test_full_handshake(version: TlsVersion, trips: int, load: Load, probers: Probers) -> None:
    """A path's delay becomes round trips of the duration and no part of the server's time, whatever starves us."""
    with load():
        measured = measure(probers, PLAIN, version)

    for host in SERVER:
        measurement = measured[host]
        check_common(measurement, trips)
        assert abs(round_trips(measurement) - trips) < OWN_WORK
        assert trips < median(visit.timing.duration for visit in measurement.far) / ROUND_TRIP < trips + 0.25
        with_link = median(visit.timing.server for visit in measurement.far)
        without_link = median(sample.timing.server for sample in measurement.near)
        # For each answer: without the link the second one follows so soon that it finds the server's caches warm.
        assert abs(with_link - without_link) < trips * SERVER_ERROR
        assert not any(visit.sample.hello_retry for visit in measurement.far)
        if load is starve:
            assert median(visit.timing.starvation for visit in measurement.far) > STARVED


def test_hello_retry(probers: Probers) -> None:
    """A server that wants another group costs TLS 1.3 a second round trip, and is seen to."""
    measured = measure(probers, RETRYING, TlsVersion.TLS13)

    for host in SERVER:
        measurement = measured[host]
        check_common(measurement, trips=2)
        assert abs(round_trips(measurement) - 2) < 2 * OWN_WORK
        assert all(visit.sample.hello_retry for visit in measurement.far)
