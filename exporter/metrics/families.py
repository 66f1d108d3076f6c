"""The table of all metric families: whatever is exposed has its row here, and every row is exposed."""

from collections.abc import Mapping
from types import MappingProxyType

from exporter.metrics.family import Family, Kind
from exporter.model.failure import STAGE_REASONS
from exporter.model.observation import Mode, Origin
from exporter.model.target import MAX_SHARED
from exporter.model.verdicts import BackendState, Cause, TargetState

SECONDS_BUCKETS = (*(0.00025 * 2**step for step in range(10)), 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: doubling while a machine's work is told apart, coarser where only a wait is left to be told."""


def _counter(name: str, labels: str, text: str, values: int = 1) -> Family:
    return Family(name, Kind.COUNTER, text, tuple(labels.split()), values=values)


def _gauge(name: str, labels: str, text: str, values: int = 1, *, owner_labels: bool = False) -> Family:
    return Family(name, Kind.GAUGE, text, tuple(labels.split()), values, owner_labels=owner_labels)


def _histogram(name: str, labels: str, text: str, values: int = 1) -> Family:
    return Family(name, Kind.HISTOGRAM, text, tuple(labels.split()), values, SECONDS_BUCKETS)


_ROUNDS = (
    _gauge(
        "success",
        "target backend",
        "1 if the last round that reached the backend had a full handshake whose certificate verified and whose HTTP"
        " exchange went as expected, else 0.",
    ),
    _counter("rounds_total", "target", "Rounds that were finished."),
    _counter("round_overruns_total", "target", "Rounds that were left out because the one before still ran."),
    _gauge("last_round_timestamp_seconds", "target", "Unix time at which the last round ended."),
    _gauge("interval_seconds", "target", "Time from the start of one round to the next, as configured."),
    _counter(
        "failures_total",
        "target stage reason",
        "What went wrong, by how far the probe came and why.",
        values=sum(map(len, STAGE_REASONS.values())),
    ),
    _gauge("backends", "target", "Addresses that the target stood for in the last round."),
    _gauge(
        "expected_backends",
        "target",
        "Addresses that the target should at least stand for; absent if none were promised.",
    ),
    _gauge(
        "version_supported", "target backend tls", "Whether the backend speaks the TLS version; absent until known."
    ),
    _counter(
        "series_capped_total",
        "target",
        "Backends without series of their own, because the target has too many; counted once a backend and round.",
    ),
)

_TIMES = (
    _histogram(
        "handshake_duration_seconds",
        "target tls mode",
        "TLS handshake as a client with enough processor time would have waited for it, TCP connect left out.",
        values=len(Mode),
    ),
    _histogram(
        "handshake_server_seconds",
        "target tls mode",
        "The server's own part of the TLS handshake, the path's round trips taken off.",
        values=len(Mode),
    ),
    _counter(
        "handshake_samples_left_out_total",
        "target tls reason",
        "Handshakes left out of the duration histogram, the server histogram or both: the network disturbed them, or"
        " the figure was only an upper bound.",
        values=2,
    ),
    _gauge(
        "backend_handshake_seconds",
        "target backend tls mode",
        "The backend's last TLS handshake of the last round that reached it; absent if there was no undisturbed one.",
        values=len(Mode),
    ),
    _gauge(
        "rtt_seconds",
        "target backend",
        "Shortest round trip to the backend in the last round that reached it.",
    ),
    _gauge(
        "resumed_to_full_time_ratio",
        "target tls",
        "Median of resumed over full handshake time in the last 101 adjacent pairs; absent until there is one.",
    ),
    _gauge(
        "handshake_received_bytes",
        "target backend tls mode",
        "Bytes received until the backend's last handshake was done, record headers included.",
        values=len(Mode),
    ),
    _counter(
        "hello_retries_total",
        "target tls",
        "Handshakes that cost one more round trip, as the server asked for another key share.",
    ),
)

_RESUMPTION = (
    _counter(
        "resumption_attempts_total",
        "target backend tls origin",
        "Sessions that were seen to be offered to the backend and were answered; origin tells who had issued them.",
        values=len(Origin),
    ),
    _counter(
        "resumptions_total",
        "target backend tls origin",
        "Offered sessions that the backend resumed.",
        values=len(Origin),
    ),
    _counter(
        "resumption_refusals_total",
        "target tls cause",
        "Offered sessions that were answered by a full handshake, by the likely cause.",
        values=len(Cause),
    ),
    _counter(
        "resumption_killed_total",
        "target tls",
        "Connections that died of the session they offered, while one without it worked right after.",
    ),
    _counter(
        "tickets_not_offered_total", "target tls", "Sessions that the TLS library did not offer, such as expired ones."
    ),
    _counter("tickets_received_total", "target backend tls", "Session tickets received."),
    _counter(
        "foreign_ticket_attempts_total",
        "target issuer_target tls",
        "Sessions of another target that were offered to this one and answered; absent unless that is asked for.",
        values=MAX_SHARED,
    ),
    _counter(
        "foreign_tickets_accepted_total",
        "target issuer_target tls",
        "Sessions of another target that this one resumed, so that the two share session state.",
        values=MAX_SHARED,
    ),
    _gauge(
        "ticket_lifetime_seconds",
        "target backend tls",
        "Lifetime hint of the last ticket from a full handshake; absent without a ticket or hint.",
    ),
    _gauge(
        "ticket_max_early_data_bytes",
        "target backend tls",
        "Early data that the last ticket from a full handshake allows; absent if it offers none.",
    ),
    _gauge(
        "ticket_oldest_accepted_seconds",
        "target backend tls",
        "Greatest age at which the backend accepted a ticket of its present key; absent until it did.",
    ),
    _gauge(
        "ticket_youngest_refused_seconds",
        "target backend tls",
        "Least age at which the backend refused a ticket though its key had not changed; absent until it did.",
    ),
)

_KEYS = (
    _gauge(
        "ticket_key_state",
        "target tls state",
        "How the backends' sessions stand to each other: 1 for the state that holds, 0 for the others.",
        values=len(TargetState),
    ),
    _gauge(
        "backend_state",
        "target backend tls state",
        "How the backend resumes: 1 for the state that holds, 0 for the others.",
        values=len(BackendState),
    ),
    _gauge(
        "ticket_key_groups", "target tls", "Ticket keys in use over all backends; absent while that cannot be told."
    ),
    _gauge(
        "ticket_key_group",
        "target backend tls",
        "Number of the backend's ticket key, in order of first sight: the same number is the same key.",
    ),
    _gauge(
        "ticket_key_fingerprint",
        "target backend tls",
        "Salted 32-bit hash of the ticket key's name: equal keys have equal numbers in every exporter.",
    ),
    _gauge(
        "ticket_key_first_seen_timestamp_seconds",
        "target backend tls",
        "Unix time at which the backend's ticket key was first seen there; absent if no key's name is visible.",
    ),
    _gauge(
        "ticket_keys_seen",
        "target backend tls",
        "Ticket keys that the backend was seen to encrypt with so far; absent if no key's name is visible.",
    ),
    _counter(
        "ticket_key_changes_total",
        "target tls",
        "Times that a backend took another ticket key, or came with one that no backend had.",
    ),
    _counter(
        "ticket_key_breaks_total",
        "target tls",
        "Times that a backend, or all of them for one that left, ceased to accept tickets within their life.",
    ),
    _gauge(
        "ticket_key_weak",
        "target backend tls",
        "1 if the backend's tickets show a key that anyone can guess or that has no name but zeros, else 0; absent"
        " until there was a ticket.",
    ),
    _gauge(
        "ticket_key_census_keys",
        "target backend tls",
        "Ticket keys that answered at the address in the last full handshakes; absent if no key's name is visible.",
    ),
    _gauge(
        "ticket_key_census_offers",
        "target backend tls",
        "Tickets among the last ones that the census of keys was drawn from, each offered back to its address.",
    ),
    _gauge("ticket_key_census_hits", "target backend tls", "Those of the census's tickets that were accepted."),
)

_HTTP = (
    _counter("http_requests_total", "target backend connection", "HTTP requests sent, answered or not."),
    _histogram(
        "http_request_duration_seconds",
        "target connection",
        "From the departure of an HTTP request to the first byte of its answer; failures are not observed.",
    ),
)

_FACTS = (
    _gauge(
        "certificate_not_after_timestamp_seconds",
        "target backend tls",
        "Unix time at which the backend's leaf certificate expires.",
    ),
    _gauge("certificate_chain_bytes", "target backend tls", "Size of all certificates that the backend sent."),
    _gauge("certificates", "target tls", "Distinct leaf certificates over the backends; absent until one was seen."),
    _gauge(
        "connection_info",
        "target backend tls cipher group alpn key_type mechanism",
        "What the backend's last full handshake agreed on, and how its sessions are kept; always 1.",
    ),
    _gauge("target_info", "target", "The owner's own labels of the target; always 1.", owner_labels=True),
)

_EXPECTATIONS = (
    _gauge("expect_resumption", "target resumption", "What resumption is meant to be; always 1."),
    _gauge("expect_min_backends", "target", "Fewest backends that were promised."),
    _gauge("expect_rotation_seconds", "target", "Greatest age of a ticket key that was promised."),
    _gauge(
        "expect_ticket_life_ratio",
        "target",
        "Share of their lifetime hint that tickets were promised to live.",
    ),
    _gauge("expect_keepalive_idle_seconds", "target", "Time that an idle connection was promised to live."),
)

_OWN = (
    _gauge("build_info", "version python openssl", "What this exporter was built from; always 1."),
    _gauge("config_last_reload_successful", "", "Whether the last attempt to load the configuration worked."),
    _gauge(
        "config_last_reload_success_timestamp_seconds",
        "",
        "Unix time at which a configuration was last loaded.",
    ),
    _histogram(
        "starvation_seconds",
        "",
        "Time by which the exporter's own lack of processor time prolonged a handshake; no part of any target's time.",
    ),
    _gauge("timing_source_info", "source", "What handshake times are taken from; always 1."),
    _gauge(
        "reference_ok",
        "",
        "Whether the probes of the built-in reference servers found what is known to be true; absent without them.",
    ),
    _counter(
        "exposition_faults_total",
        "",
        "Targets or collectors left out of an exposition by a fault of the exporter's own.",
    ),
)

TABLE = _ROUNDS + _TIMES + _RESUMPTION + _KEYS + _HTTP + _FACTS + _EXPECTATIONS + _OWN

FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in TABLE})
"""The table by name, without the prefix."""
