"""What `tlsprobe bench` found, for people: a table, and behind each row a sentence that says what it means."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from exporter.model.bench import BulkRow, HandshakeRow, RateRow, Report, Role, SignatureRow, Spread
from exporter.model.observation import Mode

_NAME_WIDTH = 31
_MIB = 1 << 20
_GIGABIT_BYTES = 125_000_000
_GIB = 1 << 30
_ROLES: Mapping[Role, str] = MappingProxyType(
    {
        Role.ECDSA: "TLS 1.3 ECDSA P-256",
        Role.RSA: "TLS 1.3 RSA-2048",
        Role.TLS12: "TLS 1.2 ECDSA P-256",
        Role.CONTROL: "TLS 1.3, no tickets",
    }
)


def render_report(report: Report) -> Iterator[str]:
    """Yield the lines."""
    yield f"What TLS costs here: {report.library}, {report.seconds:.0f} s, one client and one server on loopback."
    yield "Figures are medians; ratios are medians over adjacent pairs; in brackets, between what four of five lie."
    if report.machine_busy:
        yield (
            f"NOT ALONE: others kept {report.others_busy_processors:.1f} processors busy meanwhile, which makes "
            "handshakes dearer and moves the ratios. Measure again where nothing else runs."
        )
    yield from _requests(report.requests, report.reuse)
    yield from _bulk(report)
    yield from _handshakes(report.handshakes)
    yield from _signatures(report.signatures)
    yield from (f"Not measured: {missing}." for missing in report.missing)


def _requests(requests: RateRow, reuse: RateRow) -> Iterator[str]:
    yield ""
    yield f"requests of 1 KiB, one after another        a second   ({requests.ratio.count} pairs)"
    yield f"  plain, kept alive                    {requests.base.median:13,.0f}"
    yield f"  TLS, kept alive                      {requests.other.median:13,.0f}   {_ratio(requests.ratio)} of that"
    yield f"      {say_requests(requests)}"
    yield f"  TLS, a connection for each           {reuse.base.median:13,.0f}   {_ratio(reuse.ratio)} times with"
    yield f"      {say_reuse(reuse)}"


def _bulk(report: Report) -> Iterator[str]:
    yield ""
    turns = report.bulk[0].bytes_per_second.count
    yield f"large bodies                                MiB/s   server CPU s/GiB   ({turns} turns)"
    for row in report.bulk:
        name = f"TLS {row.tls} {row.cipher}" if row.tls else "plain"
        to_plain = f"   {_ratio(row.rate_to_plain)} of the rate in clear" if row.rate_to_plain else ""
        rate, cost = row.bytes_per_second.median / _MIB, row.server_cpu_seconds_per_gib.median
        yield f"  {name:<37}{rate:10,.0f}   {cost:16.3f}{to_plain}"
        yield f"      {say_bulk(row, report)}"


def _handshakes(rows: tuple[HandshakeRow, ...]) -> Iterator[str]:
    yield ""
    names = [f"{_name(row)}, {row.mode}" for row in rows]
    width = max(_NAME_WIDTH, *map(len, names))
    yield f"{'handshakes':<{width + 3}} client p50 ms   server CPU ms   resumed"
    for name, row in zip(names, rows, strict=True):
        waited, computed = row.client_seconds.median * 1e3, row.server_cpu_seconds.median * 1e3
        yield f"  {name:<{width}} {waited:14.3f} {computed:15.3f}   {row.resumed} of {row.asked}"
        yield f"      {say_handshake(row)}"


def _signatures(rows: tuple[SignatureRow, ...]) -> Iterator[str]:
    yield ""
    yield "one signature                            sign ms       verify ms"
    for row in rows:
        yield f"  {row.key_type:<31} {row.sign_cpu_seconds * 1e3:14.4f} {row.verify_cpu_seconds * 1e3:15.4f}"
        yield f"      {say_signature(row)}"


def say_requests(row: RateRow) -> str:
    """Say what TLS takes of the requests a second."""
    share = 1 - row.ratio.median
    if share <= 0:
        return "On a connection that is kept alive, TLS costs no requests that could be seen here."
    return f"On a connection that is kept alive, TLS costs {share:.0%} of the requests a second."


def say_reuse(row: RateRow) -> str:
    """Say what keeping connections saves."""
    return f"A client that keeps its connection gets {row.ratio.median:.0f} times the requests: keep-alive comes first."


def say_bulk(row: BulkRow, report: Report) -> str:
    """Say what the bytes cost, and for AES-256 how far that is from the cipher alone."""
    cost = row.server_cpu_seconds_per_gib.median
    link = f"A gigabit link takes {cost * _GIGABIT_BYTES / _GIB:.1%} of a core"
    if row.tls is None:
        return f"{link}, for copying and sending alone."
    if report.speed is None or "AES_256_GCM" not in row.cipher:
        return f"{link}."
    clear = report.bulk[0].server_cpu_seconds_per_gib.median
    return (
        f"{link}. `openssl speed` needs {report.speed:.3f} s to encrypt a GiB: {cost / report.speed:.2f} times that"
        f" goes into encrypting and sending, {(cost - clear) / report.speed:.2f} times beyond sending in clear."
    )


def say_handshake(row: HandshakeRow) -> str:
    """Say what a handshake of this kind and mode means."""
    if row.role is Role.CONTROL:
        return _say_control(row)
    if row.resumed != row.due:
        return f"NOT AS MEANT: {row.resumed} resumed and {row.due} should have; the figures are of those that were."
    if row.cpu_to_full is None or row.time_to_full is None:
        if row.cpu_to_ecdsa is None:
            return "The handshake that the others are compared with."
        return f"Costs the server {_ratio(row.cpu_to_ecdsa)} times what ECDSA over TLS 1.3 costs."
    if row.mode is Mode.RESUMED:
        return (
            f"Resuming costs the server {_ratio(row.cpu_to_full)} of a full one,"
            f" and the client waits {_ratio(row.time_to_full)} times as long."
        )
    return (
        f"A refused ticket costs the server {_ratio(row.cpu_to_full)} of a full one and the client"
        f" {_ratio(row.time_to_full)} of its time: {_against_none(row.time_to_full)} offering none."
    )


def _against_none(ratio: Spread) -> str:
    """Say how a refused ticket does against none: figures that lie on both sides of 1 prove neither."""
    if ratio.low > 1:
        return "worse than"
    return "no worse than" if ratio.high <= 1 else "about the same as"


def _say_control(row: HandshakeRow) -> str:
    if row.resumed:
        return "NOT AS MEANT: resumption was seen where it cannot be, so trust none of it."
    if row.mode is Mode.FULL:
        return "The control: a server that gives no tickets."
    return "None resumed where none can, so what resumed above did."


def say_signature(row: SignatureRow) -> str:
    """Say what the signature means for resumption."""
    return f"The most that resuming can save a server by its key is {row.sign_cpu_seconds * 1e3:.3f} ms a handshake."


def _name(row: HandshakeRow) -> str:
    return _ROLES.get(row.role, f"TLS {row.tls} yours, {row.key_type}")


def _ratio(spread: Spread) -> str:
    return f"{spread.median:.2f} ({spread.low:.2f} to {spread.high:.2f})"
