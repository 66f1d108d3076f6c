"""`/probe?target=NAME`: one round now, for a Prometheus that wants to set the pace, or for a person who mends."""

import asyncio
import time
from collections import defaultdict
from concurrent.futures import Executor
from dataclasses import replace

import structlog
from aiohttp import web

from exporter.metrics.collector import LedgerCollector
from exporter.metrics.exposition import TEXT, render
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Target
from exporter.web.status.history import History
from exporter.web.status.probed import Probed
from exporter.web.status.status import MakeRound

TIMEOUT_HEADER = "X-Prometheus-Scrape-Timeout-Seconds"
OFFSET = 0.5
"""Seconds by which we answer ahead of the scraper's timeout, as blackbox_exporter does."""
_SHORT = 0.5  # of a timeout that is hardly longer than the offset, or shorter: then so much of it is left
_WITHOUT_HEADER = 30.0
_ROUND_SHARE = 0.9  # of what is left, so that a round ends by itself and tells how far it came
_MOST_WAITING = 4
_HINTED = 20

_log = structlog.get_logger()

_FAMILIES = """\
# HELP probe_success Whether every backend of the target had a full handshake, verified, and nothing else failed.
# TYPE probe_success gauge
probe_success {success:d}
# HELP probe_duration_seconds How long the probe took, with the wait for another one of the same target.
# TYPE probe_duration_seconds gauge
probe_duration_seconds {seconds:.6f}
"""


class Desk:
    """Takes probes of configured targets, of each target one at a time.

    Args:
        make_round: makes a round with a memory of its own, so that the daemon's stays as it is.
        history: knows the targets that may be asked for.
        salt: of the numbers that stand for names of keys.
        thread: where answers are written.
    """

    def __init__(self, make_round: MakeRound, history: History, salt: bytes, thread: Executor) -> None:
        self._make_round = make_round
        self._history = history
        self._salt = salt
        self._thread = thread
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._asked: defaultdict[str, int] = defaultdict(int)

    async def answer(self, request: web.Request) -> web.Response:
        """Probe and answer with metrics, or with all that there is to tell where `debug=true`."""
        name = request.query.get("target", "")
        story = self._history.find(name)
        if story is None:
            return web.Response(status=404 if name else 400, text=self._hint(name))
        if self._asked[name] > _MOST_WAITING:
            return web.Response(status=503, text="too many probes of this target wait for their turn\n")
        self._asked[name] += 1
        try:
            probed = await self._probe(story.target, budget_of(request.headers.get(TIMEOUT_HEADER)))
        finally:
            self._asked[name] -= 1
            if not self._asked[name]:
                del self._asked[name]
                self._turns.pop(name, None)
        accept = ",".join(request.headers.getall("Accept", []))
        write = self._explain if request.query.get("debug") == "true" else self._expose
        body, kind = await asyncio.get_running_loop().run_in_executor(self._thread, write, probed, accept)
        return web.Response(body=body, headers={"Content-Type": kind, "Cache-Control": "no-store"})

    def _hint(self, name: str) -> str:
        names = [story.target.name for story in self._history.all()]
        more = f" and {len(names) - _HINTED} more" if len(names) > _HINTED else ""
        known = f"configured are: {', '.join(names[:_HINTED])}{more}\n" if names else "none is configured\n"
        return f"no target is named {name!r}; {known}" if name else f"say which: /probe?target=NAME; {known}"

    async def _probe(self, target: Target, budget: float) -> Probed:
        began = time.monotonic()
        try:
            async with asyncio.timeout(budget), self._turns[target.name]:
                left = (budget - (time.monotonic() - began)) * _ROUND_SHARE
                asked = replace(target, interval=left, timeout=min(target.timeout, left))
                result = await self._make_round(asked)
        except TimeoutError:
            late = Failure(Stage.PROBE, Reason.UNREACHED, f"no result within {budget:.1f} s")
            return Probed(target, None, time.monotonic() - began, late)
        return Probed(target, replace(result, target=target), time.monotonic() - began)

    def _explain(self, probed: Probed, _accept: str) -> tuple[bytes, str]:
        """Return the log of a probe, what it was configured to be, and its metrics, for people."""
        from exporter.web.status.debug import describe  # noqa: PLC0415 -- only people ask for it

        metrics, _ = self._expose(probed, TEXT)
        return describe(probed, metrics.decode(), self._salt).encode(), "text/plain; charset=utf-8"

    def _expose(self, probed: Probed, accept: str) -> tuple[bytes, str]:
        """Return the metrics of one probe alone, and their content type."""
        ledger = Ledger()
        ledger.admit(probed.target)
        if probed.result is not None:
            ledger.fold(probed.result)
        if probed.failure is not None:
            ledger.failed(probed.target.name, probed.failure)
        faults = Faults(_tell)
        body, kind = render((LedgerCollector(ledger, faults, self._salt),), accept or TEXT, faults)
        own = _FAMILIES.format(success=probed.success, seconds=probed.seconds)
        return own.encode() + body, kind


def budget_of(header: str | None) -> float:
    """Return the seconds that a probe may take, more than none, from the scraper's timeout."""
    try:
        timeout = float(header) if header is not None else 0.0
    except ValueError:
        timeout = 0.0
    if not 0 < timeout < float("inf"):
        return _WITHOUT_HEADER
    return max(timeout - OFFSET, timeout * _SHORT)


def _tell(part: str, error: Exception) -> None:
    _log.error("part of a probe's exposition failed", part=part, exc_info=error)
