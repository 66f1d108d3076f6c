"""The way to a backend, up to where TLS begins."""

import asyncio
from dataclasses import replace

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Target
from exporter.probe import errors
from exporter.probe.connection import Connection
from exporter.probe.talk import precede
from exporter.wire.prelude import prelude
from exporter.wire.prelude.advice import likely


async def connect(target: Target, backend: Address) -> Connection | Failure:
    """Open a connection to the backend, or to the proxy on the way to it; the caller closes it."""
    peer = backend
    if target.proxy is not None:
        if not isinstance(target.proxy, Address):
            return Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, f"proxy {target.proxy}")
        peer = target.proxy
    try:
        return await Connection.open(peer, asyncio.get_running_loop().time() + target.timeout)
    except TimeoutError:
        failure = Failure(Stage.CONNECT, Reason.TIMEOUT)
    except OSError as error:
        failure = errors.explain_connect(error)
    return failure if target.proxy is None else replace(failure, detail=f"at the proxy {peer}")


async def lead_to_tls(target: Target, backend: Address, connection: Connection) -> Failure | None:
    """Say what goes ahead of TLS; return why TLS cannot follow, if it cannot."""
    if target.proxy is None and target.proxy_protocol is None and target.starttls is None:
        return None
    try:
        ahead = prelude(target, backend, *connection.ends())
    except OSError as error:
        return errors.explain_connect(error)
    failure = await precede(ahead, connection) if ahead else None
    return advise(target, failure, started=ahead.started) if ahead and failure else failure


def advise(target: Target, failure: Failure, *, started: bool) -> Failure:
    """Add to a failure's words what is likely behind it.

    Args:
        started: whether any byte of the peer's came in the stage that failed.
    """
    words = likely(target, failure, started)
    return replace(failure, detail=f"{failure.detail}: {words}" if failure.detail else words) if words else failure
