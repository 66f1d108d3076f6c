"""TLS contexts of the web side, and whether a client's certificate bears a name that is let in."""

import ipaddress
import os
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from exporter.config.files import EncryptedKeyError, load_pair
from exporter.config.problem import RefusedError

_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True, slots=True)
class Choices:
    """All that makes one context differ from another, its certificates apart.

    Attributes:
        client: whether a client's certificate is asked for, and demanded.
        suites: OpenSSL's names, most wanted first; empty is the library's choice.
        ours_first: whether our order of suites counts.
        curve: OpenSSL's name of the only one; None is the library's choice.
    """

    lowest: str = "TLS12"
    highest: str = "TLS13"
    client: ssl.VerifyMode = ssl.CERT_NONE
    suites: Sequence[str] = field(default=())
    ours_first: bool = True
    curve: str | None = None


def make_context(choices: Choices) -> ssl.SSLContext:
    """Return a server's context that has no certificate yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[choices.lowest]
    context.maximum_version = _VERSIONS[choices.highest]
    context.set_alpn_protocols(["http/1.1"])
    if choices.suites:
        context.set_ciphers(":".join(choices.suites))
    if not choices.ours_first:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    if choices.curve is not None:
        context.set_ecdh_curve(choices.curve)
    context.verify_mode = choices.client
    if choices.client is not ssl.CERT_NONE:
        # A resumed session would let a client in whose certificate has expired meanwhile.
        context.num_tickets = 0
        context.options |= ssl.OP_NO_TICKET
    return context


def show_certificate(context: ssl.SSLContext, chain: bytes, key: bytes) -> None:
    """Let a context show a certificate; all is given in PEM, the key without a password.

    Raises:
        RefusedError: they cannot be read, or are no pair.
    """
    try:
        # The library reads files only. These are seen by no other process and need no disk.
        with _in_memory(chain) as chain_path, _in_memory(key) as key_path:
            load_pair(context, chain_path, key_path)
    except EncryptedKeyError:
        raise RefusedError("the private key is encrypted", "a private key without a password") from None
    except OSError as error:
        if not isinstance(error, ssl.SSLError):  # there is no /proc, or no descriptor left
            raise RefusedError(f"OpenSSL cannot be given the certificate: {error.strerror}") from None
        raise RefusedError("no pair", "a PEM certificate chain and its private key") from None


def trust_clients(context: ssl.SSLContext, authorities: bytes) -> None:
    """Let a context trust the clients that these authorities vouch for; they are given in PEM.

    Raises:
        RefusedError: there is no certificate in it.
    """
    try:
        context.load_verify_locations(cadata=authorities.decode("ascii", "replace"))
    except (ssl.SSLError, ValueError):
        raise RefusedError("no certificate that can be read", "certificates in PEM") from None


def bears_any(certificate: ssl.SSLObject, allowed: frozenset[str]) -> bool:
    """Return whether the peer's certificate has one of these as a subject alternative name, to the letter."""
    facts = certificate.getpeercert() or {}
    names = facts.get("subjectAltName", ())
    return any(_spelt(*pair) in allowed for pair in names if isinstance(pair, tuple) and len(pair) == 2)


def _spelt(kind: str, value: str) -> str:
    """Return a name as Go spells it, which shortens IPv6 addresses (RFC 5952)."""
    return str(ipaddress.ip_address(value.strip())) if kind == "IP Address" else value


@contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    descriptor = os.memfd_create("pem", os.MFD_CLOEXEC)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
