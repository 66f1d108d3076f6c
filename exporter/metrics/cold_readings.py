"""What an account shows of what handshakes carry."""

from collections.abc import Iterator

from exporter.metrics.account import FullFacts, SessionAccount, TargetAccount
from exporter.metrics.reading import Reading
from exporter.model.connections import Staple, StapleStatus
from exporter.model.observation import Certificate
from exporter.model.target import Address
from exporter.model.verdicts import Mechanism, VersionVerdict


def read_parties(labels: tuple[str, ...], verdict: VersionVerdict) -> Iterator[Reading]:
    """Yield how many values each trait has over a target's backends."""
    for trait, parties in verdict.parties.items():
        yield Reading("backend_differences", (*labels, trait), len(parties))


def read_checks(account: TargetAccount, address: Address) -> Iterator[Reading]:
    """Yield what one backend showed when it was last asked for a stapled answer, and given its hello in two parts."""
    labels = (account.target.name, str(address))
    for split, accepted in account.backends[address].splits.items():
        yield Reading("hello_split_accepted", (*labels, split), accepted)
    if (staple := account.staples.get(address)) is not None:
        yield from _staple(labels, staple)


def _staple(labels: tuple[str, ...], staple: Staple) -> Iterator[Reading]:
    yield Reading("ocsp_stapled", labels, staple.status is not StapleStatus.NONE)
    for status in StapleStatus:
        yield Reading("ocsp_status", (*labels, status), status is staple.status)
    if staple.this_update is not None:
        yield Reading("ocsp_this_update_timestamp_seconds", labels, staple.this_update)
    if staple.next_update is not None:
        yield Reading("ocsp_next_update_timestamp_seconds", labels, staple.next_update)


def read_costs(labels: tuple[str, ...], session: SessionAccount) -> Iterator[Reading]:
    """Yield what the last handshakes of one backend and TLS version took on the wire."""
    for mode, cost in session.costs.items():
        yield Reading("handshake_received_bytes", (*labels, mode), cost.received)
        yield Reading("handshake_sent_bytes", (*labels, mode), cost.sent)
        if cost.round_trips:
            yield Reading("handshake_round_trips", (*labels, mode), cost.round_trips)


def read_full(labels: tuple[str, ...], full: FullFacts, mechanism: Mechanism) -> Iterator[Reading]:
    """Yield what the last full handshake of one backend and TLS version showed."""
    if full.lifetime is not None:
        yield Reading("ticket_lifetime_seconds", labels, full.lifetime)
    if full.max_early_data is not None:
        yield Reading("ticket_max_early_data_bytes", labels, full.max_early_data)
    if full.extended_master_secret is not None:
        yield Reading("extended_master_secret", labels, full.extended_master_secret)
    key_type = ""
    if full.certificate is not None:
        key_type = full.certificate.key_type
        yield from _certificate(labels, full.certificate)
    if full.name_matches is not None:
        yield Reading("certificate_name_matches", labels, full.name_matches)
    yield Reading("connection_info", (*labels, full.cipher, full.group, full.alpn, key_type, mechanism), 1)


def _certificate(labels: tuple[str, ...], certificate: Certificate) -> Iterator[Reading]:
    yield Reading("certificate_not_after_timestamp_seconds", labels, certificate.not_after)
    yield Reading("certificate_chain_bytes", labels, certificate.chain_bytes)
    yield Reading("certificate_chain_length", labels, certificate.chain_count)
    yield Reading("certificate_names", labels, certificate.name_count)
