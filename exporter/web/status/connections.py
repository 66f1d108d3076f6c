"""What becomes of a target's connections beyond the handshake, in sentences."""

from collections.abc import Iterator

from exporter.model.connections import Idle, StapleStatus
from exporter.model.target import Address
from exporter.model.verdicts import RoundResult
from exporter.verdict.connections import ConnectionState, tell, verdicts_on
from exporter.verdict.findings import asides_of, ends_of, mismatches_of
from exporter.web.status.facts import Remark


def remarks_on(result: RoundResult) -> Iterator[Remark]:
    """Yield what a round showed of keep-alive, idle connections, split hellos, staples and resumed requests."""
    if result.target.http.enabled and result.target.starttls is None:
        verdicts = verdicts_on(result.backends, result.observations)
        broken = {one for one, verdict in verdicts.items() if verdict.state is ConnectionState.BREAKS}
        for well in (False, True):
            some = {one: verdict for one, verdict in verdicts.items() if (one not in broken) is well}
            yield from (Remark(sentence, well) for sentence in tell(some))
    yield from (Remark(f"{backend} {_idle(idle)}", well=True) for backend, idle in result.idles.items())
    for verdict in result.verdicts.values():
        yield from (Remark(str(found), well=False) for found in mismatches_of(verdict))
    yield from (Remark(str(found), well=False) for found in asides_of(result))
    yield from (Remark(str(found), well=True) for found in ends_of(result))
    yield from _staples(result)


def _idle(idle: Idle) -> str:
    if idle.died is None:
        return f"still answered on a connection that had been idle for {idle.lived:.0f} s"
    lived = f", and one idle for {idle.lived:.0f} s still answered" if idle.lived else ""
    return f"had closed a connection that was idle for {idle.died:.0f} s{lived}"


def _staples(result: RoundResult) -> Iterator[Remark]:
    """Yield how many backends staple what, of that which is no finding."""
    for status, words in (
        (StapleStatus.GOOD, "staples a good OCSP answer"),
        (StapleStatus.NONE, "staples no OCSP answer"),
    ):
        backends = [backend for backend, staple in result.staples.items() if staple.status is status]
        if backends:
            yield Remark(f"{_who(backends, len(result.staples))} {words}", well=True)


def _who(backends: list[Address], total: int) -> str:
    if len(backends) == total:
        return "the server" if total == 1 else f"each of the {total} backends"
    return str(backends[0]) if len(backends) == 1 else f"each of {len(backends)} of the {total} backends"
