"""What an account shows of HTTP requests and of the connections that carry them."""

from collections.abc import Iterator

from exporter.metrics.account import TargetAccount
from exporter.metrics.labels import Connection
from exporter.metrics.reading import Reading
from exporter.metrics.traffic import BackendTraffic, asks, asks_again, holds, middle
from exporter.model.connections import Idle
from exporter.model.target import Address, Target


def read_traffic(account: TargetAccount) -> Iterator[Reading]:
    """Yield what is shown of a target's connections over all its backends; nothing where there is no HTTP."""
    if not asks(account.target):
        return
    target, traffic = (account.target.name,), account.traffic
    for connection in _connections(account.target):
        yield Reading("http_request_duration_seconds", (*target, connection), traffic.durations[connection].freeze())
    if asks_again(account.target) or holds(account.target):
        for end, count in traffic.ends.items():
            yield Reading("http_connection_ends_total", (*target, end), count)
    if holds(account.target):
        for farewell, count in traffic.farewells.items():
            yield Reading("backend_farewells_total", (*target, farewell), count)
    if asks_again(account.target):
        if (ratio := middle(traffic.ratios)) is not None:
            yield Reading("new_to_reused_request_time_ratio", target, ratio)
        for tls, version in account.versions.items():
            yield Reading("http_resumed_mismatches_total", (*target, tls), version.mismatches)


def _connections(target: Target) -> Iterator[Connection]:
    yield Connection.NEW
    if asks_again(target):
        yield Connection.REUSED


def read_backend_traffic(account: TargetAccount, address: Address, traffic: BackendTraffic) -> Iterator[Reading]:
    """Yield what is shown of one backend's connections."""
    if not asks(account.target):
        return
    labels = (account.target.name, str(address))
    for connection in _connections(account.target):
        yield Reading("http_requests_total", (*labels, connection), traffic.requests[connection])
    if asks_again(account.target):
        yield Reading("http_reuse_attempts_total", labels, traffic.attempts)
        yield Reading("http_reuses_total", labels, traffic.reuses)
    for family, value in (
        ("http_keepalive_announced_timeout_seconds", traffic.announced),
        ("http_record_first_bytes", traffic.first_record),
        ("http_record_largest_bytes", traffic.largest_record),
    ):
        if value is not None:
            yield Reading(family, labels, value)
    if holds(account.target) and (idle := account.idles.get(address)) is not None:
        yield from _idle(labels, idle)


def _idle(labels: tuple[str, ...], idle: Idle) -> Iterator[Reading]:
    if idle.lived > 0:
        yield Reading("keepalive_idle_lived_seconds", labels, idle.lived)
    if idle.died is not None:
        yield Reading("keepalive_idle_died_seconds", labels, idle.died)
