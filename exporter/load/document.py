"""A measured capacity as a program reads it, and the part of it that a wave is reckoned from."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from exporter.load.capacity import Capacity
from exporter.load.orders import Scouted, Site
from exporter.load.requirement import Outcome
from exporter.load.step import Quantiles, RequestStep, Step, Strain
from exporter.load.wave import Ceiling

_MOST_BYTES = 4 << 20
_BOUNDS = ("generator_bound", "highest_tried")
"""What makes a ceiling one that the server has at least."""
_DIGITS = 6  # a microsecond
_WANTED = "a file that `tlsprobe capacity HOST:PORT --json` has printed, whole and unchanged, is needed"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a document holds for a wave.

    Attributes:
        no_resumed: why the ceiling of resumed handshakes is not known; empty where it is.
    """

    ceiling: Ceiling
    no_resumed: str


def to_document(
    site: Site, scouted: Scouted, capacities: Sequence[Capacity], outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """Return plain JSON values; times in seconds, rates a second, None where unknown."""
    return {
        "address": f"[{site.host}]:{site.port}" if ":" in site.host else f"{site.host}:{site.port}",
        "server_name": site.server_name,
        "tls": scouted.version.removeprefix("TLSv"),
        "cipher": scouted.cipher,
        "resumes": scouted.resumes,
        "single_use_tickets": scouted.single_use,
        "modes": {each.mode.value: _capacity(each) for each in capacities},
        "requirements": [
            {
                "text": outcome.requirement.text,
                "found": _rounded(outcome.found),
                "met": outcome.met,
                "generator_bound": outcome.generator_bound,
                "highest_tried": outcome.highest_tried,
            }
            for outcome in outcomes
        ],
    }


def read_measured(text: str) -> Measured:
    """Return the ceilings that such a document holds.

    Raises:
        ValueError: it holds none; the message says why.
    """
    if len(text) > _MOST_BYTES:
        raise ValueError(f"too large to be a capacity; {_WANTED}")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"no JSON; {_WANTED}") from None
    if not isinstance(document, dict) or "modes" not in document:
        raise ValueError(f"no document of `tlsprobe capacity --json`; {_WANTED}")
    full, resumed = (_mode_of(document["modes"], name) for name in ("full", "resumed"))
    full_rate, resumed_rate = _rate_of(full, "full"), _rate_of(resumed, "resumed")
    if full_rate is None:
        raise ValueError("it found no rate of full handshakes that is sustained; measure again with --mode both")
    no_resumed = ""
    if resumed_rate is None:
        no_resumed = "no rate of resumed handshakes was found there"
    elif _flag_of(resumed, "resumption_held", default=True) is False:
        no_resumed, resumed_rate = "too many handshakes that should have resumed were full there", None
    bound = [any(_flag_of(mode, name, default=False) for name in _BOUNDS) for mode in (full, resumed)]
    return Measured(Ceiling(full_rate, resumed_rate, bound[0], bound[1] and resumed_rate is not None), no_resumed)


def _mode_of(modes: object, name: str) -> dict[str, Any]:
    mode = modes.get(name) if isinstance(modes, dict) else None
    return mode if isinstance(mode, dict) else {}


def _rate_of(mode: dict[str, Any], name: str) -> float | None:
    rate: object = mode.get("ceiling_per_second")
    if rate is None or (isinstance(rate, int | float) and not isinstance(rate, bool)):
        return rate
    raise ValueError(f"the ceiling of {name} handshakes is no number; {_WANTED}")


def _flag_of(mode: dict[str, Any], name: str, *, default: bool) -> bool:
    flag = mode.get(name)
    if flag is None or isinstance(flag, bool):
        return default if flag is None else flag
    raise ValueError(f"{name} is neither true nor false; {_WANTED}")


def _capacity(capacity: Capacity) -> dict[str, Any]:
    return {
        "ceiling_per_second": _rounded(capacity.rate),
        "generator_bound": capacity.generator_bound,
        "highest_tried": capacity.highest_tried,
        "resumption_held": capacity.resumption_held,
        "steps": [_step(step, why) for step, why in capacity.steps],
    }


def _step(step: Step, why: Strain | None) -> dict[str, Any]:
    return {
        "loop": step.loop.value,
        "seconds": step.seconds,
        "offered_per_second": _rounded(step.offered),
        "done_per_second": _rounded(step.done),
        "sustained": why is None,
        "strain": why,
        "due": step.due,
        "completed": step.completed,
        "resumed": step.resumed,
        "failed": step.failed,
        "unstarted": step.unstarted,
        "failures": step.failures,
        "handshake_seconds": _quantiles(step.handshake),
        "first_byte_seconds": _quantiles(step.first_byte),
        "lateness_seconds": _quantiles(step.lateness),
        "refusal_seconds": _quantiles(step.refusal),
        "generator_busy": _rounded(step.busy),
        "generator_squeezed": _rounded(step.squeezed),
        "generator_bound": step.generator_bound,
        "background": None if step.requests is None else _requests(step.requests),
    }


def _requests(requests: RequestStep) -> dict[str, Any]:
    return {
        "offered_per_second": _rounded(requests.offered),
        "done_per_second": _rounded(requests.done),
        "seconds": _quantiles(requests.times),
        "failures": requests.failures,
    }


def _quantiles(quantiles: Quantiles) -> dict[str, float | None]:
    return {name: _rounded(value) for name, value in asdict(quantiles).items()}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, _DIGITS)
