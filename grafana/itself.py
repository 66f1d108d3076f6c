"""The exporter itself, and the reference that it measures itself against."""

from grafana import links
from grafana.alarms import threshold, threshold_series
from grafana.frame import Frame, Section, chosen
from grafana.panels import COUNTS_AS_BAD, Lines, Number, Panel
from grafana.queries import EXPORTER, PLACE, Query, per_minute
from grafana.reference import MACHINE, REFERENCE
from grafana.tables import Column, Table
from grafana.words import NO_YES

_EACH = "cluster, namespace, job, instance"

_NOW: tuple[Panel, ...] = (
    Number(
        title="Exporters",
        description="Exporters that are scraped.",
        queries=(Query(f"count(tlsprobe_build_info{{{EXPORTER}}})"),),
        unit="none",
        width=6,
        runbooks=("TlsprobeExporterAbsent",),
    ),
    Number(
        title="References not as they are",
        description="Exporters that do not find their own servers, whose truth is known, to be what they are. Do not"
        " trust what else they say.",
        queries=(Query(f"count(tlsprobe_reference_ok{{{EXPORTER}}} == 0) or vector(0)"),),
        unit="none",
        width=6,
        steps=COUNTS_AS_BAD,
        runbooks=("TlsprobeReferenceNotOk",),
    ),
    Number(
        title="Configurations refused",
        description="Exporters that go on with the configuration from before.",
        queries=(Query(f"count(tlsprobe_config_last_reload_successful{{{EXPORTER}}} == 0) or vector(0)"),),
        unit="none",
        width=6,
        steps=COUNTS_AS_BAD,
        runbooks=("TlsprobeConfigReloadFailed",),
    ),
    Number(
        title="Rounds left out",
        description="The share of rounds in the time shown that were left out since the one before still ran.",
        queries=(
            Query(
                f"sum(increase(tlsprobe_round_overruns_total{{{EXPORTER}}}[$__range])) / (\n"
                f"  sum(increase(tlsprobe_rounds_total{{{EXPORTER}}}[$__range]))"
                f" + sum(increase(tlsprobe_round_overruns_total{{{EXPORTER}}}[$__range]))\n)"
            ),
        ),
        unit="percentunit",
        width=6,
        steps=((None, "green"), (threshold("round_overrun_ratio"), "orange")),
        runbooks=("TlsprobeRoundsOverrun",),
    ),
    Number(
        title="Backends without series",
        description="In the time shown, counted once a backend and round: targets that stand for too many addresses.",
        queries=(Query(f"sum(increase(tlsprobe_series_capped_total{{{EXPORTER}}}[$__range]))"),),
        unit="none",
        width=6,
        steps=((None, "green"), (1, "orange")),
        runbooks=("TlsprobeSeriesCapped",),
    ),
    Number(
        title="Backends left out",
        description="In the time shown, counted once a backend and round: addresses beyond a target's `max_backends`,"
        " which are never probed.",
        queries=(Query(f"sum(increase(tlsprobe_backends_left_out_total{{{EXPORTER}}}[$__range]))"),),
        unit="none",
        width=6,
        steps=((None, "green"), (1, "orange")),
        runbooks=("TlsprobeBackendsLeftOut",),
    ),
    Number(
        title="Lists of targets refused",
        description="Sources whose last list could not be read or used, so that the one from before is in force.",
        queries=(Query(f"count(tlsprobe_source_successful{{{EXPORTER}}} == 0) or vector(0)"),),
        unit="none",
        width=6,
        steps=COUNTS_AS_BAD,
        runbooks=("TlsprobeSourceFailing",),
    ),
    Number(
        title="Faults of the exposition",
        description="Targets or collectors left out by a fault of the exporter's own, in the time shown.",
        queries=(Query(f"sum(increase(tlsprobe_exposition_faults_total{{{EXPORTER}}}[$__range]))"),),
        unit="none",
        width=6,
        steps=COUNTS_AS_BAD,
        runbooks=("TlsprobeExpositionFaulty",),
    ),
    Table(
        title="Exporters",
        description="What each was built from, what it takes its times from, and when its configuration was loaded.",
        queries=(
            Query(f"max by ({_EACH}, version, python, openssl) (tlsprobe_build_info{{{EXPORTER}}})"),
            Query(f"max by ({_EACH}, source) (tlsprobe_timing_source_info{{{EXPORTER}}})"),
            Query(f"time() - max by ({_EACH}) (tlsprobe_config_last_reload_success_timestamp_seconds{{{EXPORTER}}})"),
            Query(f"min by ({_EACH}) (tlsprobe_reference_ok{{{EXPORTER}}})"),
            Query(f"count by ({_EACH}) (tlsprobe_interval_seconds{{{EXPORTER}}})"),
        ),
        columns=(
            Column(title=""),
            Column(title=""),
            Column(title="Configured", unit="s", decimals=0),
            Column(title="Reference ok", mappings=(NO_YES,)),
            Column(title="Targets"),
        ),
        order=("cluster", "namespace", "job", "instance", "version", "python", "openssl", "source"),
        height=6,
    ),
)

_WORK: tuple[Panel, ...] = (
    Lines(
        title="Rounds a minute",
        description="Finished and left out.",
        queries=(
            Query(per_minute("instance", f"tlsprobe_rounds_total{{{EXPORTER}}}"), "{{instance}}: finished"),
            Query(per_minute("instance", f"tlsprobe_round_overruns_total{{{EXPORTER}}}"), "{{instance}}: left out"),
        ),
        unit="none",
        runbooks=("TlsprobeRoundsOverrun",),
    ),
    Lines(
        title="Intervals since the last round",
        description="Of each exporter's target that waits longest. The dashed line is the alert's.",
        queries=(
            Query(
                f"max by ({_EACH}) ((timestamp(tlsprobe_last_round_timestamp_seconds{{{EXPORTER}}})"
                f" - tlsprobe_last_round_timestamp_seconds{{{EXPORTER}}}) / tlsprobe_interval_seconds{{{EXPORTER}}})",
                "{{instance}}",
            ),
            Query(threshold_series("rounds_missing"), "alert", is_threshold=True),
        ),
        unit="none",
        runbooks=("TlsprobeRoundsStalled",),
    ),
    Lines(
        title="Lack of processor time",
        description="By how much it prolonged handshakes: nine in ten waited less. It is taken off what is reported,"
        " and makes failures likely all the same. The dashed line is the alert's.",
        queries=(
            Query(f"instance:tlsprobe_starvation_seconds:p90_rate15m{{{EXPORTER}}}", "{{instance}}"),
            Query(threshold_series("starvation_seconds"), "alert", is_threshold=True),
        ),
        unit="s",
        runbooks=("TlsprobeExporterStarved",),
    ),
    Lines(
        title="Failures that are the exporter's own, a minute",
        description="`starved` for want of processor time, `settings` of its own, or a `bug`; and local resources that"
        " a connection lacked.",
        queries=(
            Query(
                per_minute(
                    "instance, stage, reason",
                    f'tlsprobe_failures_total{{{EXPORTER},stage=~"probe|connect",'
                    'reason=~"starved|settings|bug|local_resources"}',
                ),
                "{{instance}}: {{reason}}",
            ),
        ),
        unit="none",
        stacked=True,
        runbooks=("TlsprobeExporterStarved",),
        absent="none",
    ),
)

FRAME = Frame(
    uid=links.EXPORTER,
    title="TLS exporter and reference",
    description="Whether the exporters can be trusted, and what TLS costs on their own machines.",
    variables=(chosen("instance", "Exporter", f"label_values(tlsprobe_build_info{{{PLACE}}}, instance)"),),
    sections=(
        Section("Now", _NOW),
        Section("Work", _WORK),
        Section("What handshakes cost here", REFERENCE),
        Section("What TLS costs here", MACHINE),
    ),
)
