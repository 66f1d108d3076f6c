"""Resident memory of the daemon when it probes the reference alone."""

from tests.bench.daemon import counter, daemon, resident_bytes
from tests.bench.site import Site
from tests.bench.table import Table

_ROUNDS = 10
_SECONDS = 180.0  # a round is made every 10
_MIB = 1 << 20
_PARENT_GOAL, _CHILD_GOAL = 64, 40


def measure(site: Site) -> Table:
    """Run it as `make run` does, scrape all the while, and read VmRSS after some rounds."""
    with daemon(site.folder / "daemon", site.free_address()) as running:
        series = 'tlsprobe_rounds_total{target="reference"}'
        running.wait_until(
            lambda: counter(running.metrics(), series) >= _ROUNDS, f"{_ROUNDS} rounds of the reference", _SECONDS
        )
        parent = resident_bytes(running.pid) / _MIB
        child = max(resident_bytes(pid) for pid in running.children) / _MIB
    return Table(
        "Memory",
        "VmRSS of `tlsprobe run` with the reference alone, without a config file, after "
        f"{_ROUNDS} rounds and many more scrapes.",
        ("process", "MiB"),
        (("daemon", f"{parent:.1f}"), ("reference child", f"{child:.1f}")),
        (
            (f"daemon: under {_PARENT_GOAL} MiB", parent < _PARENT_GOAL),
            (f"reference child: under {_CHILD_GOAL} MiB", child < _CHILD_GOAL),
        ),
    )
