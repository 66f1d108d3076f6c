"""The table of all metric families: whatever is exposed has its row here, and every row is exposed."""

from collections.abc import Mapping
from types import MappingProxyType

from exporter.metrics.cold_families import COLD
from exporter.metrics.connection_families import CONNECTIONS
from exporter.metrics.family import Family, counter, gauge, histogram
from exporter.metrics.source_families import SOURCES
from exporter.metrics.wave_families import WAVE
from exporter.metrics.yardstick_families import YARDSTICK
from exporter.model.failure import STAGE_REASONS
from exporter.model.observation import Mode, Origin
from exporter.model.target import MAX_SHARED
from exporter.model.verdicts import BackendState, Cause, TargetState

_ROUNDS = (
    gauge(
        "success",
        "target backend",
        "1 if the last round that reached the backend had a full handshake whose certificate verified and whose HTTP"
        " exchange went as expected, else 0.",
    ),
    counter("rounds_total", "target", "Rounds that were finished."),
    counter("round_overruns_total", "target", "Rounds that were left out because the one before still ran."),
    gauge("last_round_timestamp_seconds", "target", "Unix time at which the last round ended."),
    gauge("interval_seconds", "target", "Time from the start of one round to the next, as configured."),
    counter(
        "failures_total",
        "target stage reason",
        "What went wrong, by how far the probe came and why.",
        values=sum(map(len, STAGE_REASONS.values())),
    ),
    gauge("backends", "target", "Addresses that the target stood for in the last round."),
    gauge(
        "expected_backends",
        "target",
        "Addresses that the target should at least stand for; absent if none were promised.",
    ),
    counter(
        "backends_left_out_total",
        "target",
        "Addresses beyond the target's bound, which were not probed; counted once an address and round.",
    ),
    gauge("version_supported", "target backend tls", "Whether the backend speaks the TLS version; absent until known."),
    counter(
        "series_capped_total",
        "target",
        "Backends without series of their own, because the target has too many; counted once a backend and round.",
    ),
)

_TIMES = (
    histogram(
        "handshake_duration_seconds",
        "target tls mode",
        "TLS handshake as a client with enough processor time would have waited for it, TCP connect left out.",
        values=len(Mode),
    ),
    histogram(
        "handshake_server_seconds",
        "target tls mode",
        "The server's own part of the TLS handshake, the path's round trips taken off.",
        values=len(Mode),
    ),
    counter(
        "handshake_samples_left_out_total",
        "target tls reason",
        "Handshakes left out of the duration histogram, the server histogram or both: the network disturbed them, or"
        " the figure was only an upper bound.",
        values=2,
    ),
    gauge(
        "backend_handshake_seconds",
        "target backend tls mode",
        "The backend's last TLS handshake of the last round that reached it; absent if there was no undisturbed one.",
        values=len(Mode),
    ),
    gauge(
        "rtt_seconds",
        "target backend",
        "Shortest round trip to the backend in the last round that reached it.",
    ),
    gauge(
        "resumed_to_full_time_ratio",
        "target tls",
        "Median of resumed over full handshake time in the last 101 adjacent pairs; absent until there is one.",
    ),
)

_RESUMPTION = (
    counter(
        "resumption_attempts_total",
        "target backend tls origin",
        "Sessions that were seen to be offered to the backend and were answered; origin tells who had issued them.",
        values=len(Origin),
    ),
    counter(
        "resumptions_total",
        "target backend tls origin",
        "Offered sessions that the backend resumed.",
        values=len(Origin),
    ),
    counter(
        "resumption_refusals_total",
        "target tls cause",
        "Offered sessions that were answered by a full handshake, by the likely cause.",
        values=len(Cause),
    ),
    counter(
        "resumption_killed_total",
        "target tls",
        "Connections that died of the session they offered, while one without it worked right after.",
    ),
    counter(
        "tickets_not_offered_total", "target tls", "Sessions that the TLS library did not offer, such as expired ones."
    ),
    counter("tickets_received_total", "target backend tls", "Session tickets received."),
    counter(
        "foreign_ticket_attempts_total",
        "target issuer_target tls",
        "Sessions of another target that were offered to this one and answered; absent unless that is asked for.",
        values=MAX_SHARED,
    ),
    counter(
        "foreign_tickets_accepted_total",
        "target issuer_target tls",
        "Sessions of another target that this one resumed, so that the two share session state.",
        values=MAX_SHARED,
    ),
    gauge(
        "ticket_lifetime_seconds",
        "target backend tls",
        "Lifetime hint of the last ticket from a full handshake; absent without a ticket or hint.",
    ),
    gauge(
        "ticket_max_early_data_bytes",
        "target backend tls",
        "Early data that the last ticket from a full handshake allows; absent if it offers none.",
    ),
    gauge(
        "ticket_oldest_accepted_seconds",
        "target backend tls",
        "Greatest age at which the backend accepted a ticket of its present key; absent until it did.",
    ),
    gauge(
        "ticket_youngest_refused_seconds",
        "target backend tls",
        "Least age at which the backend refused a ticket though its key had not changed; absent until it did.",
    ),
)

_KEYS = (
    gauge(
        "ticket_key_state",
        "target tls state",
        "How the backends' sessions stand to each other: 1 for the state that holds, 0 for the others.",
        values=len(TargetState),
    ),
    gauge(
        "backend_state",
        "target backend tls state",
        "How the backend resumes: 1 for the state that holds, 0 for the others.",
        values=len(BackendState),
    ),
    gauge("ticket_key_groups", "target tls", "Ticket keys in use over all backends; absent while that cannot be told."),
    gauge(
        "ticket_key_group",
        "target backend tls",
        "Number of the backend's ticket key, in order of first sight: the same number is the same key.",
    ),
    gauge(
        "ticket_key_fingerprint",
        "target backend tls",
        "Salted 32-bit hash of the ticket key's name: equal keys have equal numbers in every exporter.",
    ),
    gauge(
        "ticket_key_first_seen_timestamp_seconds",
        "target backend tls",
        "Unix time at which the backend's ticket key was first seen there; absent if no key's name is visible.",
    ),
    gauge(
        "ticket_keys_seen",
        "target backend tls",
        "Ticket keys that the backend was seen to encrypt with so far; absent if no key's name is visible.",
    ),
    counter(
        "ticket_key_changes_total",
        "target tls",
        "Times that a backend took another ticket key, or came with one that no backend had.",
    ),
    counter(
        "ticket_key_breaks_total",
        "target tls",
        "Times that a backend, or all of them for one that left, ceased to accept tickets within their life.",
    ),
    gauge(
        "ticket_key_weak",
        "target backend tls",
        "1 if the backend's tickets show a key that anyone can guess or that has no name but zeros, else 0; absent"
        " until there was a ticket.",
    ),
    gauge(
        "ticket_key_census_keys",
        "target backend tls",
        "Ticket keys that answered at the address in the last full handshakes; absent if no key's name is visible.",
    ),
    gauge(
        "ticket_key_census_offers",
        "target backend tls",
        "Tickets among the last ones that the census of keys was drawn from, each offered back to its address.",
    ),
    gauge("ticket_key_census_hits", "target backend tls", "Those of the census's tickets that were accepted."),
)

_EXPECTATIONS = (
    gauge("expect_resumption", "target resumption", "What resumption is meant to be; always 1."),
    gauge("expect_min_backends", "target", "Fewest backends that were promised."),
    gauge("expect_rotation_seconds", "target", "Greatest age of a ticket key that was promised."),
    gauge(
        "expect_ticket_life_ratio",
        "target",
        "Share of their lifetime hint that tickets were promised to live.",
    ),
    gauge("expect_keepalive_idle_seconds", "target", "Time that an idle connection was promised to live."),
)

_OWN = (
    gauge("build_info", "version python openssl", "What this exporter was built from; always 1."),
    gauge("config_last_reload_successful", "", "Whether the last attempt to load the configuration worked."),
    gauge(
        "config_last_reload_success_timestamp_seconds",
        "",
        "Unix time at which a configuration was last loaded.",
    ),
    histogram(
        "starvation_seconds",
        "",
        "Time by which the exporter's own lack of processor time prolonged a handshake; no part of any target's time.",
    ),
    gauge("timing_source_info", "source", "What handshake times are taken from; always 1."),
    gauge(
        "reference_ok",
        "",
        "Whether the probes of the built-in reference servers found what is known to be true; absent without them.",
    ),
    gauge("targets", "", "Targets that are configured or were found, those of other shards too."),
    gauge("shard_targets", "", "Those of them that are probed by this exporter."),
    gauge("shard_info", "index count", "Which shard this exporter is, from 0 on, and of how many; always 1."),
    counter(
        "exposition_faults_total",
        "",
        "Targets or collectors left out of an exposition by a fault of the exporter's own.",
    ),
)

TABLE = _ROUNDS + _TIMES + _RESUMPTION + _KEYS + CONNECTIONS + COLD + _EXPECTATIONS + WAVE + YARDSTICK + SOURCES + _OWN

FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in TABLE})
"""The table by name, without the prefix."""
