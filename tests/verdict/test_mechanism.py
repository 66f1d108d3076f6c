"""Mechanisms and key names, read from tickets."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.observation import Ticket, TlsFacts
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import Mechanism
from exporter.verdict.keys import read_keys
from exporter.verdict.mechanism import Batch, classify, divergence_depth, key_name, pool, specimen_of

_RANDOM = Random(7)  # noqa: S311 - the tickets must be the same in every run


def batch(*heads: bytes, size: int = 176, full: bool = True) -> Batch:
    """Make the tickets of one connection, random behind their heads."""
    tickets = (Ticket(head + _RANDOM.randbytes(size - len(head)), 300) for head in heads)
    return Batch(tuple(specimen_of(ticket) for ticket in tickets), full)


A, B = b"A" * 16, b"B" * 16
S2N_A, S2N_B = b"\x01" + A, b"\x01" + B


@pytest.mark.parametrize(
    ("batches", "accepted", "expected"),
    [
        pytest.param([], False, Mechanism.UNKNOWN, id="no tickets yet"),
        pytest.param([batch(A, A)], True, Mechanism.UNKNOWN, id="what one connection's tickets share may be its own"),
        pytest.param([batch(A, A), batch(A, A)], True, Mechanism.RFC5077, id="two connections, one key"),
        pytest.param([batch(A), batch(A)], True, Mechanism.RFC5077, id="one ticket each"),
        pytest.param([batch(A), batch(B), batch(A), batch(B)], True, Mechanism.RFC5077, id="two keys at one address"),
        pytest.param([batch(A, A), batch(B, B)], True, Mechanism.RFC5077, id="a key that changed"),
        pytest.param([batch(S2N_A), batch(S2N_A)], True, Mechanism.S2N, id="s2n"),
        pytest.param([batch(S2N_A), batch(S2N_B), batch(S2N_A)], True, Mechanism.S2N, id="s2n that mixes its keys"),
        pytest.param([batch(b"\x00\x00\x00\x01"), batch(b"\x00\x00\x00\x01")], True, Mechanism.SHORT_NAME, id="Java"),
        pytest.param(
            [batch(b"\x00\x00\x00\x01"), batch(b"\x00\x00\x00\x02"), batch(b"\x00\x00\x00\x02")],
            True,
            Mechanism.SHORT_NAME,
            id="Java after a change",
        ),
        pytest.param([batch(b""), batch(b"")], True, Mechanism.UNKNOWN, id="two strangers may be of two keys"),
        pytest.param([batch(b""), batch(b""), batch(b"")], True, Mechanism.HIDDEN, id="no name in three tickets"),
        pytest.param([batch(b"", size=32)], False, Mechanism.UNKNOWN, id="one id that nobody took"),
        pytest.param([batch(b"", b"", size=32)], True, Mechanism.STATEFUL, id="ids in one connection, accepted"),
        pytest.param(
            [batch(b"", size=32), batch(b"", size=32)], False, Mechanism.STATEFUL, id="ids in two connections"
        ),
        pytest.param([batch(A, A), batch(A, A), batch(b"", b"", size=32)], True, Mechanism.STATEFUL, id="to state"),
        pytest.param([batch(b"", size=32), batch(A, A), batch(A, A)], True, Mechanism.RFC5077, id="from state to keys"),
        pytest.param([batch(b"12345678"), batch(b"12345678")], True, Mechanism.UNKNOWN, id="a layout unheard of"),
    ],
)
def test_classify(batches: Sequence[Batch], accepted: bool, expected: Mechanism) -> None:
    """The layout of a backend's tickets tells its mechanism, once there are enough of them."""
    assert classify(batches, accepted=accepted) is expected


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([b"abcd"], 0, id="one"),
        pytest.param([b"abcd", b"abcd"], 0, id="the same twice"),
        pytest.param([b"abcd", b"abce"], 3, id="two"),
        pytest.param([b"aax", b"aay", b"bbx", b"bby"], 2, id="two families"),
        pytest.param([b"ab", b"ac", b"b"], 1, id="of equal depths the deepest"),
        pytest.param([b"ab", b"abc"], 2, id="one is the head of the other"),
    ],
)
def test_divergence_depth(heads: Sequence[bytes], expected: int) -> None:
    """The depth with most branches is where names end."""
    assert divergence_depth(heads) == expected


@given(
    names=st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=4, unique=True),
    seed=st.integers(0, 2**32),
)
def test_several_keys_do_not_hide_the_names(names: list[bytes], seed: int) -> None:
    """However many keys answer at an address, the depth is that of the names, given a few tickets of each."""
    random = Random(seed)  # noqa: S311 - hypothesis wants to repeat it

    depth = divergence_depth([name + random.randbytes(16) for name in names for _ in range(12)])

    assert depth == 16


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (Mechanism.RFC5077, bytes(range(16))),
        (Mechanism.SHORT_NAME, bytes(range(4))),
        (Mechanism.S2N, bytes(range(1, 17))),
        (Mechanism.HIDDEN, None),
        (Mechanism.STATEFUL, None),
        (Mechanism.UNKNOWN, None),
    ],
)
def test_key_name(mechanism: Mechanism, expected: bytes | None) -> None:
    """Each layout has its name in a place of its own."""
    assert key_name(mechanism, bytes(range(32))) == expected


def test_a_ticket_too_short_for_a_name_has_none() -> None:
    """A ticket may be as short as the server likes."""
    assert key_name(Mechanism.RFC5077, b"short") is None


def facts(*tickets: Ticket, resumed: bool = False) -> TlsFacts:
    """Make a handshake that brought these tickets."""
    return TlsFacts(version=TlsVersion.TLS13, cipher="c", resumed=resumed, tickets=tickets)


def test_the_pool_is_bounded() -> None:
    """A thousand huge tickets a connection, round after round, leave a few short heads."""
    tickets = [Ticket(_RANDOM.randbytes(60_000), 300) for _ in range(50)]
    batches: tuple[Batch, ...] = ()
    for _ in range(100):
        batches = pool(batches, [facts(*tickets), facts(), facts(*tickets, resumed=True)])

    specimens = [specimen for one in batches for specimen in one.specimens]

    assert [sum(one.full is full for one in batches) for full in (True, False)] == [16, 4]
    assert len(specimens) == 20 * 4
    assert {(len(specimen.head), specimen.size) for specimen in specimens} == {(32, 60_000)}


def test_ticket_bytes_are_not_shown() -> None:
    """What is kept of tickets stays out of every log line and message."""
    secret = b"0123456789abcdef" * 4

    shown = repr(pool((), [facts(Ticket(secret, 300))]))

    assert "0123" not in shown


def test_a_name_is_believed_once_two_tickets_bear_it() -> None:
    """Software that hides its names and took over an address would show a new key with each ticket."""
    here = Address("127.0.0.2", 443)
    old = (batch(A), batch(A), batch(A))

    named = read_keys({here: old}, {here: Mechanism.RFC5077})
    changed = read_keys({here: (*old, batch(b""))}, {here: Mechanism.RFC5077})

    assert named.current == {here: A}
    assert changed.current == {}
    assert changed.known == {A}
