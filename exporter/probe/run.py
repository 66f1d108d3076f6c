"""One round of one target: probe, judge, remember."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Resolved, Target
from exporter.model.verdicts import ForeignOffer, RoundResult
from exporter.probe.foreign import candidates, offer
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.round import Round
from exporter.verdict.judge import judge
from exporter.verdict.rules import Rules

_NONE: Mapping[str, Memory] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Prober:
    """Makes rounds.

    Attributes:
        rules: how patient the verdicts are.
    """

    means: Means
    rules: Rules = field(default_factory=Rules)

    async def run_round(
        self, target: Target, found: Resolved, memory: Memory, others: Mapping[str, Memory] = _NONE
    ) -> RoundResult:
        """Probe every backend, judge what was seen, and leave in `memory` what the next round needs.

        The round ends with the target's interval; what it did not reach by then comes first in the next.

        Args:
            others: memories of other targets whose sessions are offered to this one, too, by the targets' names.
        """
        started, began = self.means.unix(), self.means.monotonic()
        asked = target if target.proxy is None or found.proxy is None else replace(target, proxy=found.proxy)
        round_ = Round(asked, found.addresses, memory, self.means)
        foreign: list[ForeignOffer] = []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(target.interval):
                await round_.run()
                now = self.means.monotonic()
                for candidate in candidates(asked, found.addresses, memory, others, now):
                    told = await offer(asked, candidate, self.means.dial)
                    foreign.append(told)  # one by one, since the round's end may cut them short
        judgement = judge(target, found.addresses, round_.observations, memory.history, now=started, rules=self.rules)
        result = RoundResult(
            target=target,
            number=memory.rounds,
            started=started,
            elapsed=self.means.monotonic() - began,
            backends=found.addresses,
            observations=tuple(round_.observations),
            verdicts=judgement.verdicts,
            failures=(*_own_failures(found, round_), *judgement.failures),
            supported=judgement.supported,
            unreached=round_.unreached(),
            foreign=tuple(foreign),
            request_pairs=tuple(round_.asides.request_pairs),
            staples={backend: staple for backend, (_, staple) in memory.staples.items() if backend in found.addresses},
            hello_checks=tuple(round_.asides.hello_checks),
            idles={} if memory.watch is None else memory.watch.idles,
            held_ends=() if memory.watch is None else memory.watch.take_ends(),
            left_out=found.left_out,
            facts=found.facts,
        )
        memory.end_round(result, judgement.history, self.means.monotonic())
        if memory.watch is not None:
            versions = {backend: memory.newest_version(backend, target.versions) for backend in found.addresses}
            memory.watch.follow(asked, versions)
        return result


def _own_failures(found: Resolved, round_: Round) -> tuple[tuple[Address | None, Failure], ...]:
    """Return what went wrong on our side of the wire."""
    resolving = [(None, found.failure)] if found.failure else []
    late = [(backend, Failure(Stage.PROBE, Reason.UNREACHED)) for backend in round_.unreached()]
    return (*resolving, *round_.starved, *late)
