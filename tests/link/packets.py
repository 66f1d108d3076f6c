"""The link's packet log, and what it tells of a server."""

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Self

_COUNT = struct.Struct("=Q")
_RECORD = struct.Struct("=QQIIIHHBBBBI")
LOG_RECORDS = 200_000


class TcpFlag(IntFlag):
    """The flags of a segment (RFC 9293 section 3.1)."""

    FIN = 1
    SYN = 2
    RST = 4
    PSH = 8
    ACK = 16


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet that crossed the link.

    Attributes:
        taken, put: seconds of the monotonic clock at which it left the one side and reached the other.
        to_server: its direction.
        family: 4 or 6.
        client_port, server_port: 0 where it is not TCP.
        payload: bytes of TCP content.
    """

    taken: float
    put: float
    to_server: bool
    family: int
    client_port: int
    server_port: int
    flags: TcpFlag
    payload: int

    @classmethod
    def unpack(cls, record: bytes) -> Self:
        """Read one record of the forwarder's log."""
        in_ns, out_ns, _, _, payload, source, target, to_server, family, _, flags, _ = _RECORD.unpack(record)
        client_port, server_port = (source, target) if to_server else (target, source)
        return cls(
            taken=in_ns / 1e9,
            put=out_ns / 1e9,
            to_server=bool(to_server),
            family=family,
            client_port=client_port,
            server_port=server_port,
            flags=TcpFlag(flags),
            payload=payload,
        )


def read_log(log: int) -> tuple[Packet, ...]:
    """Return all packets so far, each direction in its order, from the forwarder's log; it may still be growing.

    Args:
        log: the descriptor that it maps.
    """
    (count,) = _COUNT.unpack(os.pread(log, _COUNT.size, 0))
    records = os.pread(log, count * _RECORD.size, _COUNT.size)
    return tuple(Packet.unpack(records[start : start + _RECORD.size]) for start in range(0, len(records), _RECORD.size))


def server_times(packets: Sequence[Packet], client_port: int) -> tuple[float, ...]:
    """Return how long the server took for each answer on one connection, in seconds.

    From the arrival at the server's side of the last content of the client's before an answer, to the departure of
    the answer's first content from there; the path has no part in it.
    """
    events = sorted(
        (packet.put if packet.to_server else packet.taken, packet.to_server)
        for packet in packets
        if packet.client_port == client_port and packet.payload
    )
    times = []
    asked: float | None = None
    for moment, to_server in events:
        if to_server:
            asked = moment
        elif asked is not None:
            times.append(moment - asked)
            asked = None
    return tuple(times)
