"""Cutting a ClientHello in two, as a larger one would be cut on its way."""

from exporter.model.connections import HelloSplit
from exporter.wire.hello import server_name_place
from exporter.wire.records import HANDSHAKE, HEADER_BYTES, record_end


def split(flight: bytes, how: HelloSplit) -> tuple[bytes, ...]:
    """Return the parts of a client's first flight, to be sent one after the other, each in a segment of its own.

    The cut goes through the middle of the server name, which is what a middlebox looks for; without one, through the
    middle of the message. Two records make one part, which is HEADER_BYTES longer than the flight.

    Raises:
        ValueError: the flight does not begin with a whole record that holds handshake bytes to be cut.
    """
    end = record_end(flight, 0)
    if end < HEADER_BYTES + 2 or flight[0] != HANDSHAKE:
        raise ValueError("the flight does not begin with a handshake record")
    message = flight[HEADER_BYTES:end]
    place = HEADER_BYTES + (server_name_place(message) or len(message) // 2)
    if how is HelloSplit.SEGMENTS:
        return flight[:place], flight[place:]
    first, second = _record(flight, flight[HEADER_BYTES:place]), _record(flight, flight[place:end])
    return (first + second + flight[end:],)


def _record(flight: bytes, fragment: bytes) -> bytes:
    """Frame a fragment with the type and version of the flight's own first record."""
    return flight[:3] + len(fragment).to_bytes(2, "big") + fragment
