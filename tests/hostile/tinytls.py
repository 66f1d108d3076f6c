"""A TLS 1.3 server small enough to misbehave on purpose: x25519, TLS_AES_128_GCM_SHA256 and P-256 certificates alone.

It follows RFC 8446 wherever it is not told to stray, and keeps the tickets that it issues, so that it can resume.
"""

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from tests.hostile.keyschedule import SIZE, Kind, Protection, derive, expand_label, extract, finished, plain_record
from tests.hostile.listener import Peer
from tests.servers.certificates import Leaf

_CLIENT_HELLO, _SERVER_HELLO, _NEW_SESSION_TICKET = 1, 2, 4
_ENCRYPTED_EXTENSIONS, _CERTIFICATE, _CERTIFICATE_VERIFY, _FINISHED = 8, 11, 15, 20
_X25519 = 0x001D
_ECDSA_SECP256R1_SHA256 = 0x0403
_PRE_SHARED_KEY, _EARLY_DATA, _SUPPORTED_VERSIONS, _KEY_SHARE = 41, 42, 43, 51
_CONTEXT = b" " * 64 + b"TLS 1.3, server CertificateVerify\0"  # section 4.4.3


class ClientLeftError(OSError):
    """The client closed, sent an alert, or sent what this server has no use for."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server shows and signs with.

    Attributes:
        certificate: the leaf in DER form; its issuer is what clients trust.
    """

    certificate: bytes
    key: ec.EllipticCurvePrivateKey = field(repr=False)

    @classmethod
    def load(cls, leaf: Leaf) -> Self:
        """Read the files of an ECDSA P-256 leaf."""
        certificate = x509.load_pem_x509_certificate(leaf.certificate_file.read_bytes())
        key = serialization.load_pem_private_key(leaf.key_file.read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        return cls(certificate.public_bytes(serialization.Encoding.DER), key)


@dataclass(frozen=True, slots=True)
class Hello:
    """What this server needs of a ClientHello.

    Attributes:
        raw: the message with its header.
        truncated: how many of its bytes the binder covers; all of them where nothing was offered.
        share: the client's x25519 key share.
        offered: the first ticket in pre_shared_key, None without one.
        binder: the binder that goes with it.
    """

    raw: bytes
    truncated: int
    session_id: bytes
    share: bytes
    offered: bytes | None
    binder: bytes


class Connection:
    """A finished handshake, in the hands of a script."""

    def __init__(self, wire: "Wire", resumption: bytes, issued: dict[bytes, bytes], *, resumed: bool) -> None:
        self.resumed = resumed
        self._wire = wire
        self._resumption = resumption
        self._issued = issued
        self._nonce = 0

    @property
    def peer(self) -> Peer:
        """The connection below, for scripts that leave TLS."""
        return self._wire.peer

    def ticket(self, identity: bytes, lifetime: int = 7200, max_early_data: int | None = None) -> bytes:
        """Issue a ticket; returns the records of its NewSessionTicket, for send_raw() (section 4.6.1)."""
        self._nonce += 1
        nonce = struct.pack("!I", self._nonce)
        self._issued[identity] = expand_label(self._resumption, b"resumption", nonce, SIZE)
        early = b"" if max_early_data is None else _extension(_EARLY_DATA, struct.pack("!I", max_early_data))
        body = struct.pack("!I", lifetime) + os.urandom(4) + _vector8(nonce) + _vector16(identity) + _vector16(early)
        return self._wire.seal(Kind.HANDSHAKE, _message(_NEW_SESSION_TICKET, body))

    def data(self, content: bytes) -> bytes:
        """Give the records of application data, for send_raw()."""
        return self._wire.seal(Kind.APPLICATION_DATA, content)

    def send_raw(self, *records: bytes) -> None:
        """Send records as they are, in one piece."""
        self.peer.sock.sendall(b"".join(records))

    def send_alert(self, number: int, level: int = 2) -> None:
        """Send an alert; number 0 with level 1 is close_notify."""
        self.send_raw(self._wire.seal(Kind.ALERT, bytes((level, number))))

    def receive(self) -> bytes:
        """Read one record of application data; raises ClientLeftError where something else comes."""
        kind, content = self._wire.read_record()
        if kind is not Kind.APPLICATION_DATA:
            raise ClientLeftError(f"a record of type {kind} came")
        return content


class Wire:
    """Records over a blocking socket, in clear until protections are set."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.reading: Protection | None = None
        self.writing: Protection | None = None
        self._file = peer.sock.makefile("rb")

    def read_record(self) -> tuple[Kind, bytes]:
        """Read the next record that is not a change_cipher_spec; raises ClientLeftError at the end of the stream."""
        header = self._read_exactly(5)
        kind, size = Kind(header[0]), int.from_bytes(header[3:])
        body = self._read_exactly(size)
        if kind is Kind.CHANGE_CIPHER_SPEC:
            return self.read_record()
        return self.reading.open(header, body) if self.reading else (kind, body)

    def read_message(self, expected: int) -> bytes:
        """Read one handshake message, of several records where it is long; raises ClientLeftError for any other."""
        message = b""
        while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4]):
            kind, fragment = self.read_record()
            if kind is not Kind.HANDSHAKE:
                raise ClientLeftError(f"a record of type {kind} came within the handshake")
            message += fragment
        if message[0] != expected:
            raise ClientLeftError(f"handshake message {message[0]} came instead of {expected}")
        return message

    def seal(self, kind: Kind, content: bytes) -> bytes:
        """Frame content, protected where protection is on."""
        return self.writing.seal(kind, content) if self.writing else plain_record(kind, content)

    def _read_exactly(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise ClientLeftError("the stream ended")
        return data


class TinyServer:
    """A script for `listening`: does a handshake, resumed where it can, and hands the connection to `after`.

    Args:
        identity: what it shows.
        after: what to do once the handshake is done.
        accept: whether offered tickets of its own are accepted; a full handshake is done otherwise.
        offer_alert: the fatal alert with which any offered ticket is answered instead, as a broken server does.
    """

    def __init__(
        self,
        identity: Identity,
        after: Callable[[Connection], None],
        *,
        accept: bool = True,
        offer_alert: int | None = None,
    ) -> None:
        self._identity = identity
        self._after = after
        self._accept = accept
        self._offer_alert = offer_alert
        self._issued: dict[bytes, bytes] = {}

    def __call__(self, peer: Peer) -> None:
        """Play one connection."""
        wire = Wire(peer)
        hello = _parse_hello(wire.read_message(_CLIENT_HELLO))
        if hello.offered is not None and self._offer_alert is not None:
            peer.sock.sendall(plain_record(Kind.ALERT, bytes((2, self._offer_alert))))
            peer.linger()
            return
        self._after(self._shake(wire, hello))

    def _shake(self, wire: Wire, hello: Hello) -> Connection:
        key = self._resumable(hello)
        early = extract(bytes(SIZE), key or bytes(SIZE))
        private = X25519PrivateKey.generate()
        shared = private.exchange(X25519PublicKey.from_public_bytes(hello.share))
        handshake = extract(derive(early, b"derived", b""), shared)
        server_hello = _server_hello(hello, _public(private), resumed=key is not None)
        transcript = hello.raw + server_hello
        client_secret = derive(handshake, b"c hs traffic", transcript)
        server_secret = derive(handshake, b"s hs traffic", transcript)

        clear = wire.seal(Kind.HANDSHAKE, server_hello)
        wire.writing, wire.reading = Protection(server_secret), Protection(client_secret)
        flight = _message(_ENCRYPTED_EXTENSIONS, _vector16(b""))
        flight += b"" if key else self._authenticate(transcript + flight)
        flight += _message(_FINISHED, finished(server_secret, transcript + flight))
        wire.peer.sock.sendall(clear + wire.seal(Kind.HANDSHAKE, flight))
        transcript += flight

        master = extract(derive(handshake, b"derived", b""), bytes(SIZE))
        wire.writing = Protection(derive(master, b"s ap traffic", transcript))
        answer = wire.read_message(_FINISHED)
        if answer[4:] != finished(client_secret, transcript):
            raise ClientLeftError("the client's Finished is wrong")
        wire.reading = Protection(derive(master, b"c ap traffic", transcript))
        resumption = derive(master, b"res master", transcript + answer)
        return Connection(wire, resumption, self._issued, resumed=key is not None)

    def _resumable(self, hello: Hello) -> bytes | None:
        """Look up the key of an offered ticket; None where a full handshake is due (section 4.2.11)."""
        key = self._issued.get(hello.offered) if self._accept and hello.offered is not None else None
        if key is None:
            return None
        binder_key = derive(extract(bytes(SIZE), key), b"res binder", b"")
        return key if hello.binder == finished(binder_key, hello.raw[: hello.truncated]) else None

    def _authenticate(self, transcript: bytes) -> bytes:
        entry = _vector24(self._identity.certificate) + _vector16(b"")
        certificate = _message(_CERTIFICATE, _vector8(b"") + _vector24(entry))
        digest = hashes.Hash(hashes.SHA256())
        digest.update(transcript + certificate)
        signature = self._identity.key.sign(_CONTEXT + digest.finalize(), ec.ECDSA(hashes.SHA256()))
        body = struct.pack("!H", _ECDSA_SECP256R1_SHA256) + _vector16(signature)
        return certificate + _message(_CERTIFICATE_VERIFY, body)


class _Reader:
    """Takes big-endian fields off the front of a message."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, size: int) -> bytes:
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))

    def vector(self, prefix: int) -> bytes:
        return self.take(self.number(prefix))


def _parse_hello(raw: bytes) -> Hello:
    body = _Reader(raw[4 + 2 + 32 :])  # header, legacy_version, random
    session_id, _suites, _compression = body.vector(1), body.vector(2), body.vector(1)
    extensions = _Reader(body.vector(2))
    found: dict[int, bytes] = {}
    while extensions.data:
        kind = extensions.number(2)
        found[kind] = extensions.vector(2)
    shares = _Reader(_Reader(found.get(_KEY_SHARE, b"")).vector(2))
    share = b""
    while shares.data and not share:
        group, value = shares.number(2), shares.vector(2)
        share = value if group == _X25519 else b""
    if not share:
        raise ClientLeftError("the client sent no x25519 share")
    if _PRE_SHARED_KEY not in found:
        return Hello(raw, len(raw), session_id, share, None, b"")
    offer = _Reader(found[_PRE_SHARED_KEY])
    identity = _Reader(offer.vector(2)).vector(2)
    truncated = len(raw) - len(offer.data)  # the extension is the last one, and the binders are its end
    return Hello(raw, truncated, session_id, share, identity, _Reader(offer.vector(2)).vector(1))


def _server_hello(hello: Hello, share: bytes, *, resumed: bool) -> bytes:
    extensions = _extension(_SUPPORTED_VERSIONS, b"\x03\x04")
    extensions += _extension(_KEY_SHARE, struct.pack("!H", _X25519) + _vector16(share))
    if resumed:
        extensions += _extension(_PRE_SHARED_KEY, b"\0\0")
    body = b"\x03\x03" + os.urandom(32) + _vector8(hello.session_id) + b"\x13\x01" + b"\0" + _vector16(extensions)
    return _message(_SERVER_HELLO, body)


def _public(private: X25519PrivateKey) -> bytes:
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    return private.public_key().public_bytes(*raw)


def _message(kind: int, body: bytes) -> bytes:
    return bytes((kind,)) + _vector24(body)


def _extension(kind: int, body: bytes) -> bytes:
    return struct.pack("!H", kind) + _vector16(body)


def _vector8(data: bytes) -> bytes:
    return bytes((len(data),)) + data


def _vector16(data: bytes) -> bytes:
    return struct.pack("!H", len(data)) + data


def _vector24(data: bytes) -> bytes:
    return len(data).to_bytes(3) + data
