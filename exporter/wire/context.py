"""One ssl.SSLContext for each way of asking, shared by all targets that ask so."""

import ssl
from collections.abc import Collection

from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire import tap
from exporter.wire.handles import Handle
from exporter.wire.names import wire_name

_VERSIONS = {TlsVersion.TLS12: ssl.TLSVersion.TLSv1_2, TlsVersion.TLS13: ssl.TLSVersion.TLSv1_3}

CIPHERS = "DEFAULT:@SECLEVEL=2"
"""What OpenSSL's own clients offer: the ssl module's list leaves out what some TLS 1.2 servers still need."""


class ClientContext:
    """An ssl.SSLContext with what it was made from; a session works only with the context that it came from.

    Raises:
        OSError: (ssl.SSLError among them) a file cannot be read or holds nothing usable.
    """

    def __init__(
        self, settings: TlsSettings, version: TlsVersion, *, verify: bool, attach: tap.Tap = tap.attach
    ) -> None:
        self.settings = settings
        self.version = version
        self.verify = verify
        self._library = _library_context(settings, version, verify=verify)
        # All that we read of TLS 1.2 is in clear, and reading it there is cheaper.
        self.tapped = version is TlsVersion.TLS13 and attach(self._library)

    def wrap(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_name: str, session: Handle | None
    ) -> ssl.SSLObject:
        """Return a connection.

        Raises:
            ValueError: the name is empty or cannot be encoded, or the library does not take the session.
        """
        tls = self._library.wrap_bio(incoming, outgoing, server_hostname=wire_name(server_name))
        if session is not None:
            session.put_into(tls)
        return tls


class Contexts:
    """The contexts of a process, each made when it is first asked for."""

    def __init__(self, attach: tap.Tap = tap.attach) -> None:
        self._attach = attach
        self._made: dict[tuple[TlsSettings, TlsVersion, bool], ClientContext] = {}
        self._wanted: frozenset[TlsSettings] | None = None

    def get(self, settings: TlsSettings, version: TlsVersion, *, verify: bool) -> ClientContext:
        """Return the context for these settings.

        Args:
            verify: whether a chain or name that does not verify ends the handshake; `settings.verify` is not looked at.

        Raises:
            OSError: (ssl.SSLError among them) a file cannot be read or holds nothing usable.
        """
        key = (settings, version, verify)
        context = self._made.get(key)
        if context is None:
            context = ClientContext(settings, version, verify=verify, attach=self._attach)
            # The files of settings that are out of use may hold what others were made of; they may come into use again.
            if self._wanted is None or settings in self._wanted:
                self._made[key] = context
        return context

    def keep(self, wanted: Collection[TlsSettings]) -> None:
        """Let go of the contexts of all other settings, and hold on to none that is asked for from now on.

        Connections and sessions that have one keep it.
        """
        self._wanted = frozenset(wanted)
        self._made = {key: context for key, context in self._made.items() if key[0] in wanted}


def _library_context(settings: TlsSettings, version: TlsVersion, *, verify: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = context.maximum_version = _VERSIONS[version]
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(CIPHERS)
    if settings.alpn:
        context.set_alpn_protocols(list(settings.alpn))
    if verify:
        _trust(context, settings)
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if settings.cert_file:
        # An empty password makes an encrypted key an error; without one the library would ask on the terminal.
        context.load_cert_chain(settings.cert_file, settings.key_file, password="")
    return context


def _trust(context: ssl.SSLContext, settings: TlsSettings) -> None:
    if settings.ca_file is None and settings.ca_pem is None:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
        return
    context.load_verify_locations(cafile=settings.ca_file, cadata=settings.ca_pem)
    # A bundle may hold an intermediate or the very leaf that is to be trusted.
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
