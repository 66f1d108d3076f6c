"""What differs between the backends of one name: a rotation or a rollout that is half done."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from exporter.model.connections import Party, Trait
from exporter.model.observation import Handshake, Mode, Observation, TlsFacts
from exporter.model.target import Address, TlsVersion

_LIKE_LIFETIMES = 0.8
"""Lifetimes are alike from this share of the longest on.

s2n-tls promises what is left of its key's life, at most 15 and at least 13 hours with its defaults, and others round
to a second. A life that was configured otherwise mostly differs by half or more.
"""
_KEPT = 3  # looks of the same address that a return to is noticed
_FLAPPING = 20  # rounds within which two returns mean that several backends answer at one address
_HEX_SHOWN = 16


class Look(NamedTuple):
    """What one full handshake showed; None where it did not tell."""

    certificate: bytes | None
    chain: bytes | None
    alpn: str
    cipher: str
    lifetime: int | None
    early_data: bool | None

    @property
    def face(self) -> "Face":
        """What a server shows alike in each handshake, as long as its settings are the same."""
        return self[:4]


Face = tuple[bytes | None, bytes | None, str, str]

_TRAITS = (
    Trait.CERTIFICATE,
    Trait.CHAIN,
    Trait.ALPN,
    Trait.CIPHER,
    Trait.TICKET_LIFETIME,
    Trait.EARLY_DATA,
)
"""The traits of a look, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class Looks:
    """How a backend looked, for one TLS version.

    Attributes:
        last: in its last full handshake.
        round: number of the round of that.
        earlier: its last other faces, the latest at the end.
        returns: numbers of the last rounds in which it came back to one of them.
    """

    last: Look
    round: int
    earlier: tuple[Face, ...] = field(default=(), repr=False)
    returns: tuple[int, ...] = ()

    def speaks_for_one(self, now: int) -> bool:
        """Tell whether one and the same backend seems to have been seen in all the last rounds."""
        return len(self.returns) < 2 or now - self.returns[0] >= _FLAPPING


def watch(before: Looks | None, observations: Iterable[Observation], number: int) -> Looks | None:
    """Add one round's full handshakes of one backend and TLS version, whether the certificate verified or not."""
    looks = before
    for seen in observations:
        if seen.offer is None and isinstance(seen.outcome, Handshake) and seen.outcome.mode is Mode.FULL:
            looks = _turn(looks, look_of(seen.outcome.tls), number)
    return looks


def _turn(before: Looks | None, look: Look, number: int) -> Looks:
    if before is None:
        return Looks(look, number)
    if look.face == before.last.face:
        return Looks(look, number, before.earlier, before.returns)
    returns = (*before.returns[-1:], number) if look.face in before.earlier else before.returns
    earlier = (*(face for face in before.earlier if face != look.face), before.last.face)
    return Looks(look, number, earlier[-_KEPT:], returns)


def look_of(tls: TlsFacts) -> Look:
    """Read the traits off a full handshake; without a ticket nothing is known of a lifetime or of 0-RTT."""
    certificate, tickets = tls.certificate, tls.tickets
    old = tls.version is TlsVersion.TLS12
    lifetime = tickets[-1].lifetime if tickets else None
    return Look(
        certificate=certificate.fingerprint if certificate is not None else None,
        chain=(certificate.chain or None) if certificate is not None else None,
        alpn=tls.alpn,
        cipher=tls.cipher,
        # A lifetime of 0 is none given in TLS 1.2 (RFC 5077 section 3.3), which has no 0-RTT either.
        lifetime=None if old and not lifetime else lifetime,
        early_data=None if old or not tickets else any(ticket.max_early_data for ticket in tickets),
    )


def part(looks: Mapping[Address, Looks | None], *, now: int, hold: int) -> dict[Trait, tuple[Party, ...]]:
    """Part the backends of one target and TLS version by each trait that at least two of them have shown.

    Args:
        looks: of the present backends, in order.
        now: the round's number.
        hold: rounds for which what a backend has shown stands while nothing is seen of it.
    """
    known = {
        backend: each.last
        for backend, each in looks.items()
        if each is not None and now - each.round <= hold and each.speaks_for_one(now)
    }
    if len(known) < 2:
        return {}
    columns = zip(_TRAITS, zip(*known.values(), strict=True), strict=True)
    found = ((trait, _part(trait, tuple(known), column)) for trait, column in columns)
    return {trait: parties for trait, parties in found if parties}


def _part(trait: Trait, backends: tuple[Address, ...], values: Sequence[Hashable]) -> tuple[Party, ...]:
    if len(set(values)) == 1 and values[0] is not None:
        return (Party(_words(trait, values[0]), backends),)
    shown = {backend: value for backend, value in zip(backends, values, strict=True) if value is not None}
    if len(shown) < 2:
        return ()
    if trait is Trait.TICKET_LIFETIME:
        alike = _alike({value for value in shown.values() if isinstance(value, int)})
        shown = {backend: alike[value] for backend, value in shown.items() if isinstance(value, int)}
    return _rank(trait, shown)


def _alike(lifetimes: Collection[int]) -> dict[int, int]:
    """Give for each lifetime the longest of those that pass for the same."""
    alike: dict[int, int] = {}
    longest = 0
    for lifetime in sorted(lifetimes, reverse=True):
        if not alike or lifetime < longest * _LIKE_LIFETIMES:
            longest = lifetime
        alike[lifetime] = longest
    return alike


def _rank(trait: Trait, shown: Mapping[Address, Hashable]) -> tuple[Party, ...]:
    """Make parties of what each backend has shown; of two as large, that with the first backend stands first."""
    members: dict[Hashable, list[Address]] = {}
    for backend, value in shown.items():
        members.setdefault(value, []).append(backend)
    ranked = sorted(members.items(), key=lambda item: -len(item[1]))
    return tuple(Party(_words(trait, value), tuple(backends)) for value, backends in ranked)


def part_versions(
    version: TlsVersion, supported: Mapping[tuple[Address, TlsVersion], bool], heard: Iterable[Address]
) -> dict[Trait, tuple[Party, ...]]:
    """Part the backends by whether they speak a version.

    Args:
        supported: whether they do, where that is known.
        heard: the backends that completed a handshake of any version lately, in order.
    """
    shown = {backend: spoken for backend in heard if (spoken := supported.get((backend, version))) is not None}
    if len(shown) < 2:
        return {}
    words = {True: f"TLS {version}", False: f"no TLS {version}"}
    return {Trait.VERSIONS: _rank(Trait.VERSIONS, {backend: words[spoken] for backend, spoken in shown.items()})}


_OFFERED: Mapping[Hashable, str] = MappingProxyType({True: "0-RTT offered", False: "no 0-RTT"})


def _words(trait: Trait, value: Hashable) -> str:
    if isinstance(value, bytes):
        return value.hex()[:_HEX_SHOWN]
    match trait:
        case Trait.TICKET_LIFETIME:
            return f"{value} s"
        case Trait.EARLY_DATA:
            return _OFFERED[value]
        case _:
            return str(value) or "none"
