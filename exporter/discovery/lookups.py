"""Names for HTTP clients: an executor's thread that hangs in a lookup would hold up the process's end."""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from exporter.discovery.dns import Resolver
from exporter.model.target import Endpoint


class Lookups(AbstractResolver):
    """Looks names up as for targets; for ten minutes a failing name stands for what it stood for last."""

    def __init__(self, names: Resolver) -> None:
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host, of both families.

        Raises:
            OSError: it has none, or they could not be had.
        """
        addresses, failure = await self._names.find(Endpoint(host, port))
        if not addresses:
            raise OSError(str(failure))
        return [
            ResolveResult(
                hostname=host,
                host=address.host,
                port=port,
                family=socket.AF_INET6 if ":" in address.host else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in sorted(addresses)
        ]

    async def close(self) -> None:
        """Let go of nothing, since nothing is held."""
