"""A connection that is held open after its first answer."""

from exporter.model.connections import End
from exporter.probe.connection import Connection
from exporter.probe.requests import Answered, Requests
from exporter.probe.talk import part
from exporter.wire.tls import TlsClient


class Held:
    """A connection that is held open, with the answer to its first request; whoever holds it closes it.

    Attributes:
        last: what came of the last request.
    """

    def __init__(self, requests: Requests, first: Answered, engine: TlsClient, connection: Connection) -> None:
        self.last = first
        self._requests = requests
        self._engine = engine
        self._connection = connection

    @property
    def said_goodbye(self) -> bool:
        """Whether the server announced the connection's end."""
        return self._requests.said_goodbye

    async def ask(self, patience: float) -> Answered:
        """Send another request, which may take so many seconds."""
        self._connection.allow(patience)
        self.last = await self._requests.ask()
        return self.last

    async def rest(self, seconds: float) -> End | None:
        """Ask nothing for so long; return how the connection ended meanwhile, None if it did not."""
        self._connection.allow(seconds + 1.0)
        try:
            return await self._requests.rest(seconds)
        except OSError:
            return End.ERROR

    async def close(self) -> None:
        """Say goodbye and close."""
        try:
            await part(self._engine, self._connection, linger=False)
        finally:
            self._connection.close()
