"""The TLS contexts of the measuring client."""

import ssl

from exporter.model.target import TlsVersion

_VERSIONS = {TlsVersion.TLS12: ssl.TLSVersion.TLSv1_2, TlsVersion.TLS13: ssl.TLSVersion.TLSv1_3}


def trust(ca: str, version: TlsVersion, ciphers: str = "") -> ssl.SSLContext:
    """Return a context that verifies against a CA and speaks one version.

    Args:
        ca: PEM.
        ciphers: those of TLS 1.2 that are offered, in OpenSSL's words; the usual ones if "".
    """
    return _bind(ssl.create_default_context(cadata=ca), version, ciphers)


def accept(version: TlsVersion) -> ssl.SSLContext:
    """Return a context that takes any certificate, and checks only that the server holds its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return _bind(context, version, "")


def _bind(context: ssl.SSLContext, version: TlsVersion, ciphers: str) -> ssl.SSLContext:
    context.minimum_version = context.maximum_version = _VERSIONS[version]
    context.set_alpn_protocols(["http/1.1"])
    if ciphers:
        context.set_ciphers(ciphers)
    return context
