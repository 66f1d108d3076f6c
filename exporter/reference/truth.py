"""Whether the prober still tells the truth: what it says of servers that are known, against what they are."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from exporter.model.target import TlsVersion
from exporter.model.verdicts import TargetState, VersionVerdict

_BACKENDS = 2


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether all was judged as it is.

    Attributes:
        reason: what was judged otherwise, in words for people; empty where nothing was.
    """

    ok: bool
    reason: str = ""


def check_truth(
    pair: Mapping[TlsVersion, VersionVerdict],
    control: Mapping[TlsVersion, VersionVerdict],
    versions: Collection[TlsVersion] = tuple(TlsVersion),
) -> Truth:
    """Compare verdicts with what is known: the pair shares its ticket key and the control does not.

    A verdict that is missing, `unknown` or drawn from one backend alone shows nothing, so it is not ok either.

    Args:
        pair: the verdicts of `Reference.target`.
        control: the verdicts of `Reference.control_target`.
        versions: those that must have been judged.
    """
    deviations = [
        deviation
        for version in versions
        for name, verdicts, due in (("pair", pair, TargetState.CONSISTENT), ("control", control, TargetState.SPLIT))
        if (deviation := _deviation(f"{name}, TLS {version}", verdicts.get(version), due))
    ]
    return Truth(ok=not deviations, reason="; ".join(deviations))


def _deviation(subject: str, verdict: VersionVerdict | None, due: TargetState) -> str:
    if verdict is None:
        return f"{subject}: not judged"
    if verdict.state is not due:
        return f"{subject}: judged {verdict.state}, is {due}"
    if verdict.judged != _BACKENDS:
        return f"{subject}: judged from {verdict.judged} of {_BACKENDS} backends"
    return ""
