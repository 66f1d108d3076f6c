"""Java's own HTTPS server, whose TLS is JSSE."""

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key, pkcs12
from cryptography.x509 import load_pem_x509_certificate

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_SCRIPT = Path(__file__).with_name("Site.java")
_PASSWORD = "throwaway"
# Start fast rather than run fast.
_MACHINE = ("-Xmx128m", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Java is told; its ticket key is always its own.

    Attributes:
        tickets: without them sessions are cached; TLS 1.3 still gives tickets, which only name a cached session.
    """

    leaf: Leaf
    tickets: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run Java in this folder, which is made where it is missing; it compiles its program at each start."""
    folder.mkdir(parents=True, exist_ok=True)
    java = Path(find_program("javac")).with_name("java")
    switch = f"-Djdk.tls.server.enableSessionTicketExtension={str(settings.tickets).lower()}"
    command = [str(java), *_MACHINE, switch, str(_SCRIPT), str(_store(folder, settings.leaf)), _PASSWORD]
    command += [address.host, str(address.port), *(f"TLSv{version}" for version in settings.versions)]
    return Server(address, command, folder)


def _store(folder: Path, leaf: Leaf) -> Path:
    """Put certificate and key into one PKCS #12 file, which is what Java reads."""
    key = load_pem_private_key(leaf.key_file.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise TypeError(f"{type(key).__name__} is no key of ours")
    certificate = load_pem_x509_certificate(leaf.certificate_file.read_bytes())
    encryption = BestAvailableEncryption(_PASSWORD.encode())
    file = folder / "site.p12"
    file.write_bytes(pkcs12.serialize_key_and_certificates(b"site", key, certificate, None, encryption))
    return file
