"""The fleet: all targets with their states, the worst first."""

from grafana import links
from grafana.alarms import firing, threshold, threshold_series, urgencies, urgency
from grafana.frame import Frame, Section, chosen
from grafana.panels import COUNTS_AS_BAD, Lanes, Lines, Number
from grafana.queries import EACH_BACKEND, EACH_TARGET, EACH_VERSION, FLEET, PLACE, Query, highest, lowest, per_minute
from grafana.tables import Column, Table
from grafana.words import TARGET

_HITS = "target_tls:tlsprobe_resumptions_per_attempt:ratio_rate15m"
_SERVER = "target_tls_mode:tlsprobe_handshake_server_seconds:p90_rate15m"
_NAME = "{{namespace}} {{target}}, TLS {{tls}}"
_LEFT = threshold("certificate_left_seconds")
_LEFT_CRITICAL = threshold("certificate_left_critical_seconds")
_HIT_STEPS = ((None, "red"), (threshold("resumption_ratio"), "green"))
_PLACES = ("cluster", "namespace", "target")

_NUMBERS = (
    Number(
        title="Targets",
        description="Targets that are probed, the built-in reference left out.",
        queries=(Query(f"count(count by ({EACH_TARGET}) (tlsprobe_interval_seconds{{{FLEET}}}))"),),
        unit="none",
        runbooks=("TlsprobeExporterAbsent",),
        absent="none",
    ),
    Number(
        title="Critical",
        description="Alerts of severity critical that fire. They are listed below, each with its runbook.",
        queries=(Query(f"count({firing(PLACE, 'critical')}) or vector(0)"),),
        unit="none",
        steps=COUNTS_AS_BAD,
    ),
    Number(
        title="Warnings",
        description="Alerts of severity warning that fire.",
        queries=(Query(f"count({firing(PLACE, 'warning')}) or vector(0)"),),
        unit="none",
        steps=((None, "green"), (1, "orange")),
    ),
    Number(
        title="Targets that cannot be used",
        description="Targets without a backend that had a full handshake, a certificate that verified and the HTTP"
        " answer that was expected.",
        queries=(Query(f"count(max by ({EACH_TARGET}) (tlsprobe_success{{{FLEET}}}) == 0) or vector(0)"),),
        unit="none",
        steps=COUNTS_AS_BAD,
        runbooks=("TlsprobeTargetFailing",),
    ),
    Number(
        title="Backends that cannot be used",
        description="The same for single addresses. Any of them may have been lost to a restart a moment ago.",
        queries=(Query(f"count(max by ({EACH_BACKEND}) (tlsprobe_success{{{FLEET}}}) == 0) or vector(0)"),),
        unit="none",
        steps=((None, "green"), (1, "orange")),
        runbooks=("TlsprobeBackendFailing", "TlsprobeBackendMissing"),
    ),
    Number(
        title="Key changes that killed tickets",
        description="Times in the time shown that backends ceased to accept tickets within their life. Of several"
        " exporters, the one that saw most.",
        queries=(
            Query(f"sum(max by ({EACH_VERSION}) (increase(tlsprobe_ticket_key_breaks_total{{{FLEET}}}[$__range])))"),
        ),
        unit="none",
        steps=COUNTS_AS_BAD,
        runbooks=("TlsprobeResumptionBrokenByRotation", "TlsprobeRotationWithoutOverlap"),
    ),
)

_TABLE = Table(
    title="Targets, the worst first",
    description="Sorted by the alerts that fire or are about to, and among equals by the worse of the two states. What"
    " is bad depends on what was meant (`expect`), so a target whose tickets are off by intent stands far down. Your"
    " own labels of the targets are columns here, and each column can be filtered. A name leads to its target.",
    height=12,
    runbooks=("TlsprobeResumptionGone", "TlsprobeTicketKeysSplit", "TlsprobeCertificateExpiring"),
    worst="Urgency",
    order=_PLACES,
    cells={"target": (links.to_target(),)},
    queries=(
        Query(f"target:tlsprobe_target_info:max{{{FLEET}}}"),
        Query(urgency()),
        Query(TARGET.ranks(f'{FLEET},tls="1.2"', EACH_TARGET)),
        Query(TARGET.ranks(f'{FLEET},tls="1.3"', EACH_TARGET)),
        Query(f"sum by ({EACH_TARGET}) (max by ({EACH_BACKEND}) (tlsprobe_success{{{FLEET}}}))"),
        Query(f"max by ({EACH_TARGET}) (tlsprobe_backends{{{FLEET}}})"),
        Query(f"min by ({EACH_TARGET}) ({_HITS}{{{FLEET}}})"),
        Query(
            f"max by ({EACH_TARGET}) (target_tls_mode:tlsprobe_handshake_duration_seconds:p50_rate15m"
            f'{{{FLEET},mode="full"}})'
        ),
        Query(f"max by ({EACH_TARGET}) (target_tls:tlsprobe_resumed_to_full_time:ratio{{{FLEET}}})"),
        Query(f"target:tlsprobe_http_reused_per_request:ratio_rate15m{{{FLEET}}}"),
        Query(f"min by ({EACH_TARGET}) (tlsprobe_certificate_not_after_timestamp_seconds{{{FLEET}}}) - time()"),
        Query(f"time() - max by ({EACH_TARGET}) (tlsprobe_last_round_timestamp_seconds{{{FLEET}}})"),
    ),
    columns=(
        Column(title=""),
        Column(title="Urgency", mappings=urgencies()),
        Column(title="TLS 1.2", mappings=(TARGET.mapping,)),
        Column(title="TLS 1.3", mappings=(TARGET.mapping,)),
        Column(title="Usable"),
        Column(title="Backends"),
        Column(title="Hit ratio", unit="percentunit", steps=_HIT_STEPS, decimals=0),
        Column(title="Full handshake", unit="s"),
        Column(title="Resumed / full", unit="percentunit", decimals=0),
        Column(title="Requests reusing", unit="percentunit", decimals=0),
        Column(
            title="Certificate left",
            unit="s",
            steps=((None, "red"), (_LEFT_CRITICAL, "orange"), (_LEFT, "green")),
            decimals=0,
        ),
        Column(title="Last round", unit="s", decimals=0),
    ),
)

_ALERTS = Table(
    title="Alerts that fire",
    description="The exporter's alerts, those about exporters too. A name leads to its runbook.",
    queries=(Query(f"max by (severity, alertname, {EACH_TARGET}, tls, instance) ({firing(PLACE)})"),),
    columns=(Column(title=""),),
    order=("severity", "alertname", *_PLACES),
    cells={"alertname": (links.to_runbook(),), "target": (links.to_target(),)},
    width=12,
    absent="none",
)

_STATES = Lanes(
    title="State of ticket keys",
    description="How the backends of each target stand to each other; of several exporters, the worst that one sees.",
    queries=(Query(TARGET.ranks(FLEET, EACH_VERSION), _NAME),),
    unit="none",
    mappings=(TARGET.mapping,),
    runbooks=("TlsprobeTicketKeysSplit", "TlsprobeResumptionGone"),
)

_OVER_TIME = (
    Lines(
        title="Sessions that resume, the lowest",
        description="The share of offered sessions that were resumed, fresh ones at any backend, over 15 minutes. The"
        " targets that went lowest in the time shown; the dashed line is the alert's.",
        queries=(
            Query(lowest(f"{_HITS}{{{FLEET}}}", EACH_VERSION), _NAME),
            Query(threshold_series("resumption_ratio"), "alert", is_threshold=True),
        ),
        unit="percentunit",
        most=1,
        runbooks=("TlsprobeResumptionRateLow",),
    ),
    Lines(
        title="Servers' own time for a full handshake, the slowest",
        description="What servers take themselves, the path's round trips taken off: nine in ten are faster. The"
        " dashed line is the alert's, which also asks whether the reference is as slow.",
        queries=(
            Query(highest(f'{_SERVER}{{{FLEET},mode="full"}}', f"{EACH_VERSION}, mode"), _NAME),
            Query(threshold_series("handshake_server_seconds"), "alert", is_threshold=True),
        ),
        unit="s",
        runbooks=("TlsprobeHandshakeSlow",),
    ),
    Lines(
        title="Failures a minute",
        description="What went wrong, by how far the probe came and why, over all exporters.",
        queries=(Query(per_minute("stage, reason", f"tlsprobe_failures_total{{{FLEET}}}"), "{{stage}}: {{reason}}"),),
        unit="none",
        stacked=True,
        runbooks=("TlsprobeProbeFailing",),
        absent="no failures",
    ),
    Lines(
        title="Sessions refused a minute",
        description="Offered sessions that were answered by a full handshake, by the likely cause. Those that are"
        " refused between backends by intent are among them.",
        queries=(Query(per_minute("cause", f"tlsprobe_resumption_refusals_total{{{FLEET}}}"), "{{cause}}"),),
        unit="none",
        stacked=True,
        absent="none refused",
    ),
)

FRAME = Frame(
    uid=links.FLEET,
    title="TLS fleet",
    description="Every target that is probed, the worst first: ticket keys, resumption, handshakes, certificates.",
    variables=(
        chosen(
            "target",
            "Target",
            f'label_values(tlsprobe_interval_seconds{{{PLACE},target!="reference"}}, target)',
        ),
    ),
    sections=(
        Section("Now", (*_NUMBERS, _TABLE, _ALERTS, _STATES)),
        Section("Over time", _OVER_TIME),
    ),
    marked=FLEET,
)
