"""The page about all families, made from their table: `python -m exporter.metrics.document > docs/metrics.md`."""

import sys
from collections.abc import Iterable, Iterator

from exporter.metrics.families import TABLE
from exporter.metrics.family import PREFIX, Family, Kind
from exporter.metrics.labels import Connection, LeftOut
from exporter.metrics.ledger import MAX_BACKENDS
from exporter.model.connections import End, Farewell, HelloSplit, StapleStatus, Trait
from exporter.model.failure import STAGE_REASONS
from exporter.model.observation import TimingSource
from exporter.model.target import Resumption
from exporter.model.verdicts import BackendState, Cause, Mechanism, TargetState
from exporter.model.yardstick import Comparison, Operation, Transport

_HEAD = f"""\
# Metrics

This page is made from the table in `exporter/metrics/families.py` by `python -m exporter.metrics.document`, and a test
holds it to the table.

- `target` is the configured name, `backend` an address with its port, `tls` is `1.2` or `1.3`.
- `mode` is `full`, `resumed`, or `refused`: a session was offered and the server did a full handshake all the same.
- `origin` tells who had issued an offered session: `self` (the same backend), `peer` (another one of the target),
  `aged` (the same backend, and the session was kept back on purpose), `departed` (one that has left since). `backend`
  is always the one that was asked.
- `issuer_target` is another configured target, whose sessions are offered to this one.
- A counter is there at 0 as soon as it can move: one of a target before its first round, one of a backend with the
  first round that knew the backend; attempts of `aged` sessions once it issued one that lives for over a minute or
  promises nothing, those of `departed` ones once a backend left that had issued sessions.
- Changes and breaks of ticket keys are counted per target, so they outlive the backend that they happened to.
- The series of a backend that the name no longer stands for are gone after the next round, its counters too. If it
  comes back, they begin at 0.
- Only the first {MAX_BACKENDS} backends of a target have series of their own. `tlsprobe_series_capped_total` grows when
  there are more. `tlsprobe_backends_left_out_total` grows where a target stands for more addresses than its
  `probe.max_backends`.
- `source` is the configured name of one that names targets while we run. What could not be used of a list leaves the
  list before it in force, and the log says what it was.
- A gauge without a value is absent. No gauge has a special number for "not known".
- Ratios of two counters are for the query, such as
  `rate(tlsprobe_resumptions_total[5m]) / rate(tlsprobe_resumption_attempts_total[5m])`. The share of their hint that
  tickets are known to live is `tlsprobe_ticket_oldest_accepted_seconds / tlsprobe_ticket_lifetime_seconds`, the age of
  a key `time() - tlsprobe_ticket_key_first_seen_timestamp_seconds`.
- Families of HTTP are there only where requests are made: not with `http` off or `starttls` set. Those of reused
  connections need more than one request a connection, those of idle ones a connection to hold. The connections that
  carried requests are `tlsprobe_http_requests_total{{connection="new"}}`. A further request that finds its connection
  closed is an attempt at reuse and not a request. Failures of the stages `proxy` and `starttls`
  are shown only where there is a proxy to ask or a dialogue to hold.
- `tlsprobe_backend_differences` compares what the backends' last full handshakes showed, of those that were reached in
  the last rounds. `versions` tells whether they all speak this TLS version. `chain` takes in the leaf certificate.
  Ticket lifetimes count as one from 80 % of the longest on, since some servers promise what is left of a key's life. A
  backend whose certificate, chain, ALPN or cipher goes to and fro from handshake to handshake is several, and is left
  out.
- `tlsprobe_http_resumed_mismatches_total` counts from the third answer in a row on, and for 429, 500, 502, 503 and 504
  from the fifth, as servers give those to anyone now and then. The last sixteen answers over full handshakes, or as
  many as there were, but three at the least, must all have the one status.
- The age of a stapled OCSP answer is `time() - tlsprobe_ocsp_this_update_timestamp_seconds`. It is asked for every some
  minutes and not each round.
- The census of ticket keys behind one address looks at the last samples alone, so its numbers are gauges: they can
  fall. `tlsprobe_ticket_key_census_offers / tlsprobe_ticket_key_census_hits` is the effective number of keys, and says
  little while there are few offers. The state `mixed` takes that into account: alert on the state.
- Histograms are classic ones. Prometheus stores them as native histograms with custom buckets if the scrape
  configuration says `convert_classic_histograms_to_nhcb: true`.
"""

_CLOSED = (
    ("state", "ticket_key_state", TargetState),
    ("state", "backend_state", BackendState),
    ("cause", "resumption_refusals_total", Cause),
    ("reason", "handshake_samples_left_out_total", LeftOut),
    ("connection", "http_requests_total", Connection),
    ("reason", "http_connection_ends_total", End),
    ("farewell", "backend_farewells_total", Farewell),
    ("trait", "backend_differences", Trait),
    ("split", "hello_split_accepted", HelloSplit),
    ("status", "ocsp_status", StapleStatus),
    ("mechanism", "connection_info", Mechanism),
    ("resumption", "expect_resumption", Resumption),
    ("source", "timing_source_info", TimingSource),
    ("comparison", "reference_pairs", Comparison),
    ("transport", "reference_transfer_cpu_seconds", Transport),
    ("operation", "reference_signature_cpu_seconds", Operation),
)

_EXAMPLE = (3, 2)


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_HEAD, *_tables(), *_label_values(), *_arithmetic()]) + "\n"


def formula(family: Family) -> str:
    """Return the series that a target adds at most, in B backends and V TLS versions, such as `2·B·V`."""
    if not family.per_target:
        return "0"
    variables = [letter for letter, wanted in (("B", family.per_backend), ("V", family.per_version)) if wanted]
    factor = [str(family.factor)] if family.factor > 1 or not variables else []
    return "·".join(factor + variables)


def _tables() -> Iterator[str]:
    yield "## Families about targets\n"
    yield from _table(family for family in TABLE if family.per_target)
    yield "\n## Families about the exporter\n"
    yield from _table(family for family in TABLE if not family.per_target)


def _table(families: Iterable[Family]) -> Iterator[str]:
    yield "| family | type | labels | unit | series per target | meaning |"
    yield "|---|---|---|---|---|---|"
    for family in families:
        labels = ", ".join(f"`{label}`" for label in family.labels) + (
            ", the owner's own" if family.owner_labels else ""
        )
        yield f"| `{family.full_name}` | {family.kind} | {labels} | {family.unit} | {formula(family)} | {family.help} |"


def _label_values() -> Iterator[str]:
    yield "\n## What labels can say\n"
    yield "| label | of | values |"
    yield "|---|---|---|"
    for label, family, values in _CLOSED:
        yield f"| `{label}` | `{PREFIX}{family}` | {', '.join(f'`{value}`' for value in values)} |"
    for stage, reasons in STAGE_REASONS.items():
        listed = ", ".join(f"`{reason}`" for reason in reasons)
        yield f"| `reason`, where `stage` is `{stage}` | `{PREFIX}failures_total` | {listed} |"


def _arithmetic() -> Iterator[str]:
    backends, versions = _EXAMPLE
    alone, by_version, by_backend, by_both = _sums()
    total = sum(family.series(backends, versions) for family in TABLE)
    own = sum(family.factor for family in TABLE if not family.per_target)
    buckets = next(family for family in TABLE if family.kind is Kind.HISTOGRAM).buckets
    yield "\n## How many series that is\n"
    yield "With B backends and V TLS versions, a target adds at most\n"
    yield f"    {alone} + {by_version}·V + {by_backend}·B + {by_both}·B·V\n"
    yield f"series. For {backends} backends and {versions} versions that is\n"
    yield (
        f"    {alone} + {by_version}·{versions} + {by_backend}·{backends} + {by_both}·{backends}·{versions} = {total}\n"
    )
    yield f"The exporter adds {own} about itself. A histogram has {len(buckets)} buckets, `+Inf`, a sum and a count:"
    yield f"{len(buckets) + 3} series for each set of labels. Its upper bounds, in seconds, are"
    yield ", ".join(f"{bound:g}" for bound in buckets) + "."


def _sums() -> tuple[int, int, int, int]:
    """Return the series of one target, for each version, for each backend, and for each backend and version."""
    sums = {(backend, version): 0 for backend in (False, True) for version in (False, True)}
    for family in TABLE:
        if family.per_target:
            sums[family.per_backend, family.per_version] += family.factor
    return sums[False, False], sums[False, True], sums[True, False], sums[True, True]


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.write(page())


if __name__ == "__main__":
    main()
