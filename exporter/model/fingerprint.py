"""Numbers that stand for a ticket key's name, so that the name itself never leaves the process."""

from hashlib import blake2b

SALT = b"tlsprobe"


def fingerprint(key_name: bytes, salt: bytes = SALT) -> int:
    """Return a salted 32-bit number for a key name, the same in every process that uses the same salt.

    The salt holds at most 16 bytes (RFC 7693 section 2.8); a longer one is a ValueError.
    """
    return int.from_bytes(blake2b(key_name, digest_size=4, salt=salt).digest(), "big")


def salt_of(text: str) -> bytes:
    """Return a salt of 16 bytes that stands for a text of any length."""
    return blake2b(text.encode(), digest_size=16).digest()


def digest(key_name: bytes, salt: bytes = SALT) -> str:
    """Return a salted 128-bit number for a key name in hex, for files, where 32 bits could meet by chance."""
    return blake2b(key_name, digest_size=16, salt=salt).hexdigest()
