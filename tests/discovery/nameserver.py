"""A name server on loopback that knows SRV records, and can keep silent or answer wrong."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import dns.asyncresolver
import dns.flags
import dns.message
import dns.rcode
import dns.rrset


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """The server.

    Attributes:
        records: the text of the SRV records of each name, such as `0 5 443 a.example.`.
        code: an error that it gives instead of records.
        silent: names that get no answer.
        asked: the names that it was asked for.
    """

    records: dict[str, Sequence[str]] = field(default_factory=dict)
    code: dns.rcode.Rcode = dns.rcode.NOERROR
    silent: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    port: int = 0
    _transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = cast("asyncio.DatagramTransport", transport)  # not one by its bases until Python 3.12
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer one query."""
        query = dns.message.from_wire(data)
        name = query.question[0].name.to_text()
        self.asked.append(name)
        if name in self.silent:
            return
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        found = self.records.get(name)
        if self.code or found is None:
            answer.set_rcode(self.code or dns.rcode.NXDOMAIN)
        elif found:
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "SRV", *found))
        assert self._transport is not None
        self._transport.sendto(answer.to_wire(), addr)

    def resolver(self) -> dns.asyncresolver.Resolver:
        """Return a resolver that asks this server alone, with a search list as in a pod."""
        resolver = dns.asyncresolver.Resolver(configure=False)
        resolver.nameservers, resolver.port = ["127.0.0.1"], self.port
        resolver.search = [dns.name.from_text(each) for each in ("shop.svc.cluster.local.", "cluster.local.")]
        resolver.ndots = 5
        return resolver


@asynccontextmanager
async def serve() -> AsyncIterator[NameServer]:
    """Give a server."""
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 0))
    try:
        yield server
    finally:
        transport.close()
