"""The table's part about HTTP requests and the connections that carry them."""

from exporter.metrics.family import counter, gauge, histogram
from exporter.metrics.labels import Connection
from exporter.model.connections import End, Farewell

_REQUESTS = (
    counter(
        "http_requests_total",
        "target backend connection",
        "HTTP requests sent, answered or not; those on a new connection are as many as the connections that carried"
        " any.",
        values=len(Connection),
    ),
    counter(
        "http_reuse_attempts_total",
        "target backend",
        "Times that a further request was wanted on a connection whose first one was answered.",
    ),
    counter("http_reuses_total", "target backend", "Further requests that were answered on such a connection."),
    counter(
        "http_connection_ends_total",
        "target reason",
        "Connections that were to carry further requests or were held idle, by how they ended.",
        values=len(End),
    ),
    histogram(
        "http_request_duration_seconds",
        "target connection",
        "From the departure of an HTTP request to the first byte of its answer, connecting left out; failures,"
        " unexpected statuses and what the network disturbed are not observed.",
        values=len(Connection),
    ),
    gauge(
        "new_to_reused_request_time_ratio",
        "target",
        "Median of request times on a new connection, connecting included, over those on a kept one in the last 101"
        " adjacent pairs; absent until there is one.",
    ),
    counter(
        "http_resumed_mismatches_total",
        "target tls",
        "Answers over resumed connections with another status than those over full handshakes, once the last ones of"
        " either kind agree among themselves.",
    ),
)

_LIFE = (
    gauge(
        "http_keepalive_announced_timeout_seconds",
        "target backend",
        "Time for which the backend's Keep-Alive header says that an idle connection is kept; absent without one.",
    ),
    gauge(
        "keepalive_idle_lived_seconds",
        "target backend",
        "Longest time after which an idle connection still answered; absent until one did.",
    ),
    gauge(
        "keepalive_idle_died_seconds",
        "target backend",
        "Shortest time after which an idle connection was found closed; absent until one was.",
    ),
    counter(
        "backend_farewells_total",
        "target farewell",
        "Held connections of backends that left: drained with a goodbye, dropped without, or alive to the end.",
        values=len(Farewell),
    ),
    gauge(
        "http_record_first_bytes",
        "target backend",
        "Size of the first TLS record of the last answer on a new connection, in plaintext.",
    ),
    gauge(
        "http_record_largest_bytes",
        "target backend",
        "Size of the largest TLS record of the last answer, in plaintext; of that for the larger body, if one is asked"
        " for.",
    ),
)

CONNECTIONS = _REQUESTS + _LIFE
