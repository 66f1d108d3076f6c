"""What a round's verdict is worth telling besides its state: events and signs of danger, in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from exporter.model.connections import End, Farewell, HelloCheck, Party, Trait
from exporter.model.fingerprint import fingerprint
from exporter.model.target import Address
from exporter.model.verdicts import (
    BackendVerdict,
    Danger,
    KeyEvent,
    KeyEventKind,
    RoundResult,
    VersionVerdict,
    Weakness,
)

_WEAKNESSES = MappingProxyType(
    {
        Weakness.ZERO_KEY: "its ticket key is all zeros: whoever records its connections can read them",
        Weakness.GUESSABLE_KEY: "its ticket key is a well-known pattern: whoever records its connections can read them",
        Weakness.ZERO_NAME: "its ticket key's name is all zeros, as of a key file that was never filled",
    }
)
_DANGERS = MappingProxyType(
    {
        Danger.EARLY_DATA: "offers 0-RTT, whose requests can be replayed",
        Danger.LONG_LIFETIME: "promises tickets a life of over seven days, which no client may use",
        Danger.KILLS: "ends connections at which a ticket is offered",
    }
)
_TRAITS = MappingProxyType(
    {
        Trait.CERTIFICATE: "another certificate",
        Trait.CHAIN: "another certificate chain",
        Trait.ALPN: "another ALPN protocol",
        Trait.VERSIONS: "other TLS versions",
        Trait.CIPHER: "another cipher",
        Trait.TICKET_LIFETIME: "another ticket lifetime",
        Trait.EARLY_DATA: "another 0-RTT offer",
    }
)
_FAREWELLS = MappingProxyType(
    {
        Farewell.DRAINED: "said goodbye on its connection",
        Farewell.DROPPED: "dropped its connection without a word",
        Farewell.ALIVE: "still answered on its connection",
    }
)
_TOLD_APART = 3  # parties of which each is told with its value; more of them are only counted


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to tell of one backend."""

    backend: Address
    text: str

    def __str__(self) -> str:
        return f"{self.backend} {self.text}"


def dangers_of(verdict: VersionVerdict) -> Iterator[Finding]:
    """Yield the signs of danger that stand at the backends of a target."""
    for backend, found in verdict.backends.items():
        yield from dangers_at(backend, found)


def dangers_at(backend: Address, verdict: BackendVerdict) -> Iterator[Finding]:
    """Yield the signs of danger that stand at one backend."""
    if verdict.weakness is not None:
        yield Finding(backend, _WEAKNESSES[verdict.weakness])
    for danger in verdict.dangers:
        if danger in _DANGERS:
            yield Finding(backend, _DANGERS[danger])


def events_of(verdict: VersionVerdict, salt: bytes) -> Iterator[Finding]:
    """Yield what happened to ticket keys in this round."""
    for event in verdict.events:
        yield Finding(event.backend, _happened(event, salt))


def _happened(event: KeyEvent, salt: bytes) -> str:
    old, new = (None if name is None else f"{fingerprint(name, salt):08x}" for name in (event.old_key, event.new_key))
    if event.kind is KeyEventKind.BREAK:
        return f"tickets within their life are not accepted any more{f', of key {old}' if old else ''}"
    if old is None:
        return f"is new, with a ticket key that the fleet did not have{f': {new}' if new else ''}"
    return f"changed its ticket key from {old} to {new}" if new else f"gave up its ticket key {old}"


def differences_of(verdict: VersionVerdict) -> Iterator[Finding]:
    """Yield in what backends differ, each small party against the largest.

    A chain begins with the leaf certificate, so it is told only where it parts the backends in another way.
    """
    leaves = [party.backends for party in verdict.parties.get(Trait.CERTIFICATE, ())]
    for trait, parties in verdict.parties.items():
        if len(parties) > 1 and (trait is not Trait.CHAIN or leaves != [party.backends for party in parties]):
            yield from _tell_apart(trait, parties)


def _tell_apart(trait: Trait, parties: Sequence[Party]) -> Iterator[Finding]:
    usual, *odd = parties
    others = _others(usual, "the " if len(odd) == 1 else "")
    if len(parties) > _TOLD_APART:
        several = tuple(backend for party in odd for backend in party.backends)
        text = f"{_have(several)} {_TRAITS[trait]} than {others}: {len(parties)} different ones in all"
        yield Finding(several[0], text)
        return
    for party in odd:
        text = f"{_have(party.backends)} {_TRAITS[trait]} than {others}: {party.value}, not {usual.value}"
        yield Finding(party.backends[0], text)


def _have(backends: Sequence[Address]) -> str:
    return "has" if len(backends) == 1 else f"and {len(backends) - 1} more have"


def _others(usual: Party, article: str) -> str:
    return str(usual.backends[0]) if len(usual.backends) == 1 else f"{article}{len(usual.backends)} others"


def mismatches_of(verdict: VersionVerdict) -> Iterator[Finding]:
    """Yield where resumption works and the application does not take it well."""
    for found in verdict.mismatches:
        text = f"answers {found.resumed} over resumed connections, and {found.full} over those of full handshakes"
        yield Finding(found.backend, text)


def asides_of(result: RoundResult) -> Iterator[Finding]:
    """Yield what is wrong with split hellos and with stapled answers."""
    yield from refused_hellos(result.hello_checks)
    for backend, staple in result.staples.items():
        if staple.bad:
            yield Finding(backend, f"staples an OCSP answer that is {staple.status}")


def refused_hellos(checks: Iterable[HelloCheck]) -> Iterator[Finding]:
    """Yield which ClientHellos in two parts were not taken."""
    for check in checks:
        if check.failure is not None:
            yield Finding(check.backend, f"does not take a ClientHello in two {check.split}: {check.failure}")


def ends_of(result: RoundResult) -> Iterator[Finding]:
    """Yield what backends did with a held connection when they left, or while a request was on its way."""
    for ended in result.held_ends:
        if ended.farewell is not None:
            yield Finding(ended.backend, f"left, and {_FAREWELLS[ended.farewell]}")
        elif ended.end is End.IN_FLIGHT:
            yield Finding(ended.backend, "closed an idle connection while a request was on its way")
