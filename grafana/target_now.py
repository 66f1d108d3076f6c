"""One target at a glance: its state, its alerts, and what was meant."""

from grafana.alarms import firing, threshold
from grafana.links import to_runbook
from grafana.panels import COUNTS_AS_BAD, Number, Panel
from grafana.queries import EACH_BACKEND, EACH_TARGET, EACH_VERSION, ONE, ONE_TLS, Query
from grafana.tables import Column, Table
from grafana.words import TARGET

_VERSION = "TLS {{tls}}"
_HITS = "target_tls:tlsprobe_resumptions_per_attempt:ratio_rate15m"

NOW: tuple[Panel, ...] = (
    Number(
        title="State",
        description="How the backends' sessions stand to each other; of several exporters, the worst that one sees.",
        queries=(Query(TARGET.ranks(ONE_TLS, EACH_VERSION), _VERSION),),
        unit="none",
        mappings=(TARGET.mapping,),
        runbooks=("TlsprobeTicketKeysSplit", "TlsprobeResumptionGone"),
    ),
    Number(
        title="Backends that can be used",
        description="Addresses with a full handshake, a certificate that verified and the HTTP answer that was"
        " expected, and all that the name stands for.",
        queries=(
            Query(f"sum by ({EACH_TARGET}) (max by ({EACH_BACKEND}) (tlsprobe_success{{{ONE}}}))", "usable"),
            Query(f"max by ({EACH_TARGET}) (tlsprobe_backends{{{ONE}}})", "all"),
            Query(f"max by ({EACH_TARGET}) (tlsprobe_expected_backends{{{ONE}}})", "promised"),
        ),
        unit="none",
        runbooks=("TlsprobeTargetFailing", "TlsprobeBackendFailing", "TlsprobeBackendMissing"),
    ),
    Number(
        title="Sessions that resume",
        description="The share of offered sessions, fresh ones at any backend, that were resumed in 15 minutes.",
        queries=(Query(f"{_HITS}{{{ONE_TLS}}}", _VERSION),),
        unit="percentunit",
        steps=((None, "red"), (threshold("resumption_ratio"), "green")),
        runbooks=("TlsprobeResumptionRateLow",),
    ),
    Number(
        title="Resumed against full",
        description="How long a resumed handshake takes, a full one being 100 %: the median over adjacent pairs.",
        queries=(Query(f"target_tls:tlsprobe_resumed_to_full_time:ratio{{{ONE_TLS}}}", _VERSION),),
        unit="percentunit",
    ),
    Number(
        title="Connections killed by a session",
        description="Connections in the time shown that died of the session they offered, while one without it worked"
        " right after: an outage for returning clients alone.",
        queries=(
            Query(
                f"max by ({EACH_VERSION}) (increase(tlsprobe_resumption_killed_total{{{ONE_TLS}}}[$__range]))", _VERSION
            ),
        ),
        unit="none",
        steps=COUNTS_AS_BAD,
        runbooks=("TlsprobeTicketsKillConnections",),
    ),
    Number(
        title="Last round",
        description="Time since an exporter finished a round. All that is shown is as old as that.",
        queries=(Query(f"time() - max by ({EACH_TARGET}) (tlsprobe_last_round_timestamp_seconds{{{ONE}}})"),),
        unit="s",
        runbooks=("TlsprobeRoundsStalled", "TlsprobeRoundsOverrun"),
    ),
    Table(
        title="Alerts that fire",
        description="Of this target. A name leads to its runbook.",
        queries=(Query(f"max by (severity, alertname, tls) ({firing(ONE)})"),),
        columns=(Column(title=""),),
        order=("severity", "alertname"),
        cells={"alertname": (to_runbook(),)},
        width=8,
        height=6,
        absent="none",
    ),
    Table(
        title="What was meant",
        description="The configuration's `expect`: what is not promised is empty, and raises no alert.",
        queries=(
            Query(f"max by ({EACH_TARGET}, resumption) (tlsprobe_expect_resumption{{{ONE}}})"),
            Query(f"max by ({EACH_TARGET}) (tlsprobe_expect_min_backends{{{ONE}}})"),
            Query(f"max by ({EACH_TARGET}) (tlsprobe_expect_rotation_seconds{{{ONE}}})"),
            Query(f"max by ({EACH_TARGET}) (tlsprobe_expect_ticket_life_ratio{{{ONE}}})"),
            Query(f"max by ({EACH_TARGET}) (tlsprobe_expect_keepalive_idle_seconds{{{ONE}}})"),
        ),
        columns=(
            Column(title=""),
            Column(title="Backends"),
            Column(title="Oldest key", unit="s"),
            Column(title="Life of tickets", unit="percentunit"),
            Column(title="Idle connections", unit="s"),
        ),
        order=("cluster", "namespace", "target", "resumption"),
        width=16,
        height=6,
    ),
)
