"""What is written down of ticket keys, so that a restart forgets none and counts none twice."""

from dataclasses import dataclass

from exporter.model.target import TlsVersion


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """One ticket key at one backend; every field is a plain JSON value.

    Attributes:
        backend: its address and port, such as `192.0.2.1:443` or `[2001:db8::1]:443`.
        digest: stands for the key's name, by `exporter.model.fingerprint.digest`.
        first_seen, last_seen: Unix time in seconds.
        current: the backend encrypts with it, as far as is known; False where it changed or the backend has left.
    """

    version: TlsVersion
    backend: str
    digest: str
    first_seen: float
    last_seen: float
    current: bool
