"""What the daemon costs by itself: the reference alone, at its usual pace."""

import time

from tests.bench.client import processor_seconds
from tests.bench.daemon import counter, daemon
from tests.bench.site import Site
from tests.bench.table import Table

_SECONDS = 300.0
_START = 20.0
_GOAL = 0.015


def measure(site: Site) -> Table:
    """Let it run for five minutes behind its start, and count the processor time of parent and child."""
    with daemon(site.folder / "daemon", site.free_address(), "reference: {interval: 60s}\n") as running:
        running.wait_until(
            lambda: counter(running.metrics(), 'tlsprobe_rounds_total{target="reference"}') >= 1, "a round", _START
        )
        pids = (running.pid, *running.children)
        began, before = time.monotonic(), [processor_seconds(pid) for pid in pids]
        time.sleep(_SECONDS)
        parent, *children = (processor_seconds(pid) - was for pid, was in zip(pids, before, strict=True))
        passed = time.monotonic() - began
    share = (parent + sum(children)) / passed
    return Table(
        "Upkeep",
        f"Processor time of `tlsprobe run` with the reference alone, its samples included, at the usual interval of "
        f"60 s, over {_SECONDS:.0f} s behind its start; nobody scrapes.",
        ("process", "seconds", "of a core"),
        (
            ("daemon", f"{parent:.2f}", f"{parent / passed:.2%}"),
            ("its children", f"{sum(children):.2f}", f"{sum(children) / passed:.2%}"),
            ("together", f"{parent + sum(children):.2f}", f"{share:.2%}"),
        ),
        ((f"under {_GOAL:.1%} of a core", share < _GOAL),),
    )
