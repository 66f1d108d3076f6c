"""`openssl s_server -www`, which answers HTTP/1.0 and serves one connection after the other."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_ONLY: dict[tuple[TlsVersion, ...], list[str]] = {(TlsVersion.TLS12,): ["-tls1_2"], (TlsVersion.TLS13,): ["-tls1_3"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What s_server is told; its ticket key is always its own.

    Attributes:
        tickets: without them sessions are cached; TLS 1.3 still gives tickets, which only name a cached session.
        early_data: offers 0-RTT data, which makes each TLS 1.3 ticket good for one use. Requests stay unanswered then,
            since `-www` does not go with it.
        extra: more arguments, such as ("-num_tickets", "5").
    """

    leaf: Leaf
    tickets: bool = True
    early_data: bool = False
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    extra: tuple[str, ...] = ()


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run s_server in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [find_program("openssl"), "s_server", "-quiet", "-accept", str(address)]
    command += ["-cert", str(settings.leaf.certificate_file), "-key", str(settings.leaf.key_file)]
    command += _ONLY.get(settings.versions, [])
    if not settings.tickets:
        command.append("-no_ticket")
    command.append("-early_data" if settings.early_data else "-www")
    return Server(address, [*command, *settings.extra], folder)
