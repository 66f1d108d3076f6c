"""Asking a server for several requests on one connection."""

from dataclasses import replace

from exporter.model.connections import Reuse
from exporter.model.observation import Handshake
from exporter.model.target import Address, Target, TlsVersion
from exporter.probe.dial import Dialler
from exporter.probe.errand import Errand
from tests.fleets.watch import site
from tests.servers.certificates import Authority

H2 = ("h2", "http/1.1")


def offering(address: Address, authority: Authority, alpn: tuple[str, ...] = ("http/1.1",)) -> Target:
    """Return the site at an address, with these protocols offered."""
    target = site([address], authority)
    return replace(target, tls=replace(target.tls, alpn=alpn))


async def ask_again(
    target: Target, version: TlsVersion = TlsVersion.TLS13, *, requests: int = 5, large: bool = False
) -> Handshake:
    """Dial once, with so many requests in a row."""
    backend = Address(target.backends[0].host, target.backends[0].port)
    dialler = Dialler()
    try:
        dialled = await dialler.dial(target, backend, version, errand=Errand(http=True, requests=requests, large=large))
    finally:
        dialler.close()
    assert isinstance(dialled.outcome, Handshake), dialled.outcome
    assert dialled.outcome.verify_failure is None
    return dialled.outcome


def reuse_of(handshake: Handshake) -> Reuse:
    """Return what came of the further requests."""
    assert handshake.reuse is not None
    return handshake.reuse


def gist(handshake: Handshake) -> tuple[str, int, int, str]:
    """Return the protocol's version, attempts to use the connection again, how many went well, and how it ended."""
    reuse = reuse_of(handshake)
    answers = (handshake.http, *reuse.answers)
    versions = {getattr(answer, "version", "none") for answer in answers}
    return ", ".join(sorted(versions)), reuse.attempts, len(reuse.answers), reuse.end
