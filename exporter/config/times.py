"""Interval and timeout: two fields that may each be a target's own or a default, and that bind each other."""

from dataclasses import dataclass

from exporter.config.problem import Findings, Place
from exporter.config.schema import DefaultsSection, TargetSection
from exporter.config.values import parse_duration, spell_duration


@dataclass(frozen=True, slots=True)
class _Written:
    """A duration as it was written, and where."""

    raw: float | str
    place: Place

    @property
    def inherited(self) -> bool:
        return self.place[0] == "defaults"

    def __str__(self) -> str:
        return spell_duration(self.raw)


def check_defaults(defaults: DefaultsSection, findings: Findings) -> None:
    """Refuse default times that do not go together."""
    interval, timeout = (_Written(getattr(defaults, name), ("defaults", name)) for name in ("interval", "timeout"))
    _seconds(interval, timeout, findings)


def target_times(
    section: TargetSection, place: Place, defaults: DefaultsSection, findings: Findings
) -> tuple[float, float]:
    """Return interval and timeout in seconds; what is wrong with the defaults is not told for each target again."""
    interval, timeout = (
        _Written(own, (*place, name)) if own is not None else _Written(default, ("defaults", name))
        for name, own, default in (
            ("interval", section.interval, defaults.interval),
            ("timeout", section.timeout, defaults.timeout),
        )
    )
    if findings.refused((*place, "interval")) or findings.refused((*place, "timeout")):
        return 0.0, 0.0
    return _seconds(interval, timeout, findings)


def _seconds(interval: _Written, timeout: _Written, findings: Findings) -> tuple[float, float]:
    """Return both in seconds, and refuse an interval under 1 s or under the timeout, and a timeout of nothing."""
    wait = findings.read(interval.place, parse_duration, interval.raw, 0.0)
    bound = findings.read(timeout.place, parse_duration, timeout.raw, 0.0)
    refused = [findings.refused(interval.place), findings.refused(timeout.place)]
    if not refused[1] and bound <= 0:
        findings.add(timeout.place, f"{timeout} leaves no time", "more than 0s")
    if not refused[0] and wait < 1:
        findings.add(interval.place, f"{interval} is too short", "1s or more")
    elif not any(refused) and wait < bound:
        if interval.inherited and not timeout.inherited:
            findings.add(timeout.place, f"{timeout} is longer than interval {interval}", f"{interval} or less")
        else:
            findings.add(interval.place, f"{interval} is shorter than timeout {timeout}", f"{timeout} or more")
    return wait, bound
