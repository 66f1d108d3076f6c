"""When the kernel sent and received our segments (Linux, Documentation/networking/timestamping.rst).

No privilege is needed. The stamps are CLOCK_REALTIME in nanoseconds, so a step of that clock moves them: `clock_offset`
is compared before and after.
"""

import contextlib
import os
import socket
import struct
import time
from typing import NamedTuple

_SO_TIMESTAMPING = 37
_TX_SOFTWARE, _RX_SOFTWARE, _SOFTWARE, _OPT_ID, _OPT_TSONLY = 1 << 1, 1 << 3, 1 << 4, 1 << 7, 1 << 11
_TCP_STAMPS = _RX_SOFTWARE | _SOFTWARE | _OPT_ID | _OPT_TSONLY
_STAMP_THIS = [(socket.SOL_SOCKET, _SO_TIMESTAMPING, struct.pack("=I", _TX_SOFTWARE))]

_IP_RECVERR, _IPV6_RECVERR = 11, 25
_ERROR_REPORTS = {(socket.IPPROTO_IP, _IP_RECVERR), (socket.IPPROTO_IPV6, _IPV6_RECVERR)}
_ORIGIN_TIMESTAMPING = 4
_SCM_TSTAMP_SND = 0
_MSG_ERRQUEUE = getattr(socket, "MSG_ERRQUEUE", 0x2000)
_TRUNCATED = int(socket.MSG_CTRUNC)  # the enum's own & takes as long as the rest of a read

_TIMESPEC = struct.Struct("=qq")
_EXTENDED_ERROR = struct.Struct("=IBBBBII")
_ANCILLARY = 256  # 128 is the least for IPv6; a shorter buffer loses stamps without a word
_RECEIVE = 65536


class Piece(NamedTuple):
    """What one recvmsg() gave.

    Attributes:
        data: empty at the end of the stream.
        stamp: when its last segment reached the kernel, in ns of CLOCK_REALTIME; None without a stamp.
        lateness: ns from then to our reading it.
        truncated: whether the kernel had more to tell than the buffer held.
    """

    data: bytes
    stamp: int | None = None
    lateness: int = 0
    truncated: bool = False


def hold_anchor() -> socket.socket | None:
    """Return an idle socket that keeps the kernel's receive stamping switched on for as long as it is open.

    The kernel switches it on by a work item when the first socket asks, so that without such a socket the first
    segments after a quiet time carry no stamp. None where the system has no such stamps.
    """
    anchor = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        anchor.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _RX_SOFTWARE | _SOFTWARE)
    except OSError:
        anchor.close()
        return None
    return anchor


def ask_for_stamps(sock: socket.socket) -> bool:
    """Switch stamps on for a connected TCP socket (before connect() OPT_ID is EINVAL); say whether it took.

    What is received is stamped from then on, and of what is sent that which goes out through `send_stamped`.
    """
    try:
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _TCP_STAMPS)
    except OSError:
        return False
    return True


def send_stamped(sock: socket.socket, data: memoryview) -> int:
    """Send as much as goes out at once, and have the kernel report when its last byte left; return how much.

    Raises:
        BlockingIOError: when nothing can be sent now.
        OSError: when the connection broke.
    """
    return sock.sendmsg((data,), _STAMP_THIS)


def receive(sock: socket.socket) -> Piece:
    """Read once.

    Raises:
        BlockingIOError: when nothing is there.
        OSError: when the connection broke.
    """
    data, ancillary, flags, _ = sock.recvmsg(_RECEIVE, _ANCILLARY)
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPING and len(content) >= _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack_from(content)
            stamp = seconds * 1_000_000_000 + nanoseconds
            if stamp:
                return Piece(data, stamp, max(0, time.time_ns() - stamp), bool(flags & _TRUNCATED))
    return Piece(data, truncated=bool(flags & _TRUNCATED))


def drain_departures(sock: socket.socket, until: int = -1) -> list[tuple[int, int]]:
    """Return (index of a flight's last byte, ns of CLOCK_REALTIME at which it left) for each report that is queued.

    Reading ends early with the report of byte `until`. The queue must not be left full, since a report in it makes
    epoll report an error at once for ever.
    """
    departures: list[tuple[int, int]] = []
    while True:
        try:
            _, ancillary, _, _ = sock.recvmsg(0, _ANCILLARY, _MSG_ERRQUEUE)
        except OSError:  # no more of them, or a connection that broke, which the next read tells
            return departures
        departure = _departure(ancillary)
        if departure is not None:
            departures.append(departure)
            if departure[0] == until:
                return departures


def _departure(ancillary: list[tuple[int, int, bytes]]) -> tuple[int, int] | None:
    stamp = key = None
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPING and len(content) >= _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack_from(content)
            stamp = seconds * 1_000_000_000 + nanoseconds
        elif (level, kind) in _ERROR_REPORTS and len(content) >= _EXTENDED_ERROR.size:
            _, origin, _, _, _, info, data = _EXTENDED_ERROR.unpack_from(content)
            if origin == _ORIGIN_TIMESTAMPING and info == _SCM_TSTAMP_SND:
                key = data
    return None if stamp is None or key is None else (key, stamp)


_TCP_INFO_BYTES = 232
_TCP_INFO = struct.Struct("=B19xI44xI28xI44xI72xI4x")  # state, rcv_mss, rtt, total_retrans, min_rtt, rcv_ooopack
_TCP_ESTABLISHED = 1
_NO_RTT = 0xFFFFFFFF


class PathInfo(NamedTuple):
    """What the kernel knows of a connection's path (struct tcp_info).

    Attributes:
        rtt, min_rtt: seconds; None where there was no sample, or the kernel is too old to say.
        receive_mss: bytes in the largest segment seen.
    """

    established: bool = False
    rtt: float | None = None
    min_rtt: float | None = None
    receive_mss: int = 0
    retransmissions: int = 0
    out_of_order: int = 0


UNKNOWN_PATH = PathInfo()


def read_path(sock: socket.socket) -> PathInfo:
    """Ask the kernel about a TCP socket's path; all unknown where it does not tell."""
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    except OSError:
        return UNKNOWN_PATH
    state, mss, rtt, retransmissions, min_rtt, out_of_order = _TCP_INFO.unpack(info.ljust(_TCP_INFO_BYTES, b"\0"))
    return PathInfo(state == _TCP_ESTABLISHED, _seconds(rtt), _seconds(min_rtt), mss, retransmissions, out_of_order)


def _seconds(microseconds: int) -> float | None:
    return None if microseconds in {0, _NO_RTT} else microseconds / 1e6


def clock_offset() -> int:
    """Return CLOCK_REALTIME minus CLOCK_MONOTONIC in ns, right to 20 us even on a starved machine.

    Two bare reads err by as much as the thread was held up between them, so the monotonic clock is read on both sides.
    """
    for _ in range(8):
        before = time.monotonic_ns()
        wall = time.time_ns()
        after = time.monotonic_ns()
        if after - before < 20_000:
            break
    return wall - (before + after) // 2


class RunDelay:
    """How long this thread was ready to run and did not (proc(5), /proc/PID/task/TID/schedstat)."""

    def __init__(self) -> None:
        self._fd = -1
        with contextlib.suppress(OSError):
            self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> int | None:
        """Return nanoseconds since the thread began; None where the system does not tell."""
        if self._fd < 0:
            return None
        try:
            return int(os.pread(self._fd, 64, 0).split()[1])
        except (OSError, ValueError, IndexError):
            return None

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
