"""In what the backends of one name differ, and what people are told of it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from exporter.model.connections import Party, Trait
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Observation, Offer, Origin, Ticket, TlsFacts
from exporter.model.target import Address
from exporter.model.verdicts import TargetState, VersionVerdict
from exporter.verdict.differences import Look, Looks, look_of, part, part_versions, watch
from exporter.verdict.findings import differences_of
from tests.verdict.fleet import TLS12, TLS13, Prober, Server, address, certificate, named, shaken

A, B, C, D, E = (address(number) for number in range(1, 6))
LOOK = Look(b"leaf", b"chain", "h2", "TLS_AES_256_GCM_SHA384", 7200, early_data=False)
HOLD = 3


def parted(*looks: Look) -> dict[Trait, tuple[tuple[Address, ...], ...]]:
    """Part backends that looked so just now; give who is alike where not all are."""
    found = part({address(n): Looks(look, 1) for n, look in enumerate(looks, 1)}, now=1, hold=HOLD)
    return {trait: tuple(party.backends for party in parties) for trait, parties in found.items() if len(parties) > 1}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(LOOK, [], id="alike"),
        pytest.param(LOOK._replace(certificate=b"new"), [Trait.CERTIFICATE], id="another leaf"),
        pytest.param(LOOK._replace(chain=b"new"), [Trait.CHAIN], id="another intermediate"),
        pytest.param(LOOK._replace(alpn=""), [Trait.ALPN], id="no ALPN"),
        pytest.param(LOOK._replace(cipher="TLS_AES_128_GCM_SHA256"), [Trait.CIPHER], id="another cipher"),
        pytest.param(LOOK._replace(lifetime=300), [Trait.TICKET_LIFETIME], id="another lifetime"),
        pytest.param(LOOK._replace(early_data=True), [Trait.EARLY_DATA], id="0-RTT"),
        pytest.param(LOOK._replace(alpn="", early_data=True), [Trait.ALPN, Trait.EARLY_DATA], id="two of them"),
        pytest.param(LOOK._replace(certificate=None, chain=None), [], id="a certificate that was not seen"),
        pytest.param(LOOK._replace(lifetime=None, early_data=None), [], id="no ticket"),
    ],
)
def test_traits(other: Look, expected: list[Trait]) -> None:
    """Each trait parts the backends by itself, and one that a backend did not show says nothing of it."""
    assert dict.fromkeys(expected, ((A, C), (B,))) == parted(LOOK, other, LOOK)


@pytest.mark.parametrize(
    ("lifetimes", "expected"),
    [
        pytest.param((7200, 7199, 7201), (), id="a second more or less"),
        pytest.param((54000, 46800, 50000), (), id="what is left of a key's life"),
        pytest.param((300, 240, 300), (), id="just alike"),
        pytest.param((300, 239, 300), ((A, C), (B,)), id="just not alike"),
        pytest.param((100, 85, 70), ((A, B), (C,)), id="each alike with the next, and the ends are not"),
        pytest.param((0, 300, 0), ((A, C), (B,)), id="worthless tickets"),
    ],
)
def test_lifetimes(lifetimes: Sequence[int], expected: tuple[tuple[Address, ...], ...]) -> None:
    """Lifetimes that are counted down or jitter pass for one, as long as they are near the longest."""
    found = parted(*(LOOK._replace(lifetime=lifetime) for lifetime in lifetimes))

    assert found == ({Trait.TICKET_LIFETIME: expected} if expected else {})


def test_values_that_agree_are_one_party() -> None:
    """A trait that all known backends share has one party, and a trait that one alone has shown has none."""
    found = part({A: Looks(LOOK, 1), B: Looks(LOOK._replace(lifetime=None), 1)}, now=1, hold=HOLD)

    assert (Party("h2", (A, B)),) == found[Trait.ALPN]
    assert Trait.TICKET_LIFETIME not in found


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        pytest.param({}, False, id="nobody"),
        pytest.param({A: Looks(LOOK, 9)}, False, id="one backend"),
        pytest.param({A: Looks(LOOK, 9), B: None}, False, id="the other was never seen"),
        pytest.param({A: Looks(LOOK, 9), B: Looks(LOOK, 6)}, True, id="seen three rounds ago"),
        pytest.param({A: Looks(LOOK, 9), B: Looks(LOOK, 5)}, False, id="seen too long ago"),
    ],
)
def test_who_is_known(looks: dict[Address, Looks | None], expected: bool) -> None:
    """Two backends at the least must have been seen, in this round or within the hold."""
    assert expected is bool(part(looks, now=9, hold=HOLD))


def seen(leaf: bytes = b"leaf", *, resumed: bool = False, offered: bool = False) -> Observation:
    """Make the observation of a handshake with this certificate."""
    offer = Offer(A, Origin.SELF, 1.0) if offered else None
    facts = TlsFacts(
        version=TLS13, cipher="c", resumed=resumed, offered=offered, certificate=None if resumed else certificate(leaf)
    )
    return Observation(A, TLS13, offer, shaken(facts))


def test_only_full_handshakes_are_watched() -> None:
    """A resumed one shows no certificate, and a failure nothing at all, so the last full one stands."""
    failed = Observation(A, TLS13, None, Failure(Stage.HANDSHAKE, Reason.RESET))
    before = watch(None, [seen(b"old")], 1)

    assert before == watch(before, [seen(resumed=True, offered=True), seen(b"new", offered=True), failed], 2)
    assert watch(None, [failed], 1) is None


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        pytest.param("aaaaaa", True, id="steady"),
        pytest.param("aaabbb", True, id="changed"),
        pytest.param("aabbaa", True, id="rolled back"),
        pytest.param("ababab", False, id="two behind one address"),
        pytest.param("abcabc", False, id="three of them"),
        pytest.param("aba" + "a" * 30 + "b", True, id="rolled back, and rolled out again much later"),
        pytest.param("abab" + "b" * 30, True, id="steady again"),
    ],
)
def test_one_address_that_hides_several(leaves: str, expected: bool) -> None:
    """A backend whose looks come back again and again is several, and speaks for none of them."""
    looks: Looks | None = None
    for number, leaf in enumerate(leaves):
        looks = watch(looks, [seen(leaf.encode())], number)

    assert looks is not None
    assert expected is looks.speaks_for_one(len(leaves) - 1)
    assert expected is bool(part({A: looks, B: Looks(LOOK, len(leaves))}, now=len(leaves), hold=HOLD))


@pytest.mark.parametrize(
    ("facts", "lifetime", "early_data"),
    [
        pytest.param(TlsFacts(version=TLS13, cipher="c"), None, None, id="no ticket"),
        pytest.param(TlsFacts(version=TLS13, cipher="c", tickets=(Ticket(b"", 60),)), 60, False, id="no 0-RTT"),
        pytest.param(TlsFacts(version=TLS13, cipher="c", tickets=(Ticket(b"", 60, 0),)), 60, False, id="of no size"),
        pytest.param(TlsFacts(version=TLS13, cipher="c", tickets=(Ticket(b"", 60, 9),)), 60, True, id="0-RTT"),
        pytest.param(TlsFacts(version=TLS12, cipher="c", tickets=(Ticket(b"", 60),)), 60, None, id="TLS 1.2"),
        pytest.param(TlsFacts(version=TLS12, cipher="c", tickets=(Ticket(b"", 0),)), None, None, id="no hint"),
    ],
)
def test_look_of(facts: TlsFacts, lifetime: int | None, early_data: bool | None) -> None:
    """What a version or a handshake cannot tell is not known."""
    look = look_of(facts)

    assert (None, None, lifetime, early_data) == (look.certificate, look.chain, look.lifetime, look.early_data)


def test_versions() -> None:
    """Backends that speak a version and those that do not are two parties; where it is not known, a backend is none."""
    supported = {(A, TLS13): True, (B, TLS13): False, (C, TLS13): True, (D, TLS12): True}

    found = part_versions(TLS13, supported, (A, B, C, D))

    assert {Trait.VERSIONS: (Party("TLS 1.3", (A, C)), Party("no TLS 1.3", (B,)))} == found
    assert {} == part_versions(TLS12, supported, (A, B, C, D))


def verdict(trait: Trait, *parties: Party) -> VersionVerdict:
    """Make a verdict in which one trait parts the backends so."""
    return VersionVerdict(TargetState.CONSISTENT, parties={trait: parties})


@pytest.mark.parametrize(
    ("parties", "expected"),
    [
        pytest.param([Party("h2", (A, B))], [], id="alike"),
        pytest.param(
            [Party("h2", (A, B, C, D)), Party("http/1.1", (E,))],
            ["127.0.0.5:443 has another ALPN protocol than the 4 others: http/1.1, not h2"],
            id="one against four",
        ),
        pytest.param(
            [Party("h2", (A,)), Party("none", (B,))],
            ["127.0.0.2:443 has another ALPN protocol than 127.0.0.1:443: none, not h2"],
            id="one against one",
        ),
        pytest.param(
            [Party("h2", (A, B, C)), Party("none", (D, E))],
            ["127.0.0.4:443 and 1 more have another ALPN protocol than the 3 others: none, not h2"],
            id="two against three",
        ),
        pytest.param(
            [Party("h2", (A, B)), Party("none", (C,)), Party("http/1.1", (D,))],
            [
                "127.0.0.3:443 has another ALPN protocol than 2 others: none, not h2",
                "127.0.0.4:443 has another ALPN protocol than 2 others: http/1.1, not h2",
            ],
            id="three parties",
        ),
        pytest.param(
            [Party(str(n), (one,)) for n, one in enumerate((A, B, C, D, E))],
            ["127.0.0.2:443 and 3 more have another ALPN protocol than 127.0.0.1:443: 5 different ones in all"],
            id="each another",
        ),
    ],
)
def test_findings(parties: list[Party], expected: list[str]) -> None:
    """The small parties are named against the largest, and many of them are only counted."""
    assert expected == [str(finding) for finding in differences_of(verdict(Trait.ALPN, *parties))]


def test_another_leaf_is_told_once() -> None:
    """A chain differs wherever its leaf does, so it is told only where it parts the backends in another way."""
    leaves, chains = (Party("1", (A, C)), Party("2", (B,))), (Party("3", (A, C)), Party("4", (B,)))
    both = VersionVerdict(TargetState.CONSISTENT, parties={Trait.CERTIFICATE: leaves, Trait.CHAIN: chains})
    apart = replace(both, parties={**both.parties, Trait.CHAIN: (Party("3", (A, B)), Party("4", (C,)))})

    assert 1 == len(list(differences_of(both)))
    assert 2 == len(list(differences_of(apart)))


def test_a_half_done_rollout_is_seen_and_forgotten() -> None:
    """Rounds show a new certificate at one of three backends, hold it while it is down, and then let go of it."""
    key = named("k")
    prober = Prober({A: Server([key]), B: Server([key]), C: Server([key])})
    assert {} == prober.verdict().differences
    prober.fleet[C].leaf = b"new"
    assert {Trait.CERTIFICATE: 2} == prober.verdict().differences

    prober.fleet[C].up = False
    held = [prober.verdict().differences for _ in range(HOLD + 1)]

    assert [{Trait.CERTIFICATE: 2}] * HOLD + [{}] == held


def test_a_backend_that_leaves_is_forgotten() -> None:
    """What it had shown makes no difference in the round that misses it."""
    prober = Prober({A: Server([named("k")]), B: Server([named("k")]), C: Server([named("k")], leaf=b"new")})
    assert {Trait.CERTIFICATE: 2} == prober.verdict().differences

    del prober.fleet[C]

    assert {} == prober.verdict().differences


def test_a_version_that_one_backend_does_not_speak() -> None:
    """It is a difference in that version alone, also in the rounds in which the backend is not asked for it."""
    key = named("k")
    prober = Prober({A: Server([key]), B: Server([key]), C: Server([key], versions=(TLS12,))})

    for _ in range(6):
        verdicts = prober.round().verdicts
        assert {Trait.VERSIONS: 2} == verdicts[TLS13].differences
        assert {} == verdicts[TLS12].differences
        assert (Party("TLS 1.3", (A, B)), Party("no TLS 1.3", (C,))) == verdicts[TLS13].parties[Trait.VERSIONS]


def test_a_handshake_that_did_not_verify_shows_its_certificate() -> None:
    """A backend with a wrong certificate is the very one to be told of."""
    bad = seen(b"bad")
    assert isinstance(bad.outcome, Handshake)
    failed = replace(bad.outcome, verify_failure=Failure(Stage.VERIFY, Reason.EXPIRED))

    looks = watch(None, [replace(bad, outcome=failed)], 1)

    assert looks is not None
    assert b"bad" == looks.last.certificate
