"""What a person or a program wants to know of a few rounds: medians per backend, the last verdict, what failed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from exporter.cli.connections import ConnectionSummary, summarise_connections
from exporter.model.failure import Failure
from exporter.model.fingerprint import SALT, fingerprint
from exporter.model.observation import Certificate, Handshake, Mode, Observation, Origin, Ticket, TlsFacts
from exporter.model.target import Address, Target, TlsVersion
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Danger,
    Mechanism,
    OfferOutcome,
    RoundResult,
    TargetState,
)
from exporter.verdict.offers import outcome_of
from exporter.verdict.sentence import explain


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSummary:
    """One backend, one TLS version; times are medians in seconds, None where there was no sample.

    Attributes:
        tickets, cold: of the last full handshake.
        key: the ticket key's fingerprint, None where no name is visible.
        home, neighbour: how offers ended, each outcome with its count.
        verdict: all that was concluded of the backend in the last round.
    """

    backend: Address
    version: TlsVersion
    state: BackendState
    mechanism: Mechanism
    key: int | None
    key_group: int | None
    rtt: float | None
    full: float | None
    resumed: float | None
    server: float | None
    cipher: str
    group: str
    alpn: str
    certificate: Certificate | None
    verified: bool | None
    tickets: tuple[Ticket, ...]
    cold: TlsFacts | None
    home: Counter[OfferOutcome]
    neighbour: Counter[OfferOutcome]
    verdict: BackendVerdict
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSummary:
    """A target, one TLS version.

    Attributes:
        ratio: median of resumed over full duration, pair by pair; None without a pair.
        pairs: how many there were.
    """

    version: TlsVersion
    state: TargetState
    groups: int | None
    odd: tuple[Address, ...]
    text: str
    advice: str
    healthy: bool
    ratio: float | None
    pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A few rounds of one target."""

    target: Target
    rounds: int
    backends: tuple[BackendSummary, ...]
    versions: tuple[VersionSummary, ...]
    failures: tuple[tuple[Address | None, Failure, int], ...]
    connections: ConnectionSummary

    @property
    def probed(self) -> bool:
        """Whether at least one handshake was completed."""
        return any(backend.full is not None or backend.cipher for backend in self.backends)

    @property
    def healthy(self) -> bool:
        """Whether nothing was found that should be looked after."""
        # Whether 0-RTT is wanted is the owner's business, as long as it is told.
        endangered = any(set(backend.verdict.dangers) - {Danger.EARLY_DATA} for backend in self.backends)
        if self.failures or endangered or not self.connections.healthy:
            return False
        return self.probed and all(one.healthy for one in self.versions)


def summarise(results: Sequence[RoundResult], salt: bytes = SALT) -> Summary:
    """Put the rounds of one target together; at least one is needed. `salt` goes into the fingerprints of key names."""
    last = results[-1]
    seen = [observation for result in results for observation in result.observations]
    return Summary(
        target=last.target,
        rounds=len(results),
        backends=tuple(
            _summarise_backend(backend, version, verdict.backends[backend], seen, salt)
            for backend in last.backends
            for version, verdict in last.verdicts.items()
            if backend in verdict.backends
        ),
        versions=tuple(_summarise_version(version, results) for version in last.verdicts),
        failures=tuple(
            (*failed, count)
            for failed, count in Counter(failed for result in results for failed in result.failures).items()
        ),
        connections=summarise_connections(results),
    )


def _summarise_version(version: TlsVersion, results: Sequence[RoundResult]) -> VersionSummary:
    verdict = results[-1].verdicts[version]
    ratios = [ratio for result in results for ratio in result.verdicts[version].ratios]
    explanation = explain(version, verdict, results[-1].target.expect.resumption)
    return VersionSummary(
        version=version,
        state=verdict.state,
        groups=verdict.groups,
        odd=verdict.odd,
        text=explanation.text,
        advice=explanation.advice,
        healthy=explanation.healthy,
        ratio=median(ratios) if ratios else None,
        pairs=len(ratios),
    )


def _summarise_backend(
    backend: Address, version: TlsVersion, verdict: BackendVerdict, seen: Iterable[Observation], salt: bytes
) -> BackendSummary:
    here = [one for one in seen if one.backend == backend and one.version == version]
    done = [(one, one.outcome) for one in here if isinstance(one.outcome, Handshake)]
    full = [shaken for _, shaken in done if shaken.mode is Mode.FULL]
    newest = full[-1] if full else None
    return BackendSummary(
        backend=backend,
        version=version,
        state=verdict.state,
        mechanism=verdict.mechanism,
        key=None if verdict.key_name is None else fingerprint(verdict.key_name, salt),
        key_group=verdict.key_group,
        rtt=min((shaken.timing.rtt for _, shaken in done if shaken.timing.rtt is not None), default=None),
        full=_median(shaken.timing.duration for shaken in full if not shaken.timing.disturbed),
        resumed=_median(
            shaken.timing.duration for _, shaken in done if shaken.mode is Mode.RESUMED and not shaken.timing.disturbed
        ),
        server=_median(shaken.timing.server for shaken in full if not shaken.timing.server_disturbed),
        cipher=newest.tls.cipher if newest else "",
        group=newest.tls.group if newest else "",
        alpn=newest.tls.alpn if newest else "",
        certificate=newest.tls.certificate if newest else None,
        verified=newest.verify_failure is None if newest else None,
        tickets=newest.tls.tickets if newest else (),
        cold=newest.tls if newest else None,
        home=_outcomes(here, Origin.SELF),
        neighbour=_outcomes(
            [one for one in seen if one.offer and one.offer.issuer == backend and one.version == version], Origin.PEER
        ),
        verdict=verdict,
        failure=verdict.failure,
    )


def _outcomes(seen: Iterable[Observation], origin: Origin) -> Counter[OfferOutcome]:
    return Counter(outcome_of(one) for one in seen if one.offer is not None and one.offer.origin is origin)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
