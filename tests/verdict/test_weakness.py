"""Weak ticket keys are found in the ticket's bytes, and keys chosen at random never are."""

import hmac
from dataclasses import dataclass
from hashlib import sha512
from random import Random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from exporter.model.observation import Ticket
from exporter.model.verdicts import Weakness
from exporter.verdict.weakness import weakness_of

TAGS = {"sha256": 32, "sha384": 48, "sha1": 20}
TLS12, TLS13 = b"\x03", b"\x04"


@dataclass(frozen=True)
class Key:
    """A ticket key as a server holds it.

    Attributes:
        hash: of the HMAC.
        measured: the ciphertext's length stands before it (RFC 5077 section 4), as GnuTLS writes it.
        streamed: AES-CTR instead of AES-CBC, as Go does it; from 1.21 on without the name.
    """

    name: bytes
    cipher: bytes
    mac: bytes
    hash: str = "sha256"
    measured: bool = False
    streamed: bool = False


def session(size: int, version: bytes = TLS13) -> bytes:
    """Return the DER form of an OpenSSL session, as far as it matters, of about `size` bytes."""
    body = b"\x02\x01\x01\x02\x02\x03" + version + b"\x04\x02\x13\x02\x04\x20" + bytes(range(1, size - 15))
    length = len(body).to_bytes(1, "big") if len(body) < 128 else b"\x81" + len(body).to_bytes(1, "big")
    return b"\x30" + length + body


def seal(key: Key, plain: bytes, chance: Random) -> Ticket:
    """Make a ticket of a session."""
    iv = chance.randbytes(16)
    if key.streamed:
        cipher = Cipher(algorithms.AES(key.cipher), modes.CTR(iv)).encryptor()
        sealed = cipher.update(plain)
    else:
        padder = PKCS7(128).padder()
        cipher = Cipher(algorithms.AES(key.cipher), modes.CBC(iv)).encryptor()
        sealed = cipher.update(padder.update(plain) + padder.finalize())
    length = len(sealed).to_bytes(2, "big") if key.measured else b""
    body = key.name + iv + length + sealed
    return Ticket(body + hmac.digest(key.mac, body, key.hash), lifetime=300)


def counting(first: int, size: int) -> bytes:
    """Return bytes that count up."""
    return bytes(range(first, first + size))


def file_of(content: bytes) -> Key:
    """Split a key file as nginx and HAProxy do it."""
    if len(content) == 48:
        return Key(content[:16], content[16:32], content[32:])
    return Key(content[:16], content[48:], content[16:48])


def random_key(chance: Random, **details: object) -> Key:
    """Return a key that nobody can guess, in one of the layouts."""
    strong = {"name": chance.randbytes(16), "cipher": chance.randbytes(32), "mac": chance.randbytes(32)}
    return Key(**(strong | details))  # type: ignore[arg-type]


_REPEATABLE = Random  # the tickets must be the same in every run
GO = sha512(bytes(32)).digest()
NAME, CIPHER, MAC = (bytes([number]) + bytes(range(200, 231)) for number in (1, 2, 3))
NAME = NAME[:16]
ZERO, GUESSABLE, ZERO_NAME = Weakness.ZERO_KEY, Weakness.GUESSABLE_KEY, Weakness.ZERO_NAME


@pytest.mark.parametrize("size", [60, 111, 112, 113, 200])
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param(file_of(bytes(48)), ZERO, id="file of 48 zeros"),
        pytest.param(file_of(bytes(80)), ZERO, id="file of 80 zeros"),
        pytest.param(Key(NAME, CIPHER, bytes(32)), ZERO, id="HMAC-SHA256 of zeros alone"),
        pytest.param(Key(NAME, CIPHER, bytes(48), "sha384"), ZERO, id="HMAC-SHA384 of zeros"),
        pytest.param(Key(NAME, CIPHER, bytes(20), "sha1"), ZERO, id="HMAC-SHA1 of zeros"),
        pytest.param(Key(bytes(16), bytes(32), bytes(16), "sha1", measured=True), ZERO, id="GnuTLS of CVE-2020-13777"),
        pytest.param(Key(NAME, bytes(32), MAC), ZERO, id="AES-256 of zeros alone"),
        pytest.param(Key(NAME, bytes(16), MAC), ZERO, id="AES-128 of zeros alone"),
        pytest.param(Key(NAME, bytes(32), MAC, "sha384"), ZERO, id="AES-256 of zeros, HMAC-SHA384"),
        pytest.param(Key(NAME, bytes(32), MAC, "sha1", measured=True), ZERO, id="AES-256 of zeros behind a length"),
        pytest.param(Key(GO[:16], GO[16:32], GO[32:48], streamed=True), ZERO, id="Go up to 1.20"),
        pytest.param(Key(b"", GO[16:32], GO[32:48], streamed=True), ZERO, id="Go from 1.21"),
        pytest.param(Key(NAME, CIPHER, b"1" * 16 + bytes(16)), GUESSABLE, id="HMAC of ones, seen in the wild"),
        pytest.param(Key(NAME, b"1" * 16 + bytes(16), MAC), GUESSABLE, id="AES of ones, seen in the wild"),
        pytest.param(Key(NAME, b"1" * 8 + bytes(8), MAC), GUESSABLE, id="AES-128 of ones"),
        pytest.param(Key(NAME, counting(0x10, 16), MAC), GUESSABLE, id="AES counting from 10"),
        pytest.param(Key(NAME, CIPHER, counting(0x20, 16) + bytes(16)), GUESSABLE, id="HMAC counting from 20"),
        pytest.param(Key(NAME, CIPHER, counting(0, 32)), GUESSABLE, id="HMAC counting from 0"),
        pytest.param(Key(NAME, counting(0, 16), MAC), GUESSABLE, id="AES counting from 0"),
        pytest.param(file_of(b"\xff" * 48), GUESSABLE, id="file of 48 bytes ff"),
        pytest.param(file_of(b"\xff" * 80), GUESSABLE, id="file of 80 bytes ff"),
        pytest.param(Key(NAME, b"\xff" * 16, MAC), GUESSABLE, id="AES of ff"),
        pytest.param(file_of(counting(0, 80)), GUESSABLE, id="file of 80 counting bytes"),
        pytest.param(file_of(counting(100, 48)), GUESSABLE, id="file of 48 bytes counting from 100"),
        pytest.param(file_of(b"changeit" * 6), GUESSABLE, id="file of 48 bytes, a word over and over"),
        pytest.param(file_of((b"secret\n" * 12)[:80]), GUESSABLE, id="file of 80 bytes, a line over and over"),
        pytest.param(Key(NAME, NAME, NAME * 2), GUESSABLE, id="the name is the key"),
        pytest.param(Key(bytes(16), CIPHER, MAC), ZERO_NAME, id="name of zeros"),
        pytest.param(Key(NAME, CIPHER, MAC), None, id="good key"),
        pytest.param(Key(NAME, CIPHER, MAC, "sha1", measured=True), None, id="good key of GnuTLS"),
        pytest.param(Key(NAME, bytes(15) + b"\1", MAC), None, id="nearly zeros"),
    ],
)
def test_known_keys(key: Key, expected: Weakness | None, size: int) -> None:
    """Each key that anyone can guess is told from one ticket, and no other key is."""
    chance = _REPEATABLE(size)
    assert expected is weakness_of(seal(key, session(size), chance))
    assert expected is weakness_of(seal(key, session(size, TLS12), chance))


@pytest.mark.parametrize(
    "details",
    [
        pytest.param({}, id="SHA-256"),
        pytest.param({"hash": "sha384"}, id="SHA-384"),
        pytest.param({"hash": "sha1", "measured": True}, id="GnuTLS"),
        pytest.param({"streamed": True}, id="Go"),
    ],
)
def test_random_keys(details: dict[str, object]) -> None:
    """Ten thousand tickets of keys chosen at random are never called weak."""
    chance = _REPEATABLE(20130604)
    found = {weakness_of(seal(random_key(chance, **details), session(112), chance)) for _ in range(2500)}
    assert {None} == found


def test_random_bytes() -> None:
    """Nothing is read into bytes that are no ticket at all, whatever their number."""
    chance = _REPEATABLE(20130605)
    found = {weakness_of(Ticket(chance.randbytes(size), lifetime=0)) for size in range(512) for _ in range(20)}
    assert {None} == found


@pytest.mark.parametrize("damage", [0, 16, 40, -40, -1], ids=["name", "iv", "ciphertext", "padding", "tag"])
def test_damaged_ticket(damage: int) -> None:
    """A proof by HMAC needs every byte of the ticket."""
    identity = bytearray(seal(Key(NAME, CIPHER, bytes(32)), session(111), _REPEATABLE(1)).identity)
    identity[damage] ^= 1
    assert weakness_of(Ticket(bytes(identity), lifetime=300)) is None


def test_padding_counts() -> None:
    """A plaintext that begins like a session but does not end in its padding proves nothing."""
    identity = bytearray(seal(Key(NAME, bytes(32), MAC), session(113), _REPEATABLE(1)).identity)
    identity[-32 - 17] ^= 0x40  # the last byte of the last block but one, so that of the padding too
    assert weakness_of(Ticket(bytes(identity), lifetime=300)) is None


def test_huge_ticket() -> None:
    """A ticket that would cost too much is let be."""
    assert weakness_of(Ticket(bytes(60_000), lifetime=300)) is None
