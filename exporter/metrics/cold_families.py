"""The table's part about what a handshake carries, and what differs in that between backends."""

from exporter.metrics.family import counter, gauge
from exporter.model.connections import HelloSplit, StapleStatus, Trait
from exporter.model.observation import Mode

_HANDSHAKES = (
    gauge(
        "handshake_received_bytes",
        "target backend tls mode",
        "Bytes received until the backend's last handshake was done, record headers included.",
        values=len(Mode),
    ),
    gauge(
        "handshake_sent_bytes",
        "target backend tls mode",
        "Bytes sent until the backend's last handshake was done, record headers included.",
        values=len(Mode),
    ),
    gauge(
        "handshake_round_trips",
        "target backend tls mode",
        "Round trips that the backend's last handshake took, those of TCP left out.",
        values=len(Mode),
    ),
    gauge("client_hello_bytes", "target tls", "Size of the exporter's own ClientHello in the last full handshake."),
    counter(
        "hello_retries_total",
        "target tls",
        "Handshakes that cost one more round trip, as the server asked for another key share.",
    ),
    gauge(
        "hello_split_accepted",
        "target backend split",
        "Whether the backend took the last ClientHello that came in two TCP segments or TLS records; absent until"
        " tried.",
        values=len(HelloSplit),
    ),
    gauge(
        "extended_master_secret",
        "target backend tls",
        "Whether the backend agreed to the extended master secret in its last full handshake; TLS 1.2 only.",
    ),
)

_CERTIFICATES = (
    gauge(
        "certificate_not_after_timestamp_seconds",
        "target backend tls",
        "Unix time at which the backend's leaf certificate expires.",
    ),
    gauge("certificate_chain_bytes", "target backend tls", "Size of all certificates that the backend sent."),
    gauge("certificate_chain_length", "target backend tls", "Certificates that the backend sent."),
    gauge("certificate_names", "target backend tls", "Subject alternative names in the backend's leaf certificate."),
    gauge(
        "certificate_name_matches",
        "target backend tls",
        "Whether the backend's leaf certificate holds the server name.",
    ),
    gauge("certificates", "target tls", "Distinct leaf certificates over the backends; absent until one was seen."),
    gauge("ocsp_stapled", "target backend", "Whether the backend stapled an OCSP answer when it was last asked."),
    gauge(
        "ocsp_status",
        "target backend status",
        "What the stapled OCSP answer says: 1 for the status that holds, 0 for the others; absent until asked.",
        values=len(StapleStatus),
    ),
    gauge(
        "ocsp_this_update_timestamp_seconds",
        "target backend",
        "Unix time at which the stapled OCSP answer was known to be right; absent without one.",
    ),
    gauge(
        "ocsp_next_update_timestamp_seconds",
        "target backend",
        "Unix time until which a newer OCSP answer should be there; absent if the stapled one does not say.",
    ),
)

_OVERVIEW = (
    gauge(
        "backend_differences",
        "target tls trait",
        "Distinct values of a trait over the backends, 1 where all agree; absent until two of them have shown it.",
        values=len(Trait),
    ),
    gauge(
        "connection_info",
        "target backend tls cipher group alpn key_type mechanism",
        "What the backend's last full handshake agreed on, and how its sessions are kept; always 1.",
    ),
    gauge("target_info", "target", "The owner's own labels of the target; always 1.", owner_labels=True),
)

COLD = _HANDSHAKES + _CERTIFICATES + _OVERVIEW
