"""The families of sources that name targets while we run."""

from exporter.metrics.family import counter, gauge

SOURCES = (
    gauge("source_targets", "source", "Targets that the source names now; absent until it named any."),
    gauge("source_successful", "source", "Whether all of what the source last brought could be used."),
    gauge(
        "source_last_success_timestamp_seconds",
        "source",
        "Unix time at which a source last brought what could be used as a whole; absent until it did.",
    ),
    counter("source_failures_total", "source", "Looks at the source that brought something that could not be used."),
)
