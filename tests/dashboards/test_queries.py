"""What a real Prometheus answers to all queries of the dashboards."""

import math
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from exporter.model.target import Address
from grafana.alarms import urgency
from tests.daemon import running
from tests.dashboards.boards import expressions, replaced
from tests.dashboards.quiet import NEVER, PERHAPS
from tests.rules.prometheus import Prometheus
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.process import ServerError
from tests.servers.ticket_keys import write_ticket_key

CRITICAL = 600
"""What an urgency of that kind begins with."""
IDLE = 'tlsprobe_keepalive_idle_died_seconds{target="site"}'
ROUNDS = 'tlsprobe_rounds_total{target="site"}'


def asked(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return all queries by their names, with values for variables; marks as what was there at any time."""
    of_boards = {"tlsprobe-target": {"target": "site"}}
    return {
        name: f"count_over_time(({query})[5m:250ms])" if "mark: " in name else query
        for name, raw in expressions()
        for query in [replaced(raw, {**values, **of_boards.get(name.partition(":")[0], {})})]
    }


@pytest.mark.servers("nginx", "prometheus")
def test_every_query_has_data(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Each query has data after a rotation that is botched, or is in the list of those that rightly have none."""
    where = fleet.addresses(ports.claim())
    old, new = (write_ticket_key(tmp_path, name) for name in ("old", "new"))
    before, botched = (Settings(leaf=leaf, ticket_keys=(key,), server="keepalive_timeout 4s 4s;") for key in (old, new))
    config = tmp_path / "config.yaml"
    config.write_text(
        f"""\
ticket_keys: {{grace: 4s}}
targets:
  - name: site
    address: site.test:{where[0].port}
    backends: [{", ".join(f'"{one}"' for one in where)}]
    labels: {{team: payments}}
    tls: {{ca_file: {authority.file}}}
    expect: {{min_backends: 3, rotation: 24h, ticket_life: 0.9, keepalive_idle: 60s}}
    interval: 2s
    timeout: 1s
    share_with: [twin]
  - name: twin
    address: site.test:{where[0].port}
    backends: ["{where[0]}"]
    tls: {{ca_file: {authority.file}}}
    interval: 2s
    timeout: 1s
  - name: gone
    address: 127.0.0.9:{where[0].port}
    interval: 2s
    timeout: 1s
reference: {{interval: 2s}}
wave: {{clients: 1000, servers: 3, ceiling: 100, resumed_ceiling: 200, window: 10s}}
"""
    )
    with (
        fleet.start(nginx.start, tmp_path / "fleet", where, [before] * 3) as servers,
        running(tmp_path, ("--config", str(config))) as daemon,
        Prometheus(
            tmp_path / "prometheus", Address("127.0.0.1", ports.claim()), f"127.0.0.1:{daemon.port}"
        ) as prometheus,
    ):
        everything = {"cluster": ".*", "namespace": ".*", "target": ".*", "backend": ".*", "tls": ".*"}
        spans = {"__range": "5m", "__rate_interval": "1m", "__interval": "1s"}
        exporter = {"instance": ".*", "seen_by": f"127.0.0.1:{daemon.port}"}
        left = dict(asked(everything | spans | exporter))
        urgent = replaced(urgency(), everything | {"target": "site"})

        def all_have_data() -> bool:
            for name, query in tuple(left.items()):
                if not all(math.isnan(value) for value in prometheus.values(query)):
                    del left[name]
            return left.keys() <= NEVER.keys() | PERHAPS.keys()

        prometheus.wait_until(lambda: (prometheus.query(ROUNDS) or 0) >= 3, "three rounds")
        # A reload closes idle connections, too, and the next one is held only a minute later.
        prometheus.wait_until(lambda: prometheus.query(IDLE) is not None, "the death of an idle connection", seconds=30)
        for server in servers[:2]:
            server.reload(botched)
        with suppress(ServerError):  # what is still left says more than that the time is up
            prometheus.wait_until(all_have_data, "data", seconds=60)

        assert sorted(NEVER) == sorted(left.keys() - PERHAPS.keys())
        prometheus.wait_until(
            lambda: CRITICAL <= (prometheus.query(urgent) or 0) < 2 * CRITICAL, "urgency of the split"
        )


def test_lists_are_of_queries() -> None:
    """What is said to be quiet is a query, and is said to be so once."""
    assert NEVER.keys() | PERHAPS.keys() <= {name for name, _ in expressions()}
    assert not NEVER.keys() & PERHAPS.keys()
