"""What goes ahead of the ClientHello: a tunnel through a proxy, the PROXY protocol's header, a dialogue in clear."""

from dataclasses import dataclass

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, Target
from exporter.wire.prelude.conversation import Conversation, RefusalError, Waiting
from exporter.wire.prelude.dialogues import DIALOGUES
from exporter.wire.prelude.proxy_header import header
from exporter.wire.prelude.tunnel import ask_tunnel

__all__ = ["Prelude", "PreludeStep", "header", "prelude"]


@dataclass(frozen=True, slots=True)
class PreludeStep:
    """What came of one call.

    Attributes:
        send: must go out now.
        done: TLS begins, behind what is to be sent.
        failure: why it will not begin; its stage is `proxy` or `starttls`.
        pending: bytes that came behind a proxy's yes and belong to TLS; told when done.
    """

    send: bytes = b""
    done: bool = False
    failure: Failure | None = None
    pending: bytes = b""


class Prelude:
    """All that is said on one connection ahead of TLS; it never raises for what the peer sends.

    Attributes:
        stage: what is going on: the stage of a failure, a timeout among them, that is noticed outside.
    """

    def __init__(self, target: Target, backend: Address, own: Endpoint, peer: Endpoint) -> None:
        """Plan it, for a socket from `own` to `peer`, which is the proxy where there is one and else the backend."""
        self.stage = Stage.PROXY if target.proxy else Stage.STARTTLS
        self._conversation = Conversation()
        self._course = self._run(target, backend, own, peer)
        self._last: PreludeStep | None = None

    @property
    def started(self) -> bool:
        """Whether any byte of the peer's came in this stage."""
        return self._conversation.heard > 0

    def start(self) -> PreludeStep:
        """Say what is said first; call it once, before all else."""
        return self._advance()

    def receive(self, data: bytes) -> PreludeStep:
        """Take bytes of the peer's."""
        if self._last is not None:
            return self._last
        self._conversation.put(data)
        return self._advance()

    def receive_eof(self) -> PreludeStep:
        """Take the end of the peer's bytes."""
        if self._last is not None:
            return self._last
        self._conversation.end()
        return self._advance()

    def _advance(self) -> PreludeStep:
        try:
            next(self._course)
        except StopIteration:
            pending = self._conversation.take_rest()
            step = PreludeStep(self._conversation.take_outgoing(), done=True, pending=pending)
            self._last = PreludeStep(done=True)
            return step
        except RefusalError as refusal:
            self._last = PreludeStep(failure=Failure(self.stage, refusal.reason, refusal.detail))
            return self._last
        return PreludeStep(self._conversation.take_outgoing())

    def _run(self, target: Target, backend: Address, own: Endpoint, peer: Endpoint) -> Waiting[None]:
        conversation = self._conversation
        if target.proxy is not None:
            yield from ask_tunnel(conversation, backend)
            self.stage = Stage.STARTTLS
        if target.proxy_protocol is not None:
            conversation.say(header(target.proxy_protocol, own, backend if target.proxy else peer))
        if target.starttls is not None:
            yield from DIALOGUES[target.starttls](conversation, own)
            if conversation.take_rest():
                # Whoever can write to the path in clear could have put it there (CVE-2011-0411).
                raise RefusalError(Reason.MALFORMED, "bytes in clear behind the server's yes: injected, maybe")


def prelude(target: Target, backend: Address, own: Endpoint, peer: Endpoint) -> Prelude | None:
    """Return what goes ahead of TLS on a new connection; None where nothing does.

    Args:
        target: whose proxy, PROXY protocol and STARTTLS settings say what.
        backend: where the tunnel is to lead.
        own, peer: the socket's two ends, as IP literals.
    """
    if target.proxy is None and target.proxy_protocol is None and target.starttls is None:
        return None
    return Prelude(target, backend, own, peer)
