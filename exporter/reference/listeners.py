"""The listeners of the reference by name, and what the parent hands to the child that serves them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

SERVER_NAME = "reference.tlsprobe.internal"
"""What the certificates of the reference are for, beside 127.0.0.1."""


class Listener(StrEnum):
    """What is served; one handler answers on all of them."""

    PLAIN = "plain"
    """HTTP without TLS."""
    A = "a"
    """TLS 1.2 and 1.3 with an ECDSA P-256 certificate; A and B share their ticket key."""
    B = "b"
    C = "c"
    """The same certificate and versions as A and B, with a ticket key of its own."""
    ECDSA = "ecdsa"
    """TLS 1.3 alone, with that certificate; like those below it is there for measuring, and nobody else asks it."""
    RSA = "rsa"
    """TLS 1.3 with an RSA-2048 certificate."""
    TLS12 = "tls12"
    """TLS 1.2 alone, ECDSA P-256."""
    NO_TICKETS = "no_tickets"
    """TLS 1.3, ECDSA P-256, issues no tickets."""
    OWN = "own"
    """TLS 1.2 and 1.3 with a certificate that somebody brought along."""


STANDARD = tuple(listener for listener in Listener if listener is not Listener.OWN)
"""Those that need no certificate from elsewhere."""


@dataclass(frozen=True, slots=True)
class Handover:
    """All that the child needs, sent as one line of JSON on its standard input.

    Attributes:
        ports: where each listener serves on 127.0.0.1.
        ecdsa, rsa: PEM with the private key first and its certificate after it; kept in memory only.
        ca: PEM of the certificate that signed both.
        own: PEM like them for Listener.OWN, empty where that is not served.
    """

    ports: Mapping[Listener, int]
    ecdsa: str = field(repr=False)
    rsa: str = field(repr=False)
    ca: str = field(repr=False)
    own: str = field(default="", repr=False)

    def encode(self) -> bytes:
        """Return the line, its end included."""
        fields = {"ecdsa": self.ecdsa, "rsa": self.rsa, "ca": self.ca, "own": self.own}
        return json.dumps({"ports": dict(self.ports), **fields}).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> Self:
        """Read the line; raise ValueError or KeyError where it is not whole."""
        fields = json.loads(line)
        ports = {Listener(name): int(port) for name, port in fields["ports"].items()}
        return cls(ports, *(str(fields[name]) for name in ("ecdsa", "rsa", "ca", "own")))
