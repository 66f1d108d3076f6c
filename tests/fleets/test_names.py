"""Two names at one address, each a target of its own and probed side by side."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from exporter.model.observation import Handshake, Origin
from exporter.model.verdicts import KeyEventKind, OfferOutcome, RoundResult, TargetState
from tests.fleets.watch import Watch, at_both, both, happened, offers, site, states, watching
from tests.servers import fleet, nginx
from tests.servers.certificates import SERVER_NAME, Authority
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.ticket_keys import write_ticket_key

OTHER_NAME = "other.test"
ROUNDS = 25
NOBODY = at_both(())

OTHER_SERVER = """\
location /site {{ return 200; }}
}}
server {{
listen {address} ssl;
server_name {name};
ssl_certificate {leaf.certificate_file};
ssl_certificate_key {leaf.key_file};
ssl_protocols TLSv1.2 TLSv1.3;
"""


def names(results: Sequence[RoundResult]) -> set[tuple[str, ...]]:
    """Return the names in all certificates that were shown."""
    return {
        seen.outcome.tls.certificate.names
        for result in results
        for seen in result.observations
        if isinstance(seen.outcome, Handshake) and seen.outcome.tls.certificate is not None
    }


@pytest.mark.servers("nginx")
async def test_certificate_for_each(tmp_path: Path, ports: Ports, authority: Authority) -> None:
    """What is known of one name never shows at the other, although both have one address and one ticket key."""
    here, there = (authority.issue(name, now=datetime.now(UTC), names=(name,)) for name in (SERVER_NAME, OTHER_NAME))
    (address,) = fleet.addresses(ports.claim(), 1)
    settings = Settings(
        leaf=here,
        http=f"ssl_session_ticket_key {write_ticket_key(tmp_path, 'one')};\n",
        server=OTHER_SERVER.format(address=address, name=OTHER_NAME, leaf=there),
    )
    with nginx.start(tmp_path / "nginx", address, settings):
        async with watching(site([address], authority)) as watch:
            other = Watch(replace(watch.target, name="other", server_name=OTHER_NAME), watch.prober)
            ours, theirs = await asyncio.gather(watch.rounds(ROUNDS), other.rounds(ROUNDS))

    assert {(SERVER_NAME,)} == {found[:1] for found in names(ours)}
    assert {(OTHER_NAME,)} == {found[:1] for found in names(theirs)}
    for results in (ours, theirs):
        assert {()} == {result.failures for result in results}
        assert {OfferOutcome.ACCEPTED} == set(offers(results, Origin.SELF))
        assert [both(TargetState.CONSISTENT)] * ROUNDS == [states(result) for result in results]
        assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)
