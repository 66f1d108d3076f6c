"""A chain of certificates as a public site has it: a leaf with many names below three intermediates."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.servers.certificates import Leaf

_INTERMEDIATES = 3


@dataclass(frozen=True, slots=True)
class Chain:
    """What a server sends, and what is needed to check it and to answer for it.

    Attributes:
        leaf: its certificate file has the leaf first and all intermediates behind it.
        ders: the same certificates in DER form.
        root_file: PEM, to be trusted; it is not sent.
        issuer_file, issuer_key_file: PEM, of the authority that signed the leaf.
    """

    leaf: Leaf
    ders: tuple[bytes, ...]
    root_file: Path
    issuer_file: Path
    issuer_key_file: Path


@dataclass(frozen=True, slots=True)
class _Holder:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def issue_chain(folder: Path, now: datetime, names: Sequence[str]) -> Chain:
    """Make a root, the intermediates and a leaf with these DNS names; all files go to `folder`."""
    holders = [_issue("root", None, now)]
    for number in range(_INTERMEDIATES):
        holders.append(_issue(f"intermediate {number}", holders[-1], now))
    holders.append(_issue(names[0], holders[-1], now, names))
    sent = holders[:0:-1]
    leaf, issuer = sent[0], sent[1]
    stem = folder / "chain"
    files = {
        ".pem": b"".join(holder.pem for holder in sent),
        ".key": leaf.key_pem,
        ".both.pem": b"".join(holder.pem for holder in sent) + leaf.key_pem,
        ".root.pem": holders[0].pem,
        ".issuer.pem": issuer.pem,
        ".issuer.key": issuer.key_pem,
    }
    paths = {suffix: stem.with_suffix(suffix) for suffix in files}
    for suffix, content in files.items():
        paths[suffix].write_bytes(content)
    return Chain(
        leaf=Leaf(paths[".pem"], paths[".key"], paths[".both.pem"]),
        ders=tuple(holder.certificate.public_bytes(Encoding.DER) for holder in sent),
        root_file=paths[".root.pem"],
        issuer_file=paths[".issuer.pem"],
        issuer_key_file=paths[".issuer.key"],
    )


def _issue(subject: str, issuer: _Holder | None, now: datetime, names: Sequence[str] = ()) -> _Holder:
    """Make a certificate: an authority's where it has no names."""
    key = ec.generate_private_key(ec.SECP256R1())
    signer = issuer.key if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer.certificate.subject if issuer else _name(subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
    )
    if names:
        held = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        builder = builder.add_extension(held, critical=False)
    return _Holder(builder.sign(signer, hashes.SHA256()), key)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
