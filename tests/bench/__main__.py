"""Run benchmarks and print what they found as Markdown: `python -m tests.bench [--keep FILE] [NAME...]`."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from exporter.log import set_level
from tests.bench import (
    capacity,
    connections,
    cost,
    hammer,
    keepalive,
    machine,
    memory,
    reload,
    scrape,
    silent,
    soak,
    starvation,
    upkeep,
    yardstick,
)
from tests.bench.client import PROBER_CORE, SERVER_CORE
from tests.bench.keep import update
from tests.bench.site import Site, site
from tests.bench.table import Table, render

_BENCHMARKS: dict[str, Callable[[Site], Table]] = {
    "starvation": starvation.measure,
    "paced": cost.measure_paced,
    "flat-out": cost.measure_flat_out,
    "memory": memory.measure,
    "connections": connections.measure,
    "keep-alive": keepalive.measure,
    "upkeep": upkeep.measure,
    "scrape": scrape.measure,
    "silent": silent.measure,
    "hammer": hammer.measure,
    "soak": soak.measure,
    "capacity": capacity.measure,
    "reload": reload.measure,
    "yardstick": yardstick.measure_beside_nginx,
    "yardstick-runs": yardstick.measure_runs,
}
_USUAL = ("starvation", "paced", "flat-out", "memory", "connections", "keep-alive", "scrape", "silent", "hammer")


def main(words: list[str]) -> int:
    """Run the named ones, or the usual ones; returns 1 where a goal was missed and 2 where it cannot begin."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure, and print Markdown.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(_BENCHMARKS)}; all but soak, capacity and reload if none",
    )
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the figures into this Markdown file, too")
    arguments = parser.parse_args(words)
    if unknown := [name for name in arguments.names if name not in _BENCHMARKS]:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(_BENCHMARKS)}")
    if not os.sched_getaffinity(0) >= {PROBER_CORE, SERVER_CORE}:
        parser.error(f"needs the cores {PROBER_CORE} and {SERVER_CORE}, one for the prober and one for nginx")
    set_level("warning")  # clients that are ended amid an answer are part of the plan
    sections = [machine.describe()]
    print(sections[0], flush=True)
    met = True
    for name in arguments.names or _USUAL:
        with tempfile.TemporaryDirectory() as folder, site(Path(folder)) as where:
            table = _measure(_BENCHMARKS[name], where)
        sections.append(render(table))
        print(sections[-1], flush=True)
        met = met and table.met
    if arguments.keep:
        arguments.keep.write_text(update(arguments.keep.read_text(), sections))
    return 0 if met else 1


def _measure(benchmark: Callable[[Site], Table], where: Site) -> Table:
    """Measure while we, who tell the clients what to do, keep off their core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {SERVER_CORE})
    try:
        return benchmark(where)
    finally:
        os.sched_setaffinity(0, before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
