"""`tlsprobe probe`: a few rounds now, and what they come to."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from tqdm import tqdm

from exporter.cli.document import to_document
from exporter.cli.rounds import rounds_of
from exporter.cli.summary import Summary, summarise
from exporter.cli.table import Painter, render_summary
from exporter.model.target import Target
from exporter.model.verdicts import RoundResult
from exporter.verdict.rules import Rules

HEALTHY, FINDING, NOT_PROBED = 0, 1, 2


def probe(target: Target, rules: Rules, rounds: int, *, as_json: bool) -> int:
    """Probe a target `rounds` times, print what was seen, and return the exit code."""
    summary = summarise(_run_with_progress(target, rules, rounds), rules.salt)
    if as_json:
        print(json.dumps(to_document(summary), indent=2))
    else:
        print("\n".join(render_summary(summary, Painter(colours=_colours(sys.stdout)), time.time())))
    return exit_code(summary)


def _colours(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ  # no-color.org


def exit_code(summary: Summary) -> int:
    """Return 0 for healthy, 1 for a finding, 2 where nothing could be probed."""
    if not summary.probed:
        return NOT_PROBED
    return HEALTHY if summary.healthy else FINDING


def _run_with_progress(target: Target, rules: Rules, rounds: int) -> list[RoundResult]:
    """Run the rounds, with a bar where a person watches a terminal and there is more than one."""
    watched = rounds > 1 and sys.stderr.isatty()
    with tqdm(total=rounds, desc=target.name, unit="round", leave=False, disable=not watched) as bar:
        return asyncio.run(run_rounds(target, rules, rounds, bar.update))


async def run_rounds(
    target: Target, rules: Rules, rounds: int, after_each: Callable[[], object] | None = None
) -> list[RoundResult]:
    """Return the results of so many rounds, one right after another."""
    results = []
    async with rounds_of(target, rules) as make_round:
        for _ in range(rounds):
            results.append(await make_round())
            if after_each is not None:
                after_each()
    return results
