"""The small measurement that is made again and again: a tenth of a second of work or two."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from exporter.model.yardstick import Pair, Pass, Sample
from exporter.yardstick.client import Client
from exporter.yardstick.passes import Passes, Subject
from exporter.yardstick.place import Place
from exporter.yardstick.rates import Transfers, pair_requests, pair_reuse

_PASSES = 3
_REQUESTS = 30
_NEW = 2
_TRANSFER_BYTES = 1 << 20
_PAIRS = 4
_REST_SECONDS = 0.05
"""Between two pieces of work, so that a process with a small share of a processor is not used up at once."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a sample is taken of.

    Attributes:
        subjects: whose handshakes are measured.
        plain, tls: the same handler in clear and over TLS.
        used: tells the processor seconds of all that takes part so far, client and servers.
    """

    subjects: Sequence[Subject]
    plain: Place
    tls: Place
    used: Callable[[], float]


def take_sample(what: Range, rest: Callable[[float], None] = time.sleep) -> Sample:
    """Measure; what comes first in each part is thrown away, since caches are cold by then.

    Raises:
        OSError: a server does not answer.
        MeterError: it does not tell what it used.
    """
    began = what.used()
    client = Client()
    passes = Passes(client, what.subjects)
    passes.make()
    kept: list[Pass] = []
    for _ in range(_PASSES):
        rest(_REST_SECONDS)
        kept += passes.make()
    rest(_REST_SECONDS)
    requests = pair_requests(client, what.plain, what.tls, _REQUESTS, _PAIRS)
    rest(_REST_SECONDS)
    reuse = pair_reuse(client, what.tls, _NEW, _REQUESTS, _PAIRS)
    rest(_REST_SECONDS)
    transfers = _transfer(client, what)
    return Sample(tuple(kept), tuple(requests), tuple(reuse), tuple(transfers), what.used() - began)


def _transfer(client: Client, what: Range) -> list[Pair]:
    with closing(Transfers(client, (what.plain, what.tls))) as transfers:
        transfers.make(_TRANSFER_BYTES)
        turns = [transfers.make(_TRANSFER_BYTES) for _ in range(_PAIRS)]
    return [Pair(plain[1], tls[1]) for plain, tls in turns]
