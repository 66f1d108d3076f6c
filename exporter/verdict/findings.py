"""What a round's verdict is worth telling besides its state: events and signs of danger, in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from exporter.model.fingerprint import fingerprint
from exporter.model.target import Address
from exporter.model.verdicts import BackendVerdict, Danger, KeyEvent, KeyEventKind, VersionVerdict, Weakness

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
