"""Facts of certificates, the good and the hostile."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.wire.certificate import read_leaf
from exporter.wire.messages import Chain
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import LOOPBACK_HOSTS

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey
START = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
_NAME = x509.Name(
    [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Shop"), x509.NameAttribute(NameOID.COMMON_NAME, "me")]
)


def certificate(key: Key, *names: x509.GeneralName) -> bytes:
    """Give a self-signed certificate in DER form."""
    builder = x509.CertificateBuilder(_NAME, _NAME, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(START).not_valid_after(START + timedelta(days=90))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey) else hashes.SHA256()
    return builder.sign(key, algorithm).public_bytes(Encoding.DER)


_GOOD = certificate(ec.generate_private_key(ec.SECP256R1()), x509.DNSName("shop.test"), x509.DNSName("x.test"))


KEYS = [
    pytest.param(lambda: ec.generate_private_key(ec.SECP256R1()), "ecdsa-p256", "ecdsa-with-SHA256", id="P-256"),
    pytest.param(lambda: ec.generate_private_key(ec.SECP384R1()), "ecdsa-p384", "ecdsa-with-SHA256", id="P-384"),
    pytest.param(
        lambda: ec.generate_private_key(ec.BrainpoolP256R1()),
        "ecdsa-brainpoolP256r1",
        "ecdsa-with-SHA256",
        id="brainpool",
    ),
    pytest.param(lambda: rsa.generate_private_key(65537, 2048), "rsa-2048", "sha256WithRSAEncryption", id="RSA"),
    pytest.param(ed25519.Ed25519PrivateKey.generate, "ed25519", "ed25519", id="Ed25519"),
    pytest.param(ed448.Ed448PrivateKey.generate, "ed448", "ed448", id="Ed448"),
]


@pytest.mark.parametrize(("make", "key_type", "signature"), KEYS)
def test_keys(make: Callable[[], Key], key_type: str, signature: str) -> None:
    """Key and signature are told by their usual names."""
    facts = read_leaf(certificate(make()), Chain()).facts

    assert (facts.key_type, facts.signature_algorithm) == (key_type, signature)


def test_all_fields() -> None:
    """Names, dates, fingerprint and sizes are those of the certificate."""
    names = x509.DNSName("shop.test"), x509.RFC822Name("a@b.test"), x509.DNSName("*.shop.test")
    der = certificate(ed25519.Ed25519PrivateKey.generate(), *names)
    facts = read_leaf(der, Chain((len(der), 10), b"all of them")).facts

    assert facts.fingerprint == sha256(der).digest()
    assert facts.subject == facts.issuer == "CN=me,O=Shop"
    assert facts.names == ("shop.test", "*.shop.test")
    assert (facts.not_before, facts.not_after) == (START.timestamp(), (START + timedelta(days=90)).timestamp())
    assert facts.name_count == 3
    assert (facts.chain_count, facts.chain_bytes, facts.chain) == (2, len(der) + 10, b"all of them")


def test_chain_that_was_not_seen() -> None:
    """Without the message no sizes are made up."""
    facts = read_leaf(certificate(ed25519.Ed25519PrivateKey.generate()), Chain()).facts

    assert (facts.chain_count, facts.chain_bytes, facts.chain) == (0, 0, b"")
    assert (facts.names, facts.name_count) == ((), 0)


def test_names_are_bounded(authority: Authority) -> None:
    """Of a certificate with thousands of names the first few hundred are kept, and all are counted and looked up."""
    many = authority.issue("many", now=datetime.now(UTC), names=[f"n{number}.test" for number in range(2000)])
    der = ssl.PEM_cert_to_DER_cert(many.certificate_file.read_text())
    leaf = read_leaf(der, Chain())

    assert (len(leaf.facts.names), leaf.facts.name_count) == (256, 2000 + len(LOOPBACK_HOSTS))
    assert leaf.holds("n1999.test")
    assert leaf.holds("n2000.test") is False


def test_facts_are_read_once(leaf: Leaf) -> None:
    """The same certificate again is not parsed again."""
    der = ssl.PEM_cert_to_DER_cert(leaf.certificate_file.read_text())

    assert read_leaf(der, Chain((9,))) is read_leaf(bytes(bytearray(der)), Chain((9,)))


@pytest.mark.parametrize(
    "der",
    [
        pytest.param(b"no certificate", id="no certificate"),
        pytest.param(
            certificate(ec.generate_private_key(ec.SECP256R1()), x509.DNSName("a.test")).replace(
                b"a.test", b"\xff.test"
            ),
            id="a name that is not ASCII",
        ),
    ],
)
def test_names_that_cannot_be_read(der: bytes) -> None:
    """Where the names cannot be read, nothing is said of whether one matches."""
    assert read_leaf(der, Chain()).holds("shop.test") is None


@examples(max_examples=400, deadline=None)
@given(
    der=st.one_of(
        st.binary(max_size=100),
        st.tuples(st.integers(0, len(_GOOD) - 1), st.integers(0, 255)).map(
            lambda bent: _GOOD[: bent[0]] + bytes((bent[1],)) + _GOOD[bent[0] + 1 :]
        ),
    )
)
def test_no_certificate_raises(der: bytes) -> None:
    """Any bytes at all have a fingerprint, and fields that cannot be read stay empty."""
    leaf = read_leaf(der, Chain((len(der),)))
    facts = leaf.facts

    assert facts.fingerprint == sha256(der).digest()
    assert facts.chain_bytes == len(der)
    assert leaf.holds("shop.test") in {True, False, None}
