"""Ticket keys that anyone can guess, found from a ticket's bytes alone.

A ticket is read as RFC 5077 section 4 advises, and as OpenSSL, nginx, Apache, HAProxy, H2O, Envoy and GnuTLS write it:
16 bytes of name, 16 of IV, the session in AES-CBC, an HMAC over all of it; GnuTLS has the ciphertext's length in two
more bytes. Go up to 1.20 takes AES-CTR instead, and later ones leave the name out. The HMAC of a guessed key proves the
guess. Where only the cipher's key is known, as Hebrok et al. found at a large provider ("We Really Need to Talk About
Session Tickets", USENIX Security 2023), the plaintext must be the DER form of an OpenSSL session.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from exporter.model.observation import Ticket
from exporter.model.verdicts import Weakness

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

_NAME, _BLOCK = 16, 16
_HEAD = _NAME + _BLOCK  # name and IV
_SHORTEST = _HEAD + _BLOCK + 20
_LONGEST = 16 << 10  # a longer one would cost too much; a server can send a thousand of 60 KiB
_TAGS = (("sha256", 32), ("sha384", 48), ("sha1", 20))
_HASHES = {"sha256": hashlib.sha256, "sha384": hashlib.sha384, "sha1": hashlib.sha1}
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))

_EMPTY = b""  # HMAC pads keys with zeros (RFC 2104 section 2), so this is every key of zeros up to a block's size
_GO_ZERO = hashlib.sha512(bytes(32)).digest()[32:48]  # what crypto/tls makes of a SessionTicketKey of zeros
_ZEROS = (bytes(16), bytes(32))

# Seen in the wild by Hebrok et al., beside keys of one byte repeated and of bytes that count up. A file that is one
# pattern from end to end shows it in the name, too.
_MAC_KEYS = (b"1" * 16, bytes(range(0x20, 0x30)), bytes(range(0x20)))
_CIPHER_KEYS = (
    b"1" * 16 + bytes(16),
    b"1" * 8 + bytes(8),
    bytes(range(0x10, 0x20)),
    bytes(range(0x10)),
    bytes(range(0x20)),
    b"\xff" * 16,
    b"\xff" * 32,
)
# SSL_SESSION's head: SEQUENCE, its length, INTEGER 1, INTEGER 0x0303 or 0x0304 (openssl/ssl/ssl_asn1.c).
_SESSION = re.compile(rb"\x30(?:[\x00-\x7f]|\x81.|\x82..)\x02\x01\x01\x02\x02\x03[\x03\x04]", re.DOTALL)
_SEQUENCE = 0x30


class _Shape(NamedTuple):
    """One way of reading a ticket: which HMAC, where the ciphertext begins, and how long the tag is."""

    hash: str
    start: int
    tag: int


_GO = _Shape("sha256", _HEAD, 32)  # its ciphertext has any length


def weakness_of(ticket: Ticket) -> Weakness | None:
    """Say what is wrong with the key behind a ticket; None where its bytes show nothing.

    It takes about 25 us. A key that was chosen at random is never called weak: the shortest proof is an HMAC of 160
    bits, or 72 bits of known plaintext.
    """
    sealed = ticket.identity
    if not _SHORTEST <= len(sealed) <= _LONGEST:
        return None
    shapes = _shapes_of(sealed)
    if _made_with_zeros(sealed, shapes):
        return Weakness.ZERO_KEY
    guesses = (*_MAC_KEYS, *_guesses_from(sealed[:_NAME]))
    if _sealed_by(sealed, shapes[:1], guesses) or _opened_by(sealed, shapes, _CIPHER_KEYS):
        return Weakness.GUESSABLE_KEY
    return None if any(sealed[:_NAME]) else Weakness.ZERO_NAME


def _made_with_zeros(sealed: bytes, shapes: tuple["_Shape", ...]) -> bool:
    return (
        _sealed_by(sealed, shapes, (_EMPTY,))
        or _sealed_by(sealed, (_GO,), (_GO_ZERO,))
        or _opened_by(sealed, shapes, _ZEROS)
    )


def _shapes_of(sealed: bytes) -> tuple[_Shape, ...]:
    """Return the ways in which the ticket's length can be read, the most common first."""
    shapes = []
    for name, tag in _TAGS:
        body = len(sealed) - _HEAD - tag
        if body > 0 and body % _BLOCK == 0:
            shapes.append(_Shape(name, _HEAD, tag))
        elif body % _BLOCK == 2 and int.from_bytes(sealed[_HEAD : _HEAD + 2], "big") == body - 2 > 0:
            shapes.append(_Shape(name, _HEAD + 2, tag))
    return tuple(shapes)


def _guesses_from(name: bytes) -> Iterable[bytes]:
    """Return the HMAC's keys if their file went on as its name begins: repeated, or counting up.

    Of 48 bytes the HMAC's key are the second 16 (Apache) or the last 16 (nginx, HAProxy), of 80 bytes the first 32
    behind the name (nginx) or the last 32 (HAProxy).
    """
    if name[1] == (name[0] + 1) % 256 and name == bytes((name[0] + step) % 256 for step in range(_NAME)):
        file = bytes((name[0] + step) % 256 for step in range(80))
    elif name[0] in name[1:]:
        file = name[: next(step for step in range(1, _NAME + 1) if name[step:] == name[:-step])] * 80
    else:
        return name, name + name
    return {file[16:32], file[32:48], file[16:48], file[48:80]}


def _sealed_by(sealed: bytes, shapes: Iterable[_Shape], keys: Iterable[bytes]) -> bool:
    """Say whether the ticket's last bytes are the HMAC of the others, with one of these keys."""
    for shape in shapes:
        hash_ = _HASHES[shape.hash]
        body, end = sealed[: -shape.tag], sealed[-shape.tag :]
        for key in keys:
            inner, outer = _pads(shape.hash, key)
            if hash_(outer + hash_(inner + body).digest()).digest() == end:
                return True
    return False


@lru_cache(maxsize=32)
def _pads(hash_name: str, key: bytes) -> tuple[bytes, bytes]:
    """Return HMAC's two padded keys (RFC 2104 section 2): hashing behind them takes a third of hmac.digest's time."""
    padded = key.ljust(_HASHES[hash_name]().block_size, b"\0")
    return padded.translate(_INNER), padded.translate(_OUTER)


def _opened_by(sealed: bytes, shapes: tuple[_Shape, ...], keys: Iterable[bytes]) -> bool:
    """Say whether AES-CBC with one of these keys gives an OpenSSL session with its padding (RFC 5652 section 6.3)."""
    for start in {shape.start for shape in shapes}:
        iv, first = sealed[_NAME:_HEAD], sealed[start : start + _BLOCK]
        for key in keys:
            plain = _decryptor(key).update(first)
            if plain[0] ^ iv[0] == _SEQUENCE and _SESSION.match(_xor(plain, iv)):
                return any(_padded(sealed, key, shape) for shape in shapes if shape.start == start)
    return False


def _padded(sealed: bytes, key: bytes, shape: _Shape) -> bool:
    before, last = sealed[-shape.tag - 2 * _BLOCK : -shape.tag - _BLOCK], sealed[-shape.tag - _BLOCK : -shape.tag]
    if len(sealed) - shape.tag - shape.start == _BLOCK:
        before = sealed[_NAME:_HEAD]
    plain = _xor(_decryptor(key).update(last), before)
    return 1 <= plain[-1] <= _BLOCK and plain.endswith(plain[-1:] * plain[-1])


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).to_bytes(_BLOCK, "big")


@cache
def _decryptor(key: bytes) -> "CipherContext":
    """Return AES for single blocks, of which the block modes are made; it keeps no state from block to block."""
    # Here, so that a process that never sees a ticket does without the library.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415

    return Cipher(algorithms.AES(key), modes.ECB()).decryptor()  # noqa: S305 -- to read what is badly encrypted
