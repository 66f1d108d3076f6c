"""What a few rounds showed of connections and of what a cold handshake carries, for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from exporter.model.connections import HelloCheck, HttpAnswer, RecordSizes, Staple, StapleStatus
from exporter.model.observation import Handshake
from exporter.model.target import Address
from exporter.model.verdicts import RoundResult
from exporter.verdict.connections import ConnectionState, ConnectionVerdict, tell, verdicts_on
from exporter.verdict.findings import Finding, differences_of, mismatches_of, refused_hellos


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSummary:
    """All backends of a target, of all TLS versions together.

    Attributes:
        verdicts: of the backends' connections.
        ratio: median of the time of a request that opened a connection over that of one that did not; None unknown.
        pairs: how many pairs that is the median of.
        findings: in what backends differ, and resumed connections that are answered otherwise.
        hello_checks: the last of each kind for each backend.
        records: sizes of the TLS records of each backend's largest answer.
    """

    verdicts: Mapping[Address, ConnectionVerdict]
    ratio: float | None
    pairs: int
    findings: tuple[Finding, ...]
    hello_checks: tuple[HelloCheck, ...]
    staples: Mapping[Address, Staple]
    records: Mapping[Address, RecordSizes]

    @property
    def healthy(self) -> bool:
        """Whether nothing was found that should be looked after; what is fine with whom is said by `expect`."""
        broken = any(verdict.state is ConnectionState.BREAKS for verdict in self.verdicts.values())
        refused = any(check.failure is not None for check in self.hello_checks)
        stale = any(staple.bad for staple in self.staples.values())
        return not (broken or refused or stale or self.findings)


def summarise_connections(results: Sequence[RoundResult]) -> ConnectionSummary:
    """Put the rounds of one target together; at least one is needed."""
    last = results[-1]
    seen = [observation for result in results for observation in result.observations]
    ratios = [pair.ratio for result in results for pair in result.request_pairs if pair.ratio is not None]
    checks = {(check.backend, check.split): check for result in results for check in result.hello_checks}
    records: dict[Address, RecordSizes] = {}
    for one in seen:
        if isinstance(one.outcome, Handshake):
            for sizes in _records(one.outcome):
                records[one.backend] = max(sizes, records.get(one.backend, sizes), key=lambda known: known.largest)
    mismatches = {
        str(found): found for result in results for v in result.verdicts.values() for found in mismatches_of(v)
    }
    differences = [found for verdict in last.verdicts.values() for found in differences_of(verdict)]
    return ConnectionSummary(
        verdicts=verdicts_on(last.backends, seen) if last.target.http.enabled else {},
        ratio=median(ratios) if ratios else None,
        pairs=len(ratios),
        findings=tuple({str(found): found for found in (*differences, *mismatches.values())}.values()),
        hello_checks=tuple(checks.values()),
        staples=last.staples,
        records=records,
    )


def _records(handshake: Handshake) -> Iterator[RecordSizes]:
    answers = [handshake.http]
    if handshake.reuse is not None:
        answers += [*handshake.reuse.answers, handshake.reuse.large]
    for answer in answers:
        if isinstance(answer, HttpAnswer) and answer.records is not None:
            yield answer.records


def describe_connections(summary: ConnectionSummary, now: float) -> Iterator[tuple[str, bool]]:
    """Yield sentences, each with whether all is well with it; `now` is Unix time in seconds."""
    if summary.verdicts:
        well = all(verdict.state is not ConnectionState.BREAKS for verdict in summary.verdicts.values())
        yield from ((sentence, well) for sentence in tell(summary.verdicts))
    if summary.ratio is not None:
        pairs = "1 pair" if summary.pairs == 1 else f"the median of {summary.pairs} pairs"
        times = f"{summary.ratio:.1f} times as long as one that does not"
        yield f"a request that opens a connection takes {times}, {pairs}", True
    yield from ((str(finding), False) for finding in summary.findings)
    yield from ((str(finding), False) for finding in refused_hellos(summary.hello_checks))
    for text, backends in _alike({one: _staple(staple, now) for one, staple in summary.staples.items()}):
        yield _at(text, backends, summary.staples), not any(summary.staples[backend].bad for backend in backends)
    for text, backends in _alike({one: _sizes(sizes) for one, sizes in summary.records.items()}):
        yield _at(text, backends, summary.records), True


def _alike(texts: Mapping[Address, str]) -> Iterator[tuple[str, list[Address]]]:
    groups: dict[str, list[Address]] = {}
    for backend, text in texts.items():
        groups.setdefault(text, []).append(backend)
    yield from groups.items()


def _at(text: str, backends: Sequence[Address], all_of_them: Mapping[Address, object]) -> str:
    return text if len(backends) == len(all_of_them) else f"{', '.join(map(str, backends))}: {text}"


def _staple(staple: Staple, now: float) -> str:
    if staple.status is StapleStatus.NONE:
        return "no OCSP answer is stapled"
    if staple.next_update is None:
        return f"the stapled OCSP answer is {staple.status}"
    hours = (staple.next_update - now) / 3600
    life = f"for {hours:.0f} h more" if hours >= 0 else f"since {-hours:.0f} h"
    return f"the stapled OCSP answer is {staple.status}, {life}"


def _sizes(sizes: RecordSizes) -> str:
    return f"the first TLS record of an answer holds {sizes.first} bytes, the largest {sizes.largest}"


def connections_document(summary: ConnectionSummary) -> dict[str, Any]:
    """Return a summary as plain JSON values; times in seconds, None where unknown."""
    return {
        "backends": [
            {
                "backend": str(backend),
                "state": verdict.state,
                "end": verdict.end,
                "connections": verdict.connections,
                "further_requests_wanted": verdict.wanted,
                "further_requests_answered": verdict.answered,
                "announced_idle_seconds": verdict.announced,
            }
            for backend, verdict in summary.verdicts.items()
        ],
        "new_to_reused_request_time_ratio": summary.ratio,
        "pairs": summary.pairs,
        "findings": [{"backend": str(finding.backend), "text": finding.text} for finding in summary.findings],
        "hello_splits": [
            {
                "backend": str(check.backend),
                "split": check.split,
                "failure": None if check.failure is None else str(check.failure),
            }
            for check in summary.hello_checks
        ],
        "staples": [
            {"backend": str(backend), "status": staple.status, "next_update": staple.next_update}
            for backend, staple in summary.staples.items()
        ],
        "records": [
            {"backend": str(backend), "first_bytes": sizes.first, "largest_bytes": sizes.largest}
            for backend, sizes in summary.records.items()
        ],
    }
