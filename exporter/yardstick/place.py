"""A server that can be measured: where it is, how to speak to it, and what it has used so far."""

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from exporter.model.target import Address

_SETTLE_SECONDS = 2.0


class Meter(NamedTuple):
    """What a server has used since it was started.

    Attributes:
        cpu: processor seconds, user and system.
        finished: connections that it is done with.
    """

    cpu: float
    finished: int


class MeterError(Exception):
    """A server did not get done with its connections, so what they cost it cannot be told."""


@dataclass(frozen=True, slots=True)
class Place:
    """One server.

    Attributes:
        context: the client's, None for plain HTTP.
        read_meter: reads what the server has used, all its threads and nothing else.
    """

    address: Address
    context: ssl.SSLContext | None
    server_name: str
    read_meter: Callable[[], Meter] = field(repr=False)

    def settle(self, before: Meter, connections: int) -> float:
        """Return the processor seconds since `before`, once the server is done with so many more connections.

        Raises:
            MeterError: it was not within two seconds.
        """
        due = before.finished + connections
        end = time.monotonic() + _SETTLE_SECONDS
        while (now := self.read_meter()).finished < due:
            if time.monotonic() > end:
                raise MeterError(f"{self.address}: {now.finished - before.finished} of {connections} connections done")
        return now.cpu - before.cpu
