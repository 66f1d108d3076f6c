"""Signs of danger, and when they stop standing."""

import pytest

from exporter.model.observation import Ticket, TlsFacts
from exporter.model.verdicts import BackendState, Danger, Weakness
from exporter.verdict.dangers import Signs, clear, dangers_of, inspect
from tests.verdict.fleet import TLS13

ZERO_NAME = bytes(16)
FINE = Ticket(b"A" * 16 + bytes(range(144)), 300)
UNFILLED = Ticket(ZERO_NAME + bytes(range(100, 244)), 300)


def full(*tickets: Ticket, resumed: bool = False) -> TlsFacts:
    """Make a connection that brought these tickets."""
    return TlsFacts(version=TLS13, cipher="c", resumed=resumed, tickets=tickets)


@pytest.mark.parametrize(
    ("connections", "weakness", "dangers"),
    [
        pytest.param([], None, (), id="nothing"),
        pytest.param([full(FINE)], None, (), id="a fine ticket"),
        pytest.param([full(FINE, UNFILLED)], Weakness.ZERO_NAME, (Danger.WEAK_KEY,), id="one of two is weak"),
        pytest.param([full(UNFILLED, resumed=True)], Weakness.ZERO_NAME, (Danger.WEAK_KEY,), id="on a resumed one"),
        pytest.param([full(Ticket(FINE.identity, 300, 0))], None, (), id="0-RTT of no size"),
        pytest.param([full(Ticket(FINE.identity, 300, 16384))], None, (Danger.EARLY_DATA,), id="0-RTT"),
        pytest.param([full(Ticket(FINE.identity, 604_800))], None, (), id="seven days"),
        pytest.param([full(Ticket(FINE.identity, 604_801))], None, (Danger.LONG_LIFETIME,), id="over seven days"),
        pytest.param([full(Ticket(FINE.identity, 604_801)), full(FINE)], None, (), id="not any more"),
    ],
)
def test_inspect(connections: list[TlsFacts], weakness: Weakness | None, dangers: tuple[Danger, ...]) -> None:
    """What the tickets of a round show stands after it."""
    signs = inspect(Signs(), connections)

    assert (signs.weakness, dangers_of(signs, BackendState.RESUMES)) == (weakness, dangers)


def test_a_weak_key_stands_until_it_is_changed() -> None:
    """One weak ticket among many is as bad as all, so good ones do not lift it, but another key does."""
    weak = inspect(Signs(), [full(UNFILLED)])

    assert inspect(weak, [full(FINE)] * 5).weakness is Weakness.ZERO_NAME
    assert clear(weak, ZERO_NAME).weakness is Weakness.ZERO_NAME
    assert clear(weak, FINE.identity[:16]).weakness is None


def test_a_backend_that_ends_connections_is_in_danger() -> None:
    """The state itself is a sign."""
    assert dangers_of(Signs(), BackendState.KILLS) == (Danger.KILLS,)
