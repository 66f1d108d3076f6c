"""A stapled OCSP answer, asked for in a handshake of its own, since Python's ssl module never asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire.errors import alert_failure, other_version
from exporter.wire.ocsp import read_staple
from exporter.wire.records import HEADER_BYTES, ClearMessages, plausible
from exporter.wire.tls import Step
from exporter.wire.transcript import WIRE_VERSIONS, Transcript

if TYPE_CHECKING:
    from exporter.wire.pyopenssl import Turn

__all__ = ["StapleClient", "read_staple"]

_MOST_BYTES = 1 << 20
_FLOODED = Failure(Stage.HANDSHAKE, Reason.MESSAGE_TOO_LARGE, "1 MiB without an end of the handshake")


class StapleClient:
    """One handshake that asks for a stapled answer; it never raises for what the peer sends.

    The certificate is not verified, for the ordinary probe does that; a client certificate is shown where one is set.

    Args:
        server_name: sent as SNI, unless it is an IP literal.

    Raises:
        OSError: the client certificate cannot be used, or the system allows no callback.
        ValueError: the name cannot be encoded.

    Attributes:
        staple: the OCSP response in DER form as it came, None before the handshake is done and where none came. It is
            b"" where the library could make no sense of what came, and ended the handshake.
        leaf: the server's certificate in DER form, None before the handshake is done.
        started: whether any byte of the peer's came.
    """

    def __init__(self, settings: TlsSettings, version: TlsVersion, server_name: str) -> None:
        # A process that never asks is not to pay the memory of the library.
        from exporter.wire.pyopenssl import AskingConnection  # noqa: PLC0415

        self.staple: bytes | None = None
        self.leaf: bytes | None = None
        self.started = False
        tls13 = version is TlsVersion.TLS13
        self._wire_version = WIRE_VERSIONS[version]
        self._tls = AskingConnection(settings, version, server_name)
        self._clear = ClearMessages(tls13=tls13)
        self._transcript = Transcript(tls13=tls13, offering=False)
        self._start = b""
        self._received = 0
        self._last: Step | None = None

    def start(self) -> Step:
        """Return the ClientHello."""
        return self._step(self._tls.shake())

    def receive(self, data: bytes) -> Step:
        """Take bytes from the peer; what comes behind the handshake's end is not read."""
        if self._last is not None:
            return self._last
        self.started = self.started or bool(data)
        self._received += len(data)
        if self._received > _MOST_BYTES:
            return self._end(Step(failure=_FLOODED))
        if len(self._start) < HEADER_BYTES:
            self._start += data[:HEADER_BYTES]
        self._transcript.heard.extend(self._clear.feed(data))
        self._transcript.settle()
        return self._step(self._tls.shake(data))

    def receive_eof(self) -> Step:
        """Take the end of the peer's bytes: a failure before the handshake is done, nothing new after it."""
        if self._last is not None:
            return self._last
        reason = Reason.CLOSED if plausible(self._start) else Reason.NOT_TLS
        return self._end(Step(failure=Failure(Stage.HANDSHAKE, reason)))

    def close(self, words: bytes = b"") -> bytes:
        """Return last words and close_notify, or b"" before the handshake is done or after a failure."""
        return self._tls.close(words) if self._last is not None and self._last.done else b""

    def _step(self, turn: Turn) -> Step:
        if turn.refused:
            self.staple, self.leaf = b"", self._tls.leaf
            return self._end(Step(send=turn.send, done=True))
        if turn.failure is not None:
            return self._end(Step(send=turn.send, failure=self._explain(turn.failure)))
        if not turn.done:
            return Step(send=turn.send)
        self.staple, self.leaf = self._tls.staple, self._tls.leaf
        return self._end(Step(send=turn.send, done=True))

    def _explain(self, failure: Failure) -> Failure:
        """Say more than the library can, by what was read in clear."""
        if not plausible(self._start):
            return Failure(Stage.HANDSHAKE, Reason.NOT_TLS)
        if self._transcript.alert is not None:
            return alert_failure(self._transcript.alert)
        if self._transcript.version not in {0, self._wire_version}:
            return other_version(self._transcript.version)
        return failure

    def _end(self, step: Step) -> Step:
        """Return the last step; calls after it get the same again, with nothing more to send."""
        self._last = Step(done=step.done, failure=step.failure)
        return step
