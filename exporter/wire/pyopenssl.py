"""A TLS client of pyOpenSSL that asks for a stapled OCSP answer: the one module that knows that library.

It brings the copy of OpenSSL that cryptography has, apart from Python's own. To import it and shake hands once takes 4
to 5 MiB, most of them pages of the library's file, so only those that need it should do so.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.dsa import DSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from OpenSSL import SSL, crypto

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire.context import CIPHERS
from exporter.wire.names import is_address, wire_name
from exporter.wire.records import ALERT

_VERSIONS = {TlsVersion.TLS12: SSL.TLS1_2_VERSION, TlsVersion.TLS13: SSL.TLS1_3_VERSION}
_KEYS = DSAPrivateKey | EllipticCurvePrivateKey | Ed25519PrivateKey | Ed448PrivateKey | RSAPrivateKey
_READ_BYTES = 1 << 16
_REFUSAL = bytes((ALERT, 3, 3, 0, 2, 2, 113))
"""Our own alert bad_certificate_status_response (RFC 8446 section 6.2), which goes out in clear."""
_NO_CALLBACK = (
    "no memory that can be written and run, which the library needs for it: allow that (systemd: "
    "MemoryDenyWriteExecute=no, SELinux: execmem), or set probe.staple to false"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """What the library made of the bytes so far.

    Attributes:
        send: must go out now.
        failure: what the library can say of it, which is not much.
        refused: whether it ended the handshake since it could not read the stapled answer.
    """

    send: bytes
    done: bool = False
    failure: Failure | None = None
    refused: bool = False


class AskingConnection:
    """One connection's handshake, over bytes in memory.

    Raises:
        OSError: the client certificate cannot be used, or the system allows no callback.
        ValueError: the name cannot be encoded.
    """

    def __init__(self, settings: TlsSettings, version: TlsVersion, server_name: str) -> None:
        self._answers: list[bytes] = []
        context = _context(settings.cert_file, settings.key_file, settings.alpn, version)
        self._tls = SSL.Connection(context, None)
        self._tls.set_app_data(self._answers)
        if not is_address(server_name):
            self._tls.set_tlsext_host_name(wire_name(server_name))
        self._tls.request_ocsp()
        self._tls.set_connect_state()

    def shake(self, received: bytes = b"") -> Turn:
        """Take bytes from the peer and go on with the handshake."""
        if received:
            self._tls.bio_write(received)
        try:
            self._tls.do_handshake()
        except SSL.WantReadError:
            return Turn(self._outgoing())
        except SSL.ZeroReturnError:
            return Turn(self._outgoing(), failure=Failure(Stage.HANDSHAKE, Reason.CLOSED, "close_notify"))
        except SSL.Error as error:
            send = self._outgoing()
            failure = Failure(Stage.HANDSHAKE, Reason.MALFORMED, _words(error))
            return Turn(send, failure=failure, refused=send.endswith(_REFUSAL))
        return Turn(self._outgoing(), done=True)

    def close(self, words: bytes = b"") -> bytes:
        """Return last words and close_notify; the handshake must be done."""
        with suppress(SSL.Error):
            if words:
                self._tls.sendall(words)
            self._tls.shutdown()
        return self._outgoing()

    @property
    def staple(self) -> bytes | None:
        """The OCSP response that came, if one did."""
        return self._answers[0] if self._answers else None

    @property
    def leaf(self) -> bytes | None:
        """The peer's certificate in DER form, once it has come."""
        certificate = self._tls.get_peer_certificate()
        return None if certificate is None else crypto.dump_certificate(crypto.FILETYPE_ASN1, certificate)

    def _outgoing(self) -> bytes:
        flight = b""
        with suppress(SSL.WantReadError):
            while True:
                flight += self._tls.bio_read(_READ_BYTES)
        return flight


@lru_cache(maxsize=16)
def _context(cert_file: str | None, key_file: str | None, alpn: tuple[str, ...], version: TlsVersion) -> SSL.Context:
    """Return the context for one way of asking; trust is no part of it, so most targets share one.

    Raises:
        OSError: a file cannot be read or holds nothing usable, or the system allows no callback.
    """
    context = SSL.Context(SSL.TLS_CLIENT_METHOD)
    context.set_min_proto_version(_VERSIONS[version])
    context.set_max_proto_version(_VERSIONS[version])
    context.set_cipher_list(CIPHERS.encode())
    _listen(context)
    if alpn:
        context.set_alpn_protos([protocol.encode() for protocol in alpn])
    if cert_file is not None:
        _show(context, cert_file, key_file or cert_file)
    return context


def _listen(context: SSL.Context) -> None:
    """Have answers told; cffi makes callbacks in memory that is both written and run, which hardened systems refuse."""
    try:
        context.set_ocsp_client_callback(_hear)
    except MemoryError:
        raise OSError(_NO_CALLBACK) from None


def _show(context: SSL.Context, cert_file: str, key_file: str) -> None:
    """Have a client certificate shown; a key that needs a password cannot be used."""
    try:
        context.use_certificate_chain_file(cert_file)
        key = load_pem_private_key(Path(key_file).read_bytes(), password=None)
        if not isinstance(key, _KEYS):
            raise OSError(f"{key_file}: a key of another kind than is known for certificates")
        context.use_privatekey(key)
        context.check_privatekey()
    except SSL.Error as error:
        raise OSError(f"{cert_file}: {_words(error)}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise OSError(f"{key_file}: {error}") from None


def _hear(tls: SSL.Connection, answer: bytes, _data: object) -> bool:
    """Keep the answer with its connection, and let the handshake go on whatever it is."""
    if answer:
        tls.get_app_data().append(answer)
    return True


def _words(error: SSL.Error) -> str:
    """Return the library's own reason, which stands last in the first of its entries."""
    entries = error.args[0] if error.args else ()
    return str(entries[0][-1]).lower() if isinstance(entries, list) and entries else "protocol error"
