"""The reference servers: what TLS costs on the exporter's own machine."""

from grafana.panels import Lines, Panel
from grafana.queries import EXPORTER, Query, per_minute

_KEY = "key_type, tls"
_MODE = "{{key_type}}, TLS {{tls}}, {{mode}}"
_PAIR = "{{key_type}}, TLS {{tls}}"


def _median(family: str, by: str, legend: str) -> Query:
    return Query(f"avg by ({by}) (tlsprobe_reference_{family}{{{EXPORTER}}})", legend)


REFERENCE: tuple[Panel, ...] = (
    Lines(
        title="Handshakes with the reference: half are faster",
        description="By a plain client's own clock, TCP connect left out, over all exporters that are chosen.",
        queries=(
            Query(
                f"histogram_quantile(0.5, sum by ({_KEY}, mode, le)"
                f" (rate(tlsprobe_reference_handshake_duration_seconds_bucket{{{EXPORTER}}}[1h])))",
                _MODE,
            ),
        ),
        unit="s",
    ),
    Lines(
        title="Processor time of a handshake at the server",
        description="The median of the last ones. What resumption saves is the signature, so it saves most with RSA.",
        queries=(_median("handshake_cpu_seconds", f"{_KEY}, mode", _MODE),),
        unit="s",
    ),
    Lines(
        title="Resumed against full: processor time",
        description="The median over adjacent pairs, a full handshake being 100 %.",
        queries=(_median("resumed_to_full_cpu_ratio", _KEY, _PAIR),),
        unit="percentunit",
        width=8,
    ),
    Lines(
        title="Resumed against full: time",
        description="The same as a client waits for it. Over loopback with a fast key it may be more than 100 %.",
        queries=(_median("resumed_to_full_time_ratio", _KEY, _PAIR),),
        unit="percentunit",
        width=8,
    ),
    Lines(
        title="Refused against full: time",
        description="A session that is offered in vain: more than 100 % means that broken resumption is worse than"
        " none.",
        queries=(_median("refused_to_full_time_ratio", _KEY, _PAIR),),
        unit="percentunit",
        width=8,
    ),
)

MACHINE: tuple[Panel, ...] = (
    Lines(
        title="Processor time of a signature",
        description="What a full handshake has and a resumed one has not.",
        queries=(_median("signature_cpu_seconds", "key_type, operation", "{{key_type}}, {{operation}}"),),
        unit="s",
        width=8,
    ),
    Lines(
        title="Requests: TLS against plain, kept alive against new",
        description="Requests a second over TLS on a connection that is kept alive: how many times as many as with a"
        " new connection for each, and what share of those in clear.",
        queries=(
            _median("kept_alive_to_new_request_rate_ratio", "job", "kept alive / new"),
            _median("tls_to_plain_request_rate_ratio", "job", "TLS / plain"),
        ),
        unit="none",
        width=8,
    ),
    Lines(
        title="Processor time of a GiB",
        description="That a reference server sends, over TLS and in clear.",
        queries=(_median("transfer_cpu_seconds", "transport", "{{transport}}"),),
        unit="s",
        width=8,
    ),
    Lines(
        title="What the medians stand on",
        description="Adjacent pairs; few of them say little.",
        queries=(
            Query(f"min by ({_KEY}) (tlsprobe_reference_handshake_pairs{{{EXPORTER}}})", _PAIR),
            Query(f"min by (comparison) (tlsprobe_reference_pairs{{{EXPORTER}}})", "{{comparison}}"),
        ),
        unit="none",
        width=8,
    ),
    Lines(
        title="Samples: age and cost",
        description="Time since the reference was last sampled, and the processor time that the sample took itself.",
        queries=(
            Query(
                f"time() - min by (instance) (tlsprobe_reference_last_sample_timestamp_seconds{{{EXPORTER}}})",
                "{{instance}}: age",
            ),
            Query(
                f"max by (instance) (tlsprobe_reference_sample_cpu_seconds{{{EXPORTER}}})", "{{instance}}: processor"
            ),
        ),
        unit="s",
        width=8,
    ),
    Lines(
        title="Trouble with the reference, a minute",
        description="Samples that came to nothing, handshakes that were not what they were meant to be, and servers"
        " that ended by themselves or hung.",
        queries=(
            Query(
                per_minute("instance", f"tlsprobe_reference_sample_failures_total{{{EXPORTER}}}"),
                "{{instance}}: samples",
            ),
            Query(
                per_minute("instance", f"tlsprobe_reference_unconfirmed_handshakes_total{{{EXPORTER}}}"),
                "{{instance}}: handshakes",
            ),
            Query(per_minute("instance", f"tlsprobe_reference_restarts_total{{{EXPORTER}}}"), "{{instance}}: restarts"),
        ),
        unit="none",
        width=8,
        stacked=True,
        runbooks=("TlsprobeReferenceNotOk",),
        absent="none",
    ),
)
