"""A measured capacity as a person reads it: a line for each step as it is done, and what it comes to."""

from collections.abc import Iterator, Mapping, Sequence

from exporter.cli.rate import spell_rate
from exporter.load.capacity import Capacity
from exporter.load.orders import Loop, Scouted
from exporter.load.requirement import Outcome
from exporter.load.step import BUSY, Quantiles, Step, Strain
from exporter.model.observation import Mode

_STRAINS = {
    Strain.ERRORS: "not sustained: errors",
    Strain.LATENCY: "not sustained: p99",
    Strain.BACKLOG: "not sustained: fewer done than due",
    Strain.GENERATOR: "not sustained by the generator",
}
_COLUMNS = (
    ("mode", 7), ("due/s", 9), ("done/s", 9),
    ("handshake p50", 13), ("p90", 8), ("p99", 8),
    ("first byte p50", 14), ("p90", 8), ("p99", 8), ("failed", 7),
)  # fmt: skip
_SQUEEZED = 0.25
"""Share of waiting for a processor from which on it is worth a word."""


def render_head(where: str, scouted: Scouted, processes: int, clients: int | None, seconds: float) -> Iterator[str]:
    """Yield who is measured and how, and the table's heading."""
    loop = "open loop" if clients is None else f"closed loop of {'1 client' if clients == 1 else f'{clients} clients'}"
    plural = "1 process" if processes == 1 else f"{processes} processes"
    version = scouted.version.replace("TLSv", "TLS ")
    yield f"{where}  {version}, {scouted.cipher}; {loop}, {plural}, {seconds:g} s a step; times in ms"
    yield ""
    yield "  ".join(name.ljust(width) if not at else name.rjust(width) for at, (name, width) in enumerate(_COLUMNS))


def render_step(step: Step, why: Strain | None) -> str:
    """Return the table's line of one step."""
    offered = spell_rate(step.offered) if step.loop is Loop.OPEN else "-"
    cells = [step.mode.value, offered, spell_rate(step.done)]
    cells += [*_cells(step.handshake), *_cells(step.first_byte), f"{step.failed:,}"]
    line = "  ".join(
        cell.ljust(width) if not at else cell.rjust(width)
        for at, (cell, (_, width)) in enumerate(zip(cells, _COLUMNS, strict=True))
    )
    return line if why is None else f"{line}  {_STRAINS[why]}"


def render_end(found: Sequence[Capacity], outcomes: Sequence[Outcome], *, unresumable: bool) -> Iterator[str]:
    """Yield what each mode comes to, with all that is to be known about it, and the pass lines."""
    for capacity in found:
        yield ""
        yield from _render_mode(capacity)
    if unresumable:
        yield ""
        yield (
            "resumed: the server does not resume its own session, so there was nothing to measure. If it should, "
            "`tlsprobe probe` says more."
        )
    if outcomes:
        yield ""
    for outcome in outcomes:
        verdict = "met" if outcome.met else "MISSED"
        yield f"{outcome.requirement.text}: {verdict}, found {_found(outcome)}"


def _render_mode(capacity: Capacity) -> Iterator[str]:
    best, rate = capacity.best, capacity.rate
    if best is None or rate is None:
        yield f"{capacity.mode}: no rate was sustained."
    else:
        at_least = "at least " if capacity.generator_bound or capacity.highest_tried else ""
        how = "the highest rate that was tried" if capacity.highest_tried else "the highest rate that was sustained"
        how = "done by a closed loop" if best.loop is Loop.CLOSED else how
        yield f"{capacity.mode}: {at_least}{spell_rate(rate)} handshakes a second, {how}."
        yield from _remarks(capacity, best)
    yield from _troubles(capacity)


def _remarks(capacity: Capacity, best: Step) -> Iterator[str]:
    if capacity.mode is Mode.RESUMED:
        if best.resumed == best.completed:
            yield f"  All {best.resumed:,} of them were resumed, by the TLS library's own word."
        else:
            yield f"  {best.resumed:,} of {best.completed:,} were resumed, by the TLS library's own word."
        if not best.resumption_held:
            yield (
                "  That is no ceiling for resumed handshakes: too many were full. Measure one server alone; --mode "
                "resumed leaves out the full handshakes, which may have filled its cache of sessions."
            )
    if best.busy > BUSY:
        yield (
            f"  The generator was measured: its busiest process used {best.busy * 100:.0f} % of the time that it could "
            "have had. Give it more cores (--processes, with a client for each), or a machine of its own."
        )
    elif capacity.generator_bound:
        yield "  The generator was measured: it could not begin connections when they were due."
    if best.squeezed > _SQUEEZED:
        yield (
            f"  Its processes waited {best.squeezed * 100:.0f} % of the time for a processor: whoever else runs here, "
            "the server maybe, shares their cores."
        )
    if best.requests is not None:
        requests = best.requests
        yield (
            f"  Beside them {spell_rate(requests.done)} of {spell_rate(requests.offered)} kept-alive requests a second "
            f"were answered, p50 {_ms(requests.times.p50)}, p99 {_ms(requests.times.p99)} ms"
            f"{_counted(requests.failures)}."
        )


def _troubles(capacity: Capacity) -> Iterator[str]:
    """Yield what failed in the step that failed most, and how quickly the server said no."""
    step = max((step for step, _ in capacity.steps), key=lambda step: step.failed, default=None)
    if step is None or not step.failed:
        return
    at = f"At {spell_rate(step.offered)} a second" if step.loop is Loop.OPEN else "Of them"
    yield f"  {at} {step.failed:,} of {step.due:,} failed{_counted(step.failures)}."
    if step.refusal.p50 is not None:
        yield f"  The server said no after p50 {_ms(step.refusal.p50)}, p99 {_ms(step.refusal.p99)} ms."


def _counted(failures: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{number:,} {name}' for name, number in failures.items())})" if failures else ""


def _cells(times: Quantiles) -> list[str]:
    return [_ms(times.p50), _ms(times.p90), _ms(times.p99)]


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


def _found(outcome: Outcome) -> str:
    why = ", the highest rate that was tried" if outcome.highest_tried else ""
    why = ", since the generator was the limit" if outcome.generator_bound else why
    if outcome.found is None:
        return f"nothing that is sustained{why}"
    if outcome.requirement.mode is not None:
        return f"{'at least ' if why else ''}{spell_rate(outcome.found)} a second{why}"
    return f"{'at most ' if why else ''}{_ms(outcome.found)} ms{why}"
