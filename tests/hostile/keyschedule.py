"""The TLS 1.3 key schedule and record protection for TLS_AES_128_GCM_SHA256 (RFC 8446 sections 5.2 and 7.1)."""

import hashlib
import hmac
import struct
from enum import IntEnum

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SIZE = 32
"""Bytes of a SHA-256 digest, and so of every secret."""
MAX_FRAGMENT = 1 << 14


class Kind(IntEnum):
    """Record content types."""

    CHANGE_CIPHER_SPEC = 20
    ALERT = 21
    HANDSHAKE = 22
    APPLICATION_DATA = 23


def extract(salt: bytes, keying: bytes) -> bytes:
    """HKDF-Extract (RFC 5869 section 2.2)."""
    return hmac.digest(salt, keying, "sha256")


def expand_label(secret: bytes, label: bytes, context: bytes, length: int) -> bytes:
    """HKDF-Expand-Label for up to 32 bytes, which is one block of HKDF-Expand."""
    full = b"tls13 " + label
    info = struct.pack("!HB", length, len(full)) + full + bytes((len(context),)) + context
    return hmac.digest(secret, info + b"\x01", "sha256")[:length]


def derive(secret: bytes, label: bytes, transcript: bytes) -> bytes:
    """Derive-Secret over the handshake messages so far."""
    return expand_label(secret, label, hashlib.sha256(transcript).digest(), SIZE)


def finished(secret: bytes, transcript: bytes) -> bytes:
    """The verify_data of a Finished message, and in the same way a PSK binder (section 4.4.4)."""
    key = expand_label(secret, b"finished", b"", SIZE)
    return hmac.digest(key, hashlib.sha256(transcript).digest(), "sha256")


def plain_record(kind: Kind, fragment: bytes) -> bytes:
    """Frame a fragment of at most 16 KiB without protection."""
    return struct.pack("!BHH", kind, 0x0303, len(fragment)) + fragment


class Protection:
    """One direction's record protection under one traffic secret."""

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESGCM(expand_label(secret, b"key", b"", 16))
        self._vector = int.from_bytes(expand_label(secret, b"iv", b"", 12))
        self._sequence = 0

    def seal(self, kind: Kind, content: bytes) -> bytes:
        """Protect content of any length, in as many records as it takes."""
        pieces = (content[at : at + MAX_FRAGMENT] for at in range(0, len(content), MAX_FRAGMENT))
        return b"".join(self._seal_record(kind, piece) for piece in pieces)

    def _seal_record(self, kind: Kind, fragment: bytes) -> bytes:
        header = struct.pack("!BHH", Kind.APPLICATION_DATA, 0x0303, len(fragment) + 1 + 16)
        return header + self._cipher.encrypt(self._nonce(), fragment + bytes((kind,)), header)

    def open(self, header: bytes, body: bytes) -> tuple[Kind, bytes]:
        """Take the protection off one record; raises cryptography's InvalidTag where it is not genuine."""
        inner = self._cipher.decrypt(self._nonce(), body, header).rstrip(b"\0")
        return Kind(inner[-1]), inner[:-1]

    def _nonce(self) -> bytes:
        nonce = (self._vector ^ self._sequence).to_bytes(12)
        self._sequence += 1
        return nonce
