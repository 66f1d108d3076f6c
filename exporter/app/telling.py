"""The one line in the log that a round is worth."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import structlog
from structlog.typing import FilteringBoundLogger

from exporter.model.verdicts import ForeignOffer, RoundResult
from exporter.verdict.findings import asides_of, dangers_of, differences_of, ends_of, events_of, mismatches_of
from exporter.verdict.sentence import explain

_log: FilteringBoundLogger = structlog.get_logger()


def tell_round(result: RoundResult, salt: bytes) -> tuple[Mapping[str, object], bool]:
    """Write the one line that a round is worth, and return it with whether it is a warning.

    It is one as long as there is anything to look after.
    """
    expected = result.target.expect.resumption
    told = {version: explain(version, verdict, expected) for version, verdict in result.verdicts.items()}
    findings = [each for each in told.values() if not each.healthy]
    events = [
        f"TLS {version}: {event}" for version, verdict in result.verdicts.items() for event in events_of(verdict, salt)
    ]
    verdicts = result.verdicts.values()
    dangers = {str(danger) for verdict in verdicts for danger in dangers_of(verdict)}
    differences = {str(found) for verdict in verdicts for found in differences_of(verdict)}
    connections = [*asides_of(result), *(found for verdict in verdicts for found in mismatches_of(verdict))]
    troubled = bool(result.failures or events or findings or differences or connections)
    line: dict[str, object] = {
        "target": result.target.name,
        "number": result.number,
        "seconds": round(result.elapsed, 3),
        "backends": len(result.backends),
        "connections": len(result.observations),
        **{f"tls{version}": verdict.state for version, verdict in result.verdicts.items()},
        **_where_there_is(
            odd=sorted({str(backend) for verdict in result.verdicts.values() for backend in verdict.odd}),
            findings=[each.text for each in findings],
            advice=list(dict.fromkeys(each.advice for each in findings if each.advice)),
            events=events,
            dangers=sorted(dangers),
            differences=sorted(differences),
            asides=[str(found) for found in (*connections, *ends_of(result))],
            foreign=[_foreign_words(offer) for offer in result.foreign],
            failures=[_counted(words, number) for words, number in Counter(_failures(result)).items()],
        ),
    }
    tell: Callable[..., object] = _log.warning if troubled else _log.info
    tell("round", **line)
    return line, troubled


def _where_there_is(**lists: list[str]) -> dict[str, list[str]]:
    return {name: words for name, words in lists.items() if words}


def _failures(result: RoundResult) -> Iterator[str]:
    return (str(failure) if backend is None else f"{backend} {failure}" for backend, failure in result.failures)


def _counted(words: str, number: int) -> str:
    return words if number == 1 else f"{words} ({number} times)"


def _foreign_words(offer: ForeignOffer) -> str:
    return f"{offer.issuer_target} {offer.version} {offer.outcome}"
