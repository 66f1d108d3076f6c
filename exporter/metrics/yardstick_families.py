"""The families of what TLS costs on this very machine, by samples of the reference servers."""

from exporter.metrics.family import counter, gauge, histogram
from exporter.model.observation import Mode
from exporter.model.yardstick import KINDS, Comparison, Operation, Transport

_KEY_TYPES = len({kind.key_type for kind in KINDS})

YARDSTICK = (
    histogram(
        "reference_handshake_duration_seconds",
        "key_type tls mode",
        "TLS handshakes that a plain client made with a reference server, by its own clock, TCP connect left out.",
        values=len(KINDS) * len(Mode),
    ),
    gauge(
        "reference_handshake_cpu_seconds",
        "key_type tls mode",
        "Processor time that a TLS handshake costs a reference server, the median of the last ones.",
        values=len(KINDS) * len(Mode),
    ),
    gauge(
        "reference_resumed_to_full_cpu_ratio",
        "key_type tls",
        "Median of resumed over full processor time of a reference server in the last adjacent pairs.",
        values=len(KINDS),
    ),
    gauge(
        "reference_resumed_to_full_time_ratio",
        "key_type tls",
        "Median of resumed over full handshake time with a reference server in the last adjacent pairs.",
        values=len(KINDS),
    ),
    gauge(
        "reference_refused_to_full_time_ratio",
        "key_type tls",
        "Median of refused over full handshake time with a reference server in the last adjacent pairs.",
        values=len(KINDS),
    ),
    gauge(
        "reference_handshake_pairs",
        "key_type tls",
        "Adjacent handshakes, full and resumed, that the medians of the reference stand on.",
        values=len(KINDS),
    ),
    gauge(
        "reference_tls_to_plain_request_rate_ratio",
        "",
        "Requests a second over TLS to those in clear, on a connection that is kept alive, median of the last pairs.",
    ),
    gauge(
        "reference_kept_alive_to_new_request_rate_ratio",
        "",
        "Requests a second on one TLS connection to those with a connection for each, the median of the last pairs.",
    ),
    gauge(
        "reference_transfer_cpu_seconds",
        "transport",
        "Processor time for each GiB that a reference server sends, the median of the last ones.",
        values=len(Transport),
    ),
    gauge(
        "reference_pairs",
        "comparison",
        "Adjacent pairs that the medians of requests and transfers stand on.",
        values=len(Comparison),
    ),
    gauge(
        "reference_signature_cpu_seconds",
        "key_type operation",
        "Processor time of one signature or its verification: what a resumed handshake saves is made of them.",
        values=_KEY_TYPES * len(Operation),
    ),
    gauge("reference_last_sample_timestamp_seconds", "", "Unix time at which the reference was last sampled."),
    gauge("reference_sample_cpu_seconds", "", "Processor time that the last sample itself took, servers included."),
    counter("reference_samples_total", "", "Samples that were taken of the reference."),
    counter("reference_sample_failures_total", "", "Samples of the reference that came to nothing."),
    counter(
        "reference_unconfirmed_handshakes_total",
        "",
        "Handshakes of samples that resumed though they were not meant to, or did not though they were.",
    ),
    counter("reference_restarts_total", "", "Times that the reference servers ended by themselves, or hung."),
)
