"""From single handshakes to rows: medians, spreads and ratios."""

import pytest

from exporter.model.bench import Role, Spread
from exporter.model.observation import Mode
from exporter.model.target import TlsVersion
from exporter.model.yardstick import GIB, Kind, Pair, Pass, Shake
from exporter.yardstick.handshakes import tabulate
from exporter.yardstick.speed import ask_openssl, read_speed
from exporter.yardstick.spread import summarise

ECDSA, RSA = Kind("ecdsa-p256", TlsVersion.TLS13), Kind("rsa-2048", TlsVersion.TLS13)


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        pytest.param([3.0], Spread(3.0, 3.0, 3.0, 1), id="one figure"),
        pytest.param([float(n) for n in range(11)], Spread(5.0, 1.0, 9.0, 11), id="eleven"),
        pytest.param([2.0, 1.0], Spread(1.5, 1.1, 1.9, 2), id="two, in any order"),
    ],
)
def test_summarise(figures: list[float], expected: Spread) -> None:
    """A spread holds the median and the tenths below and above."""
    found = summarise(figures)

    assert expected.count == found.count
    assert [expected.median, expected.low, expected.high] == pytest.approx([found.median, found.low, found.high])


def one_pass(kind: Kind, full: float, resumed: float, *, really: bool = True) -> Pass:
    """Return a full handshake and one that was meant to resume, with these costs in ms."""
    return Pass(
        kind,
        (
            Shake(Mode.FULL, resumed=False, seconds=full * 2e-3, cpu=full * 1e-3),
            Shake(Mode.RESUMED, resumed=really, seconds=resumed * 3e-3, cpu=resumed * 1e-3),
        ),
    )


def test_rows() -> None:
    """Ratios are taken within each pass, and their median is not the ratio of the medians."""
    passes = [
        [one_pass(ECDSA, 1.0, 0.5), one_pass(RSA, 2.0, 0.5)],
        [one_pass(ECDSA, 2.0, 1.0), one_pass(RSA, 5.0, 1.0)],
        [one_pass(ECDSA, 4.0, 2.4), one_pass(RSA, 12.0, 3.0)],
    ]
    rows = {(row.role, row.mode): row for row in tabulate((Role.ECDSA, Role.RSA), passes)}
    full, resumed = rows[Role.RSA, Mode.FULL], rows[Role.RSA, Mode.RESUMED]

    assert [(3, 0, 0), (3, 3, 3)] == [(row.asked, row.resumed, row.due) for row in (full, resumed)]
    assert full.cpu_to_ecdsa is not None
    assert 2.5 == full.cpu_to_ecdsa.median
    assert full.cpu_to_full is None
    assert resumed.cpu_to_full is not None
    assert resumed.time_to_full is not None
    assert (0.25, 0.375) == (resumed.cpu_to_full.median, resumed.time_to_full.median)
    assert (0.001, 0.003) == (resumed.server_cpu_seconds.median, resumed.client_seconds.median)


def test_what_did_not_resume_is_left_out() -> None:
    """A handshake that should have resumed and did not is counted, and its figures are left out."""
    passes = [[one_pass(ECDSA, 1.0, 0.5)], [one_pass(ECDSA, 1.0, 9.0, really=False)]]
    _, resumed = tabulate((Role.ECDSA,), passes)

    assert (2, 1, 2) == (resumed.asked, resumed.resumed, resumed.due)
    assert (0.0005, 1) == (resumed.server_cpu_seconds.median, resumed.server_cpu_seconds.count)
    assert resumed.cpu_to_full is not None
    assert resumed.cpu_to_full.count == 1


def test_control() -> None:
    """Where nothing can resume nothing is due, no ratio is told, and what there was instead is still shown."""
    passes = [[one_pass(ECDSA, 1.0, 0.5), one_pass(ECDSA, 1.0, 1.0, really=False)]]
    *_, asked = tabulate((Role.ECDSA, Role.CONTROL), passes)

    assert (1, 0, 0) == (asked.asked, asked.resumed, asked.due)
    assert asked.cpu_to_full is None
    assert asked.server_cpu_seconds.median == 0.001


def test_pair() -> None:
    """A pair's ratio is that of the second figure to the first."""
    assert Pair(4.0, 1.0).ratio == 0.25


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param("+H:16384\n+F:25:AES-256-GCM:2147483648.00\n", 0.5, id="as OpenSSL 3.0 tells it"),
        pytest.param("+F:25:AES-256-GCM:0.00\n", None, id="no speed at all"),
        pytest.param("+F:25:AES-128-GCM:2147483648.00\n", None, id="another cipher"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_read_speed(output: str, expected: float | None) -> None:
    """The seconds for each GiB are the inverse of the rate."""
    assert expected == read_speed(output)
    assert GIB == 1 << 30


def test_no_openssl() -> None:
    """Without the program there is no figure, and no error."""
    assert ask_openssl(1, "no such program") is None
