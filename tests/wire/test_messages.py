"""Messages read by hand: what the RFCs' layouts say, and nothing of what breaks them."""

import struct
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.observation import Ticket
from exporter.wire.hello import ClientHello, ServerHello, read_client_hello, read_server_hello, server_name_place
from exporter.wire.messages import Chain, group_name, read_chain, read_curve, read_ticket
from exporter.wire.records import ClearMessages, join_fragments, plausible, record_end
from exporter.wire.transcript import Transcript
from tests.wire.tiny import ticket_message


def message(kind: int, body: bytes) -> bytes:
    """Put a handshake header before a body."""
    return bytes((kind,)) + len(body).to_bytes(3, "big") + body


def vector(width: int, content: bytes) -> bytes:
    """Put a vector's length before its content."""
    return len(content).to_bytes(width, "big") + content


def extension(kind: int, content: bytes) -> bytes:
    """Frame one extension."""
    return struct.pack("!H", kind) + vector(2, content)


def record(kind: int, content: bytes) -> bytes:
    """Frame a record in clear."""
    return bytes((kind, 3, 3)) + vector(2, content)


_RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
_PSK = vector(2, vector(2, b"a ticket") + bytes(4)) + vector(2, vector(1, bytes(32)))


def client_hello(*extensions: bytes, session_id: bytes = b"") -> bytes:
    """Give a ClientHello with one cipher suite."""
    body = b"\x03\x03" + bytes(32) + vector(1, session_id) + vector(2, b"\x13\x01") + b"\1\0"
    return message(1, body + vector(2, b"".join(extensions)))


def server_hello(*extensions: bytes, random: bytes = bytes(32), session_id: bytes = b"") -> bytes:
    """Give a ServerHello, or with the right random a HelloRetryRequest."""
    return message(2, b"\x03\x03" + random + vector(1, session_id) + b"\x13\x01\0" + vector(2, b"".join(extensions)))


@pytest.mark.parametrize(
    ("hello", "session_id", "ticket", "identity"),
    [
        pytest.param(client_hello(), b"", b"", b"", id="bare"),
        pytest.param(client_hello(extension(35, b"")), b"", b"", b"", id="asks for a ticket"),
        pytest.param(client_hello(extension(35, b"old"), session_id=b"x"), b"x", b"old", b"", id="1.2 ticket"),
        pytest.param(client_hello(extension(0, b"?"), extension(41, _PSK)), b"", b"", b"a ticket", id="1.3 ticket"),
    ],
)
def test_client_hello(hello: bytes, session_id: bytes, ticket: bytes, identity: bytes) -> None:
    """What is offered stands in session id, session_ticket or pre_shared_key."""
    assert read_client_hello(hello) == ClientHello(session_id, ticket, identity, len(hello))


@pytest.mark.parametrize(
    ("hello", "expected"),
    [
        pytest.param(server_hello(session_id=b"id"), ServerHello(0x0303, b"id"), id="1.2"),
        pytest.param(
            server_hello(extension(23, b"")),
            ServerHello(0x0303, extended_master_secret=True),
            id="1.2, extended",
        ),
        pytest.param(
            server_hello(extension(43, b"\x03\x04"), extension(51, b"\x11\xec" + vector(2, bytes(9)))),
            ServerHello(0x0304, b"", 0x11EC),
            id="1.3",
        ),
        pytest.param(
            server_hello(extension(43, b"\x03\x04"), extension(51, b"\x00\x18"), random=_RETRY),
            ServerHello(0x0304, b"", 0x0018, retry=True),
            id="HelloRetryRequest",
        ),
        pytest.param(server_hello()[:30], None, id="cut off"),
        pytest.param(server_hello(extension(51, b"\x00")), None, id="half a group"),
        pytest.param(server_hello(b"\0\x2b\0"), None, id="half an extension"),
        pytest.param(server_hello(b"\0\x2b\0\x09\3\4"), None, id="an extension beyond the end"),
    ],
)
def test_server_hello(hello: bytes, expected: ServerHello | None) -> None:
    """Version and group are those of the extensions, where there are some."""
    assert read_server_hello(hello) == expected


@pytest.mark.parametrize(
    ("ticket", "tls13", "expected"),
    [
        pytest.param(ticket_message(b"t", 9), True, Ticket(b"t", 9, None, b"n"), id="1.3"),
        pytest.param(ticket_message(b"t", 9, 16384), True, Ticket(b"t", 9, 16384, b"n"), id="with early data"),
        pytest.param(ticket_message(b""), True, None, id="1.3, empty"),
        pytest.param(ticket_message(b"t", 9, 1)[:-2], True, None, id="1.3, cut off"),
        pytest.param(message(4, struct.pack("!I", 300) + vector(2, b"t")), False, Ticket(b"t", 300), id="1.2"),
        pytest.param(message(4, bytes(6)), False, None, id="1.2, empty"),
        pytest.param(message(4, bytes(3)), False, None, id="1.2, cut off"),
    ],
)
def test_ticket(ticket: bytes, tls13: bool, expected: Ticket | None) -> None:
    """A ticket is told with all its fields, and an empty one is none."""
    assert read_ticket(ticket, tls13=tls13) == expected


_CERTIFICATES = (b"a" * 700, b"b" * 900)
_CHAIN = sha256(b"".join(_CERTIFICATES)).digest()


@pytest.mark.parametrize(
    ("certificate", "tls13", "expected"),
    [
        pytest.param(
            message(11, b"\0" + vector(3, b"".join(vector(3, der) + b"\0\0" for der in _CERTIFICATES))),
            True,
            Chain((700, 900), _CHAIN),
            id="1.3",
        ),
        pytest.param(
            message(11, vector(3, b"".join(vector(3, der) for der in _CERTIFICATES))),
            False,
            Chain((700, 900), _CHAIN),
            id="1.2",
        ),
        pytest.param(
            message(11, vector(3, vector(3, bytes(9000)))),
            False,
            Chain((9000,), sha256(bytes(9000)).digest()),
            id="a large one",
        ),
        pytest.param(message(11, b"\0\0\0\0"), True, Chain(), id="none"),
        pytest.param(message(11, vector(3, b"\0\0\x09a")), False, None, id="cut off"),
    ],
)
def test_chain(certificate: bytes, tls13: bool, expected: Chain | None) -> None:
    """Each certificate is counted with its own size, and all have one fingerprint."""
    assert read_chain(certificate, tls13=tls13) == expected


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        pytest.param(b"\x03\x00\x1d\x20", "x25519", id="named curve"),
        pytest.param(b"\x03\x7a\x7a", "0x7a7a", id="curve without a name"),
        pytest.param(b"\x00\x08", "", id="finite field"),
        pytest.param(b"\x03", "", id="cut off"),
        pytest.param(b"", "", id="empty"),
    ],
)
def test_curve(exchange: bytes, expected: str) -> None:
    """The group of a TLS 1.2 key exchange is told where it is elliptic."""
    assert read_curve(message(12, exchange)) == expected


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (0x001D, "x25519"),
        (0x0017, "secp256r1"),
        (0x11EC, "X25519MLKEM768"),
        (0x11EB, "SecP256r1MLKEM768"),
        (0x11ED, "SecP384r1MLKEM1024"),
        (0xFE, "0x00fe"),
        (0, ""),
    ],
)
def test_group_name(number: int, name: str) -> None:
    """Groups have the names of the IANA registry."""
    assert group_name(number) == name


@pytest.mark.parametrize(
    ("data", "end"),
    [
        pytest.param(b"", 0, id="nothing"),
        pytest.param(b"\x16\x03\x03\x00", 0, id="half a header"),
        pytest.param(record(22, b"abc")[:-1], 0, id="incomplete"),
        pytest.param(record(22, b"abc") + b"more", 8, id="complete"),
        pytest.param(b"GET / HTTP", 10, id="no record"),
        pytest.param(b"\x17\x03\x03\xff\xff12", 7, id="too long to be one"),
    ],
)
def test_record_end(data: bytes, end: int) -> None:
    """A whole record ends where its length says; nonsense goes on to the library as it is."""
    assert record_end(data, 0) == end


@pytest.mark.parametrize(
    ("start", "expected"),
    [(b"", True), (b"\x16", True), (b"\x15\x03", True), (b"\x16\x02", False), (b"H", False), (b"\x18\x03", False)],
)
def test_plausible(start: bytes, expected: bool) -> None:
    """A record begins with a known type and major version 3."""
    assert plausible(start) is expected


@examples(max_examples=100)
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8), cuts=st.lists(st.integers(0, 300), max_size=6))
def test_messages_are_joined_across_records(sizes: list[int], cuts: list[int]) -> None:
    """Messages come out whole, however they lie in records and the records in the stream."""
    messages = [message(11, bytes((number,)) * size) for number, size in enumerate(sizes)]
    joined = b"".join(messages)
    flight = b"".join(record(22, joined[start : start + 33]) for start in range(0, len(joined), 33))
    reader = ClearMessages(tls13=False)
    places = [0, *sorted(min(cut, len(flight)) for cut in cuts), len(flight)]
    seen = [found for start, end in pairwise(places) for found in reader.feed(flight[start:end])]

    assert seen == [(22, whole) for whole in messages]
    assert join_fragments(flight) == joined


@pytest.mark.parametrize(
    ("tls13", "stream", "kinds"),
    [
        pytest.param(False, [(22, 2), (20, 0), (22, 20)], [2], id="1.2 ends at change_cipher_spec"),
        pytest.param(True, [(22, 2), (20, 0), (22, 2), (23, 0), (22, 8)], [2, 2], id="1.3 ends at application data"),
    ],
)
def test_clear_messages_end_with_encryption(tls13: bool, stream: list[tuple[int, int]], kinds: list[int]) -> None:
    """Behind the first encrypted record nothing is read, whatever it looks like."""
    flight = b"".join(record(kind, message(inner, b"x")) for kind, inner in stream)

    assert [found[1][0] for found in ClearMessages(tls13=tls13).feed(flight)] == kinds


def test_endless_message_is_not_held() -> None:
    """A message that claims 16 MiB is dropped long before they came."""
    reader = ClearMessages(tls13=True)
    head = b"\x0b\xff\xff\xff"
    seen = [list(reader.feed(record(22, head + bytes(16_000)))) for _ in range(40)]

    assert seen == [[]] * 40
    assert list(reader.feed(record(22, message(2, b"")))) == []


READERS: list[Callable[[bytes], object]] = [
    read_client_hello,
    read_server_hello,
    read_curve,
    server_name_place,
    lambda data: read_ticket(data, tls13=True),
    lambda data: read_ticket(data, tls13=False),
    lambda data: read_chain(data, tls13=True),
    lambda data: read_chain(data, tls13=False),
]
GOOD = [client_hello(extension(41, _PSK)), server_hello(extension(51, b"\0\x1d")), ticket_message(b"t" * 20, 9, 1)]


@examples(max_examples=200)
@given(
    data=st.one_of(
        st.binary(max_size=120),
        st.tuples(st.sampled_from(GOOD), st.integers(0, 120), st.integers(0, 255)).map(
            lambda bent: bent[0][: bent[1]] + bytes((bent[2],)) + bent[0][bent[1] + 1 :]
        ),
    )
)
def test_no_message_raises(data: bytes) -> None:
    """Every reader and the transcript take any bytes at all, and nothing is noted of what makes no sense."""
    for read in READERS:
        read(data)
    for tls13 in (True, False):
        transcript = Transcript(tls13=tls13, offering=True)
        transcript.heard.extend(((22, data), (21, data)))
        transcript.settle()

        assert transcript.heard == []
        assert all(ticket.identity for ticket in transcript.tickets)
