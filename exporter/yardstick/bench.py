"""The long measurement: each part for its share of the time, and at least a few turns of it."""

import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from exporter.model.bench import BulkRow, HandshakeRow, RateRow, Report, Role, SignatureRow
from exporter.model.target import TlsVersion
from exporter.model.yardstick import Operation, Pair
from exporter.yardstick.client import Client
from exporter.yardstick.company import Company, read_busy
from exporter.yardstick.handshakes import tabulate
from exporter.yardstick.passes import Passes, Subject
from exporter.yardstick.place import Place
from exporter.yardstick.rates import Transfers, pair_requests, pair_reuse
from exporter.yardstick.signatures import PrivateKey, Signatures
from exporter.yardstick.spread import summarise

_SHARES = {"handshakes": 0.6, "requests": 0.1, "reuse": 0.1, "bulk": 0.2}
_FEWEST_TURNS = 3
_BATCH = 12
_DROPPED_PASSES = 1
"""More than a hundred handshakes, which find threads and memory unprepared."""
_REQUESTS = 200
_NEW = 10
_TRANSFER_BYTES = 8 << 20
_SIGNATURES = 100

Tick = Callable[[float], object]
"""Told after each turn how many seconds it took."""


@dataclass(frozen=True, slots=True)
class Bulk:
    """A server for large bodies, and what is meant to encrypt them.

    Attributes:
        cipher: the name that must have been agreed on, "" in clear.
    """

    place: Place
    tls: TlsVersion | None
    cipher: str


@dataclass(frozen=True, slots=True)
class Field:
    """What is measured.

    Attributes:
        roles: what each subject is there for; ECDSA over TLS 1.3 comes first.
        bulk: in clear first.
        used: tells the processor seconds of all that takes part so far, client and servers.
        signer: a key of the user's whose signatures are priced, too, and what its type is called.
    """

    roles: Sequence[Role]
    subjects: Sequence[Subject]
    plain: Place
    tls: Place
    bulk: Sequence[Bulk]
    used: Callable[[], float]
    signer: tuple[str, PrivateKey] | None = None


def measure(field: Field, seconds: float, speed: Callable[[], float | None], tick: Tick) -> Report:
    """Measure for about so many seconds.

    Args:
        speed: tells the seconds for each GiB that the library alone needs, if it can be told.

    Raises:
        OSError: a server does not answer.
        MeterError: it does not tell what it used.
    """
    began = time.monotonic()
    company = Company(field.used, read_busy)
    client = Client()
    handshakes = _measure_handshakes(client, field, seconds * _SHARES["handshakes"], tick)
    requests = _measure_rates(
        lambda: pair_requests(client, field.plain, field.tls, _REQUESTS, 2), seconds * _SHARES["requests"], tick
    )
    reuse = _measure_rates(lambda: pair_reuse(client, field.tls, _NEW, _REQUESTS, 2), seconds * _SHARES["reuse"], tick)
    bulk, missing = _measure_bulk(client, field.bulk, seconds * _SHARES["bulk"], tick)
    others = company.tell()
    return Report(
        seconds=time.monotonic() - began,
        library=ssl.OPENSSL_VERSION,
        handshakes=handshakes,
        requests=requests,
        reuse=reuse,
        bulk=bulk,
        signatures=_price_signatures(field.signer),
        missing=missing,
        speed=speed(),
        others_busy_processors=others,
    )


def _turns(seconds: float, tick: Tick) -> Iterator[int]:
    """Count turns until the time is up."""
    end = time.monotonic() + seconds
    number = 0
    while number < _FEWEST_TURNS or time.monotonic() < end:
        began = time.monotonic()
        yield number
        tick(time.monotonic() - began)
        number += 1


def _measure_handshakes(client: Client, field: Field, seconds: float, tick: Tick) -> tuple[HandshakeRow, ...]:
    passes = Passes(client, field.subjects, _BATCH)
    for _ in range(_DROPPED_PASSES):
        passes.make()
    return tabulate(field.roles, [passes.make() for _ in _turns(seconds, tick)])


def _measure_rates(turn: Callable[[], list[Pair]], seconds: float, tick: Tick) -> RateRow:
    pairs = [pair for _ in _turns(seconds, tick) for pair in turn()]
    return RateRow(
        base=summarise([pair.base for pair in pairs]),
        other=summarise([pair.other for pair in pairs]),
        ratio=summarise([pair.ratio for pair in pairs]),
    )


def _measure_bulk(
    client: Client, bulk: Sequence[Bulk], seconds: float, tick: Tick
) -> tuple[tuple[BulkRow, ...], tuple[str, ...]]:
    with closing(Transfers(client, [each.place for each in bulk])) as transfers:
        agreed = transfers.ciphers
        transfers.make(_TRANSFER_BYTES)
        turns = [transfers.make(_TRANSFER_BYTES) for _ in _turns(seconds, tick)]
    rows = []
    missing = []
    for number, each in enumerate(bulk):
        if agreed[number] != each.cipher:
            missing.append(f"{each.cipher} over TLS {each.tls}: the library agreed on {agreed[number]}")
            continue
        rates, costs = zip(*(turn[number] for turn in turns), strict=True)
        to_plain = [turn[number][0] / turn[0][0] for turn in turns]
        rows.append(
            BulkRow(each.tls, each.cipher, summarise(rates), summarise(costs), summarise(to_plain) if number else None)
        )
    return tuple(rows), tuple(missing)


def _price_signatures(signer: tuple[str, PrivateKey] | None) -> tuple[SignatureRow, ...]:
    prices = {(price.key_type, price.operation): price.cpu for price in Signatures(signer).price(_SIGNATURES)}
    return tuple(
        SignatureRow(key_type, cpu, prices[key_type, Operation.VERIFY])
        for (key_type, operation), cpu in prices.items()
        if operation is Operation.SIGN
    )
