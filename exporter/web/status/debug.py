"""What a person is told of one probe: its log, the target's settings without secrets, and the metrics."""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from exporter.model.failure import Failure
from exporter.model.observation import Observation
from exporter.model.target import Endpoint
from exporter.verdict.findings import asides_of, dangers_of, differences_of, events_of, mismatches_of
from exporter.verdict.offers import outcome_of
from exporter.verdict.sentence import explain
from exporter.web.status.html import visible
from exporter.web.status.probed import Probed
from exporter.web.status.words import milliseconds, spaced

_STRUCK = "<struck out>"


def describe(probed: Probed, metrics: str, salt: bytes) -> str:
    """Return all of it as text; what servers sent cannot begin a line of its own."""
    return "\n".join(
        [
            "# Log",
            *map(visible, _log(probed, salt)),
            "",
            "# Settings",
            json.dumps(settings_of(probed.target), indent=2),
            "",
            "# Metrics",
            metrics,
        ]
    )


def _log(probed: Probed, salt: bytes) -> Iterator[str]:
    yield f"probing {probed.target.name} at {probed.target.endpoint}, server name {probed.target.server_name}"
    if probed.failure is not None:
        yield str(probed.failure)
    if (result := probed.result) is not None:
        yield f"backends: {', '.join(map(str, result.backends)) or 'none'}"
        yield from map(_dial, result.observations)
        for backend, failure in result.failures:
            yield f"failure: {backend or 'the target'}: {failure}"
        for version, verdict in result.verdicts.items():
            told = explain(version, verdict, result.target.expect.resumption)
            yield f"{spaced(verdict.state)}: {told.text} {told.advice}".rstrip()
            for finding in (
                *events_of(verdict, salt),
                *dangers_of(verdict),
                *differences_of(verdict),
                *mismatches_of(verdict),
            ):
                yield f"TLS {version}: {finding}"
        yield from map(str, asides_of(result))
    yield f"{'success' if probed.success else 'no success'} after {probed.seconds:.3f} s"


def _dial(seen: Observation) -> str:
    words = f"{seen.backend} TLS {seen.version}"
    if seen.offer is not None:
        offered = "its own ticket" if seen.offer.issuer == seen.backend else f"a ticket of {seen.offer.issuer}"
        words += f", offered {offered}: {spaced(outcome_of(seen))}"
    if isinstance(seen.outcome, Failure):
        return f"{words}, {seen.outcome}"
    tls, timing = seen.outcome.tls, seen.outcome.timing
    facts = [seen.outcome.mode.value, milliseconds(timing.duration), tls.cipher, tls.group, tls.alpn]
    if timing.disturbed:
        facts.append("disturbed")
    if seen.outcome.verify_failure is not None:
        facts.append(str(seen.outcome.verify_failure))
    number = "1 ticket" if len(tls.tickets) == 1 else f"{len(tls.tickets)} tickets"
    return f"{words}, {', '.join(filter(None, facts))}, {number}"


def settings_of(value: object) -> Any:
    """Return settings as plain JSON values, without what may be secret: values of headers, and queries of paths."""
    if isinstance(value, Endpoint):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _setting(field.name, getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [settings_of(each) for each in value]
    return value


def _setting(name: str, value: Any) -> Any:
    match name:
        case "headers":
            return {header: _STRUCK for header, _ in value}
        case "path" | "large_path" if value is not None and "?" in value:
            return f"{value.partition('?')[0]}?{_STRUCK}"
        case "ca_pem" if value is not None:
            return f"{len(value)} characters of PEM"
        case "labels":
            return dict(value)
        case _:
            return settings_of(value)
