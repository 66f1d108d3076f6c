"""From a key file at an nginx to an alert in Prometheus."""

from pathlib import Path

import pytest

from exporter.model.target import Address
from tests.daemon import running
from tests.rules.prometheus import Prometheus
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.ticket_keys import write_ticket_key

BROKEN = "TlsprobeResumptionBrokenByRotation"
OF_OURSELVES = {"TlsprobeExporterStarved", "TlsprobeRoundsOverrun"}
"""What a busy machine makes true of the exporter, whatever it probes."""
SPLIT = "TlsprobeTicketKeysSplit"
ROUNDS = 'tlsprobe_rounds_total{target="site"}'


@pytest.mark.servers("nginx", "prometheus")
def test_botched_rotation(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Two of three backends get a key that is new alone: it is told within three rounds, until they are mended."""
    where = fleet.addresses(ports.claim())
    old, new = (write_ticket_key(tmp_path, name) for name in ("old", "new"))
    before, botched = Settings(leaf=leaf, ticket_keys=(old,)), Settings(leaf=leaf, ticket_keys=(new,))
    mended = Settings(leaf=leaf, ticket_keys=(new, old))
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
    interval: 2s
    timeout: 1s
reference: {{enabled: false}}
"""
    )
    with (
        fleet.start(nginx.start, tmp_path / "fleet", where, [before] * 3) as servers,
        running(tmp_path, ("--config", str(config))) as daemon,
        Prometheus(
            tmp_path / "prometheus", Address("127.0.0.1", ports.claim()), f"127.0.0.1:{daemon.port}"
        ) as prometheus,
    ):

        def names() -> set[str]:
            return {alert.name for alert in prometheus.firing()} - OF_OURSELVES

        def accusing(backend: Address) -> set[str]:
            words = f"Most have one key, but not {backend}."
            return {alert.name for alert in prometheus.firing() if words in alert.annotations["description"]}

        prometheus.wait_until(lambda: (prometheus.query(ROUNDS) or 0) >= 4, "four rounds")
        assert names() == set()

        for server in servers[:2]:
            server.reload(botched)
        at_first = daemon.value("tlsprobe_rounds_total", target="site")
        prometheus.wait_until(lambda: BROKEN in names(), "alert of a broken rotation")
        alert = next(alert for alert in prometheus.firing() if alert.name == BROKEN)
        at_last = prometheus.query(ROUNDS, alert.since)

        assert at_last is not None
        assert at_last - at_first <= 3
        assert alert.labels["target"] == "site"
        assert alert.labels["team"] == "payments"
        assert "instance" not in alert.labels
        prometheus.wait_until(lambda: {BROKEN, SPLIT} <= names(), "alert of split keys")
        prometheus.wait_until(lambda: {BROKEN, SPLIT} <= accusing(where[2]), "names of the backend that was forgotten")

        for server in servers:
            server.reload(mended)
        prometheus.wait_until(lambda: not {BROKEN, SPLIT} & names(), "end of the alerts", seconds=40)
