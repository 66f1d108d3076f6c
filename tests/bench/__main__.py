"""Run benchmarks and print what they found as Markdown: `python -m tests.bench [NAME...]`."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench import cost, machine, memory, soak, starvation
from tests.bench.client import PROBER_CORE, SERVER_CORE
from tests.bench.site import Site, site
from tests.bench.table import Table, render

_BENCHMARKS: dict[str, Callable[[Site], Table]] = {
    "starvation": starvation.measure,
    "paced": cost.measure_paced,
    "flat-out": cost.measure_flat_out,
    "memory": memory.measure,
    "soak": soak.measure,
}
_USUAL = ("starvation", "paced", "flat-out", "memory")


def main(names: list[str]) -> int:
    """Run the named ones, or the usual ones; returns 1 where a goal was missed and 2 where it cannot begin."""
    unknown = [name for name in names if name not in _BENCHMARKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(_BENCHMARKS)}", file=sys.stderr)
        return 2
    if not os.sched_getaffinity(0) >= {PROBER_CORE, SERVER_CORE}:
        print(f"needs the cores {PROBER_CORE} and {SERVER_CORE}, one for the prober and one for nginx", file=sys.stderr)
        return 2
    print(machine.describe(), flush=True)
    met = True
    for name in names or _USUAL:
        with tempfile.TemporaryDirectory() as folder, site(Path(folder)) as where:
            table = _measure(_BENCHMARKS[name], where)
        print(render(table), flush=True)
        met = met and table.met
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
