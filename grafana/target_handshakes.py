"""One target: what handshakes take, and what they cost in bytes and round trips."""

from grafana.alarms import threshold_series
from grafana.panels import Lines, Panel
from grafana.queries import (
    EACH,
    EACH_BACKEND,
    EACH_VERSION,
    ONE_BACKEND,
    ONE_BACKEND_TLS,
    ONE_TLS,
    Query,
    per_minute,
)

_MODE = "{{mode}}, TLS {{tls}}"
_BACKEND = "{{backend}}, {{mode}}, TLS {{tls}}"
_VERSION = "TLS {{tls}}"
_TIME = "target_tls_mode:tlsprobe_handshake_duration_seconds"
_SERVER = "target_tls_mode:tlsprobe_handshake_server_seconds"

HANDSHAKES: tuple[Panel, ...] = (
    Lines(
        title="Full against resumed: half are faster",
        description="TLS handshakes as a client waits for them, TCP connect left out, in the last 15 minutes."
        " `refused` is a session that was offered in vain, which costs more than a full handshake without an offer.",
        queries=(Query(f"{_TIME}:p50_rate15m{{{ONE_TLS}}}", _MODE),),
        unit="s",
    ),
    Lines(
        title="Full against resumed: nine in ten are faster",
        description="The same for the slow ones.",
        queries=(Query(f"{_TIME}:p90_rate15m{{{ONE_TLS}}}", _MODE),),
        unit="s",
    ),
    Lines(
        title="The servers' own part: nine in ten are faster",
        description="What servers take themselves, the path's round trips taken off. The dashed line is the alert's,"
        " which also asks whether the reference is as slow.",
        queries=(
            Query(f"{_SERVER}:p90_rate15m{{{ONE_TLS}}}", _MODE),
            Query(threshold_series("handshake_server_seconds"), "alert", is_threshold=True),
        ),
        unit="s",
        runbooks=("TlsprobeHandshakeSlow",),
    ),
    Lines(
        title="The path: round trip to each backend",
        description="The shortest round trip in the last round, from the exporter that is nearest.",
        queries=(Query(f"min by ({EACH_BACKEND}) (tlsprobe_rtt_seconds{{{ONE_BACKEND}}})", "{{backend}}"),),
        unit="s",
    ),
    Lines(
        title="Resumed against full",
        description="How long a resumed handshake takes, a full one being 100 %: the median over adjacent pairs. Over"
        " a short path with a fast key it may be more than 100 %.",
        queries=(Query(f"target_tls:tlsprobe_resumed_to_full_time:ratio{{{ONE_TLS}}}", _VERSION),),
        unit="percentunit",
    ),
    Lines(
        title="Servers against the reference",
        description="How many times as long the servers take for a full handshake as the reference servers on the"
        " exporter's own machine: a slow machine raises both. The dashed line is the alert's.",
        queries=(
            Query(f"target_tls:tlsprobe_handshake_server_to_reference:ratio_p90_rate15m{{{ONE_TLS}}}", _VERSION),
            Query(threshold_series("handshake_server_to_reference"), "alert", is_threshold=True),
        ),
        unit="none",
        runbooks=("TlsprobeHandshakeSlow",),
    ),
    Lines(
        title="Last handshake of each backend",
        description="Of the last round, by an exporter that saw it fastest; gaps are rounds that the network"
        " disturbed.",
        queries=(Query(f"min by ({EACH}, mode) (tlsprobe_backend_handshake_seconds{{{ONE_BACKEND_TLS}}})", _BACKEND),),
        unit="s",
    ),
    Lines(
        title="Handshakes left out a minute",
        description="Handshakes that are not in the histograms of times, since the network disturbed them or a figure"
        " was only an upper bound.",
        queries=(
            Query(
                per_minute("tls, reason", f"tlsprobe_handshake_samples_left_out_total{{{ONE_TLS}}}"),
                "{{reason}}, TLS {{tls}}",
            ),
        ),
        unit="none",
        stacked=True,
        absent="none left out",
    ),
)

COST: tuple[Panel, ...] = (
    Lines(
        title="Bytes from the server",
        description="Received until the last handshake was done. A full one carries the chain of certificates, a"
        " resumed one does not.",
        queries=(
            Query(f"max by ({EACH_VERSION}, mode) (tlsprobe_handshake_received_bytes{{{ONE_BACKEND_TLS}}})", _MODE),
            Query(
                f"max by ({EACH_VERSION}) (tlsprobe_certificate_chain_bytes{{{ONE_BACKEND_TLS}}})",
                "certificates, TLS {{tls}}",
            ),
        ),
        unit="bytes",
        width=8,
    ),
    Lines(
        title="Bytes to the server",
        description="Sent until the last handshake was done, and the exporter's own ClientHello.",
        queries=(
            Query(f"max by ({EACH_VERSION}, mode) (tlsprobe_handshake_sent_bytes{{{ONE_BACKEND_TLS}}})", _MODE),
            Query(f"max by ({EACH_VERSION}) (tlsprobe_client_hello_bytes{{{ONE_TLS}}})", "ClientHello, TLS {{tls}}"),
        ),
        unit="bytes",
        width=8,
    ),
    Lines(
        title="Round trips",
        description="Those of the last handshake, TCP's left out: 2 for a full one over TLS 1.2, else 1, and one more"
        " where the server asks for another key share or its certificates exceed the first window.",
        queries=(
            Query(f"max by ({EACH_VERSION}, mode) (tlsprobe_handshake_round_trips{{{ONE_BACKEND_TLS}}})", _MODE),
            Query(per_minute("tls", f"tlsprobe_hello_retries_total{{{ONE_TLS}}}"), "retries a minute, TLS {{tls}}"),
        ),
        unit="none",
        width=8,
    ),
)
