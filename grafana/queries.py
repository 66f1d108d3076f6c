"""Pieces of PromQL that all dashboards share: who is meant, and how replicas become one.

A target is told by `cluster`, `namespace` and `target`, as in the recording rules. Whatever else Prometheus attaches
falls away, so that exporters which probe the same target count as one.
"""

from dataclasses import dataclass

EACH_TARGET = "cluster, namespace, target"
EACH_VERSION = f"{EACH_TARGET}, tls"
EACH_BACKEND = f"{EACH_TARGET}, backend"
EACH = f"{EACH_BACKEND}, tls"

PLACE = 'cluster=~"$cluster",namespace=~"$namespace"'
FLEET = f'{PLACE},target=~"$target",target!="reference"'
"""All targets that are chosen; the built-in reference is the exporter's own."""

ONE = f'{PLACE},target="$target"'
ONE_TLS = f'{ONE},tls=~"$tls"'
ONE_BACKEND = f'{ONE},backend=~"$backend"'
ONE_BACKEND_TLS = f'{ONE_BACKEND},tls=~"$tls"'

EXPORTER = f'{PLACE},instance=~"$instance"'

_LANES = 15


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel.

    Attributes:
        legend: as Grafana's legendFormat, with {{label}} for a label's value.
        is_threshold: drawn as a dashed line, as what others are compared with.
    """

    expression: str
    legend: str = ""
    is_threshold: bool = False


def per_minute(by: str, counter: str) -> str:
    """Return what a counter grew by in a minute, over all exporters; what did not happen is left out."""
    return f"sum by ({by}) (rate({counter}[$__rate_interval])) * 60 > 0"


def share(hits: str, attempts: str, by: str) -> str:
    """Return the quotient of two counters' growth in 15 minutes."""
    return f"sum by ({by}) (rate({hits}[15m]))\n/\nsum by ({by}) (rate({attempts}[15m]))"


def lowest(series: str, by: str) -> str:
    """Return those series that went lowest in the time that is shown, the same ones over all of it."""
    return f"{series}\nand on ({by})\nbottomk({_LANES}, min_over_time({series}[$__range] @ end()))"


def highest(series: str, by: str) -> str:
    """Return those series that went highest in the time that is shown, the same ones over all of it."""
    return f"{series}\nand on ({by})\ntopk({_LANES}, max_over_time({series}[$__range] @ end()))"


def grown(counter: str, by: str) -> str:
    """Return by how much a counter grew since the step before, where it did: a mark at the step in which it happened.

    Both sides are the same series at two moments, so a restart, which begins at 0 again, is no growth.
    """
    return f"max by ({by}) ({counter} - {counter} offset $__interval) > 0"


def began_anew(counter: str, by: str) -> str:
    """Return where a counter has become less, which a counter does when its process starts again."""
    return f"max by ({by}) ({counter} offset $__interval - {counter}) > 0"
