"""The exporter goes and comes back: what it knew of keys comes back with it, from the state file."""

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from exporter.model.fingerprint import SALT, digest, salt_of
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import KeyEventKind, RoundResult
from exporter.probe.memory import Memory
from exporter.probe.statefile import StateFile
from exporter.verdict.history import EMPTY
from exporter.verdict.keybook import records_of
from tests.fleets.watch import site, watching
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.process import Server
from tests.servers.ticket_keys import ticket_key, write_ticket_key

pytestmark = pytest.mark.servers("nginx")


async def live(path: Path, backends: Sequence[Address], authority: Authority, rounds: int) -> list[RoundResult]:
    """Live as a process does: recall, make some rounds, and write at the end."""
    file = StateFile(path, SALT, time.time)
    target = site(backends, authority)
    async with watching(target) as watch:
        watch.memory = Memory(history=(await file.recall()).get(target.name, EMPTY))
        results = await watch.rounds(rounds)
        keeping = asyncio.get_running_loop().create_task(
            file.keep(lambda: {target.name: records_of(watch.memory.history)})
        )
        await asyncio.sleep(0)
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
    return results


def events(results: Sequence[RoundResult]) -> list[tuple[KeyEventKind, Address]]:
    """Return what happened to keys, of both versions alike."""
    told = {
        version: [(event.kind, event.backend) for result in results for event in result.verdicts[version].events]
        for version in TlsVersion
    }
    assert told[TlsVersion.TLS12] == told[TlsVersion.TLS13]
    return told[TlsVersion.TLS12]


def since(results: Sequence[RoundResult]) -> Mapping[Address, float | None]:
    """Return since when each backend has its key, of TLS 1.3."""
    verdict = results[-1].verdicts[TlsVersion.TLS13]
    return {backend: one.key_since for backend, one in verdict.backends.items()}


async def test_same_key(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """A key that was known before is as old as it was, and nothing has happened to it."""
    settings = Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, "one"),))
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 2), [settings] * 2) as servers:
        where = [server.address for server in servers]
        before = await live(tmp_path / "keys.json", where, authority, 3)
        after = await live(tmp_path / "keys.json", where, authority, 3)

    assert None not in since(before).values()
    assert since(before) == since(after)
    assert [] == events([*before, *after])


async def test_key_changed_meanwhile(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """A key that was changed while nobody looked is one change at each backend, and not one more after that."""
    one, two = (Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, label),)) for label in ("one", "two"))
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 2), [one] * 2) as servers:
        where = [server.address for server in servers]
        before = await live(tmp_path / "keys.json", where, authority, 3)
        for server in servers:
            server.reload(two)
        after = await live(tmp_path / "keys.json", where, authority, 4)
        later = await live(tmp_path / "keys.json", where, authority, 3)

    assert [] == events(before)
    assert [(KeyEventKind.CHANGE, backend) for backend in where] == sorted(events(after))
    assert [] == events(later)


async def test_daemon(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """The daemon reads the file when it starts and writes it when it is told to end, under the salt of its owner."""
    config = tmp_path / "config.yaml"
    at = Address("127.0.0.1", ports.claim())
    settings = Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, "one"),))
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 1), [settings]) as (server,):
        config.write_text(f"""\
listen: ["{at}"]
ticket_keys: {{state_file: keys.json, salt: our own}}
reference: {{enabled: false}}
targets:
  - name: site
    address: site.test
    backends: ["{server.address}"]
    interval: 1s
    timeout: 1s
    tls: {{ca_file: "{authority.file}"}}
""")
        first = run_daemon(tmp_path / "first", at, config)
        second = run_daemon(tmp_path / "second", at, config)

    digests = {record["digest"] for record in first["targets"]["site"]}
    assert {digest(ticket_key("one")[:16], salt_of("our own"))} == digests
    assert [record["first_seen"] for record in first["targets"]["site"]] == [
        record["first_seen"] for record in second["targets"]["site"]
    ]


def run_daemon(folder: Path, at: Address, config: Path) -> dict[str, dict[str, list[dict[str, object]]]]:
    """Run until a few rounds are done, and return what stands in the state file then."""
    folder.mkdir()
    command = (str(Path(sys.executable).with_name("tlsprobe")), "run", "--config", str(config))
    with Server(at, command, folder) as daemon:
        daemon.wait_until(lambda: "number=3" in daemon.log, "fourth round")
    state: dict[str, dict[str, list[dict[str, object]]]] = json.loads((config.parent / "keys.json").read_bytes())
    return state
