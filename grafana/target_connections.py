"""One target: how connections are kept, certificates, and what went wrong."""

from grafana.alarms import threshold, threshold_series
from grafana.panels import Lanes, Lines, Panel
from grafana.queries import (
    EACH,
    EACH_BACKEND,
    EACH_TARGET,
    EACH_VERSION,
    ONE,
    ONE_BACKEND,
    ONE_BACKEND_TLS,
    ONE_TLS,
    Query,
    per_minute,
)
from grafana.tables import Column, Table
from grafana.words import NO_YES, STAPLE

_LEFT = threshold("certificate_left_seconds")
_LEFT_CRITICAL = threshold("certificate_left_critical_seconds")

CONNECTIONS: tuple[Panel, ...] = (
    Lines(
        title="Keep-alive",
        description="The share of further requests that their connection carried, by backend, and the share of all"
        " requests that needed no new connection. The dashed line is the alert's, for the former.",
        queries=(
            Query(
                f"target_backend:tlsprobe_http_reuses_per_attempt:ratio_rate15m{{{ONE_BACKEND}}}",
                "{{backend}}: further requests",
            ),
            Query(f"target:tlsprobe_http_reused_per_request:ratio_rate15m{{{ONE}}}", "of all requests"),
            Query(threshold_series("reuse_ratio"), "alert", is_threshold=True),
        ),
        unit="percentunit",
        most=1,
        runbooks=("TlsprobeKeepaliveBroken",),
    ),
    Lines(
        title="How connections ended, a minute",
        description="Connections that were to carry further requests or were held idle. `own_limit` is the exporter's"
        " own end, when it has seen enough.",
        queries=(Query(per_minute("reason", f"tlsprobe_http_connection_ends_total{{{ONE}}}"), "{{reason}}"),),
        unit="none",
        stacked=True,
        absent="none ended",
    ),
    Lines(
        title="How long connections may be idle",
        description="The longest time after which one still answered, the shortest after which one was found closed,"
        " what the Keep-Alive header announces, and what was promised.",
        queries=(
            Query(
                f"max by ({EACH_BACKEND}) (tlsprobe_keepalive_idle_lived_seconds{{{ONE_BACKEND}}})",
                "{{backend}}: lived",
            ),
            Query(
                f"min by ({EACH_BACKEND}) (tlsprobe_keepalive_idle_died_seconds{{{ONE_BACKEND}}})", "{{backend}}: died"
            ),
            Query(
                f"max by ({EACH_BACKEND}) (tlsprobe_http_keepalive_announced_timeout_seconds{{{ONE_BACKEND}}})",
                "{{backend}}: announced",
            ),
            Query(
                f"max by ({EACH_TARGET}) (tlsprobe_expect_keepalive_idle_seconds{{{ONE}}})",
                "promised",
                is_threshold=True,
            ),
        ),
        unit="s",
        runbooks=("TlsprobeIdleTimeoutShort",),
        absent="none was held yet",
    ),
    Lines(
        title="Requests on new and on kept connections: nine in ten are faster",
        description="From the departure of a request to the first byte of its answer, connecting left out.",
        queries=(
            Query(f"target_connection:tlsprobe_http_request_duration_seconds:p90_rate15m{{{ONE}}}", "{{connection}}"),
        ),
        unit="s",
    ),
    Lines(
        title="A new connection against a kept one",
        description="How many times as long a request takes that has to connect first: the median over adjacent pairs.",
        queries=(Query(f"avg by ({EACH_TARGET}) (tlsprobe_new_to_reused_request_time_ratio{{{ONE}}})", "new / kept"),),
        unit="none",
        width=8,
    ),
    Lines(
        title="TLS records",
        description="The first record of the last answer, and the largest. Servers that size records dynamically begin"
        " with about 1.4 KB; large records delay the first byte on slow links.",
        queries=(
            Query(f"max by ({EACH_BACKEND}) (tlsprobe_http_record_first_bytes{{{ONE_BACKEND}}})", "{{backend}}: first"),
            Query(
                f"max by ({EACH_BACKEND}) (tlsprobe_http_record_largest_bytes{{{ONE_BACKEND}}})",
                "{{backend}}: largest",
            ),
        ),
        unit="bytes",
        width=8,
    ),
    Lines(
        title="How backends left, in the time shown",
        description="Held connections of backends that left: `drained` with a goodbye, `dropped` without one, or"
        " `alive` to the end.",
        queries=(
            Query(
                f"max by ({EACH_TARGET}, farewell) (increase(tlsprobe_backend_farewells_total{{{ONE}}}[$__range]))",
                "{{farewell}}",
            ),
        ),
        unit="none",
        width=8,
    ),
)

CERTIFICATES: tuple[Panel, ...] = (
    Table(
        title="Certificates",
        description="The leaf that each backend shows, and the chain that it sends.",
        queries=(
            Query(f"min by ({EACH}) (tlsprobe_certificate_not_after_timestamp_seconds{{{ONE_BACKEND_TLS}}}) - time()"),
            Query(f"min by ({EACH}) (tlsprobe_certificate_name_matches{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_certificate_names{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_certificate_chain_length{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_certificate_chain_bytes{{{ONE_BACKEND_TLS}}})"),
        ),
        columns=(
            Column(
                title="Left", unit="s", steps=((None, "red"), (_LEFT_CRITICAL, "orange"), (_LEFT, "green")), decimals=0
            ),
            Column(title="Name matches", mappings=(NO_YES,)),
            Column(title="Names"),
            Column(title="Certificates"),
            Column(title="Size", unit="bytes"),
        ),
        order=("cluster", "namespace", "target", "backend", "tls"),
        width=12,
        runbooks=("TlsprobeCertificateExpiring",),
    ),
    Lanes(
        title="Stapled OCSP answers",
        description="What the stapled answer of each backend says, asked for every some minutes.",
        queries=(Query(STAPLE.ranks(ONE_BACKEND, EACH_BACKEND), "{{backend}}"),),
        unit="none",
        mappings=(STAPLE.mapping,),
        width=6,
        runbooks=(
            "TlsprobeCertificateRevoked",
            "TlsprobeOcspAnswerStale",
            "TlsprobeOcspAnswerUnusable",
            "TlsprobeOcspAnswerMissing",
        ),
        absent="not asked yet",
    ),
    Lines(
        title="Left until the next OCSP answer is due",
        description="Below zero, the stapled answer is out of date.",
        queries=(
            Query(
                f"min by ({EACH_BACKEND}) (tlsprobe_ocsp_next_update_timestamp_seconds{{{ONE_BACKEND}}}) - time()",
                "{{backend}}",
            ),
        ),
        unit="s",
        width=6,
        least=None,
        runbooks=("TlsprobeOcspAnswerStale",),
        absent="none is stapled",
    ),
)

TROUBLE: tuple[Panel, ...] = (
    Lanes(
        title="Backends that can be used",
        description="Whether the last round had a full handshake, a certificate that verified and the HTTP answer that"
        " was expected, at any exporter.",
        queries=(Query(f"max by ({EACH_BACKEND}) (tlsprobe_success{{{ONE_BACKEND}}})", "{{backend}}"),),
        unit="none",
        mappings=(NO_YES,),
        height=7,
        runbooks=("TlsprobeTargetFailing", "TlsprobeBackendFailing"),
    ),
    Lines(
        title="Failures a minute",
        description="By how far the probe came and why, over all exporters.",
        queries=(Query(per_minute("stage, reason", f"tlsprobe_failures_total{{{ONE}}}"), "{{stage}}: {{reason}}"),),
        unit="none",
        stacked=True,
        height=7,
        runbooks=("TlsprobeProbeFailing",),
        absent="no failures",
    ),
    Lines(
        title="What backends differ in",
        description="Distinct values over the backends, 1 where all agree.",
        queries=(
            Query(
                f"max by ({EACH_VERSION}, trait) (tlsprobe_backend_differences{{{ONE_TLS}}})", "{{trait}}, TLS {{tls}}"
            ),
        ),
        unit="none",
        width=8,
        runbooks=("TlsprobeBackendsDiffer",),
        absent="fewer than two backends have shown anything",
    ),
    Lines(
        title="Other answers over resumed connections, in the time shown",
        description="Answers whose status differs from those over full handshakes: a client certificate or a virtual"
        " host that is lost on the way.",
        queries=(
            Query(
                f"max by ({EACH_VERSION}) (increase(tlsprobe_http_resumed_mismatches_total{{{ONE_TLS}}}[$__range]))",
                "TLS {{tls}}",
            ),
        ),
        unit="none",
        width=8,
        runbooks=("TlsprobeResumedAnswersDiffer",),
    ),
    Lines(
        title="ClientHellos in two parts",
        description="Whether backends take a ClientHello that comes in two TCP segments or TLS records, 1 for yes."
        " Some middleboxes cannot, and large hellos of newer browsers come that way.",
        queries=(
            Query(
                f"min by ({EACH_BACKEND}, split) (tlsprobe_hello_split_accepted{{{ONE_BACKEND}}})",
                "{{backend}}: {{split}}",
            ),
        ),
        unit="none",
        width=8,
        most=1,
        absent="not tried yet",
    ),
    Table(
        title="What was agreed on",
        description="In the last full handshake of each backend, and how its sessions are kept.",
        queries=(
            Query(
                f"max by ({EACH}, cipher, group, alpn, key_type, mechanism) "
                f"(tlsprobe_connection_info{{{ONE_BACKEND_TLS}}})"
            ),
        ),
        columns=(Column(title=""),),
        order=("cluster", "namespace", "target", "backend", "tls", "cipher", "group", "alpn", "key_type", "mechanism"),
    ),
)
