"""The TLS contexts of the reference's listeners."""

import os
import ssl
from collections.abc import Mapping
from ssl import TLSVersion

from exporter.reference.listeners import Handover, Listener


def make_contexts(handover: Handover) -> Mapping[Listener, ssl.SSLContext | None]:
    """Return each listener's context, None for plain HTTP; raise OSError or ssl.SSLError where the keys do not load."""
    shared = _context(handover.ecdsa, TLSVersion.TLSv1_2, TLSVersion.TLSv1_3)
    silent = _context(handover.ecdsa, TLSVersion.TLSv1_3, TLSVersion.TLSv1_3)
    silent.num_tickets = 0
    contexts = {
        Listener.PLAIN: None,
        Listener.A: shared,
        Listener.B: shared,
        Listener.C: _context(handover.ecdsa, TLSVersion.TLSv1_2, TLSVersion.TLSv1_3),
        Listener.ECDSA: _measured(handover.ecdsa, TLSVersion.TLSv1_3),
        Listener.RSA: _measured(handover.rsa, TLSVersion.TLSv1_3),
        Listener.TLS12: _context(handover.ecdsa, TLSVersion.TLSv1_2, TLSVersion.TLSv1_2),
        Listener.NO_TICKETS: silent,
    }
    if handover.own:
        contexts[Listener.OWN] = _measured(handover.own, TLSVersion.TLSv1_2)
    return contexts


def _measured(pem: str, lowest: TLSVersion) -> ssl.SSLContext:
    """Return the context of a listener whose handshakes are measured."""
    context = _context(pem, lowest, TLSVersion.TLSv1_3)
    # TLS 1.2 has one ticket for each handshake, so that the versions compare; each more costs as much as a signature.
    context.num_tickets = 1
    return context


def _context(pem: str, lowest: TLSVersion, highest: TLSVersion) -> ssl.SSLContext:
    """Each context has a ticket key of its own, which OpenSSL draws when the context is made."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = lowest
    context.maximum_version = highest
    context.set_alpn_protocols(["http/1.1"])
    load_chain(context, pem)
    return context


def load_chain(context: ssl.SSLContext, pem: str) -> None:
    """Load a private key and its certificates from memory.

    Raises:
        OSError: (ssl.SSLError among them) they are not usable, or the key is encrypted.
    """
    # The library loads keys from files only; this one has no name and no disk under it.
    file = os.memfd_create("reference")
    try:
        os.write(file, pem.encode())
        # An empty password makes an encrypted key an error; without one the library would ask on the terminal.
        context.load_cert_chain(f"/proc/self/fd/{file}", password="")
    finally:
        os.close(file)
