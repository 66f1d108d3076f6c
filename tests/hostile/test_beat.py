"""A house full of hostile targets, all probed at once, beside one with which nothing is wrong."""

import asyncio
import random
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import pytest

from exporter.discovery.dns import Resolver
from exporter.model.failure import Reason, Stage
from exporter.model.target import Address, Endpoint, Target, TlsVersion
from exporter.model.verdicts import RoundResult
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.schedule.scheduler import Beat, Work
from tests.hostile.listener import Peer, Script, closed_port, deaf_port, listening
from tests.hostile.scripts import (
    alerting,
    answering,
    answering_endlessly,
    cutting,
    dripping,
    half_a_server_hello,
    sending,
)
from tests.hostile.tinytls import Connection, Identity, TinyServer

_INTERVAL = 1.0
_TIMEOUT = 0.3
_ROUNDS = 4
_MOST_SECONDS = 20.0
_LATENESS = 0.35
"""Seconds by which a healthy target's round may be off its beat on a busy machine."""
_ANSWER = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"

House = dict[str, tuple[Address, Stage, Reason]]


@dataclass(slots=True)
class Diary:
    """What came of each target, round by round.

    Attributes:
        begun: when rounds began, by the monotonic clock.
    """

    begun: dict[str, list[float]] = field(default_factory=dict)
    results: dict[str, list[RoundResult]] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)
    bugs: list[BaseException] = field(default_factory=list)

    def rounds(self, name: str) -> int:
        """Count the rounds that a target has behind it."""
        return len(self.results.get(name, ()))


@pytest.fixture
def house(context: ssl.SSLContext, identity: Identity) -> Iterator[House]:
    """Listeners, each with the failure that it stands for."""

    def issue_endlessly(connection: Connection) -> None:
        while not connection.peer.over.is_set():
            connection.send_raw(*(connection.ticket(b"%0200d" % number) for number in range(20)))
            connection.peer.over.wait(0.02)

    scripts: dict[str, tuple[Script, Stage, Reason]] = {
        "silent": (Peer.linger, Stage.HANDSHAKE, Reason.TIMEOUT),
        "half-hello": (cutting(context, half_a_server_hello, Peer.linger), Stage.HANDSHAKE, Reason.STALLED),
        "drip": (dripping(context, 0.2), Stage.HANDSHAKE, Reason.STALLED),
        "plaintext": (sending(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Stage.HANDSHAKE, Reason.NOT_TLS),
        "reset": (sending(b"", Peer.reset), Stage.HANDSHAKE, Reason.RESET),
        "closed": (Peer.hang_up, Stage.HANDSHAKE, Reason.CLOSED),
        "alert": (alerting(80), Stage.HANDSHAKE, Reason.ALERT_INTERNAL_ERROR),
        "endless-headers": (
            answering_endlessly(context, b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n" * 50),
            Stage.HTTP,
            Reason.TOO_LARGE,
        ),
        "mute": (answering(context, ending=Peer.linger), Stage.HTTP, Reason.TIMEOUT),
        "endless-tickets": (TinyServer(identity, issue_endlessly), Stage.HTTP, Reason.TIMEOUT),
    }
    with ExitStack() as stack:
        found: House = {
            name: (stack.enter_context(listening(script)), stage, reason)
            for name, (script, stage, reason) in scripts.items()
        }
        found["refused"] = (stack.enter_context(closed_port()), Stage.CONNECT, Reason.CONNECTION_REFUSED)
        found["deaf"] = (stack.enter_context(deaf_port()), Stage.CONNECT, Reason.TIMEOUT)
        found["nameless"] = (Address("nowhere.invalid", 443), Stage.RESOLVE, Reason.NO_SUCH_NAME)
        yield found


async def test_healthy_target_keeps_its_beat(site: Target, context: ssl.SSLContext, house: House) -> None:
    """Every hostile target ends in its own stage and reason, round after round, and the healthy one is never late."""
    with listening(answering(context, _ANSWER, ending=Peer.linger)) as healthy:
        addresses = {"healthy": healthy} | {name: address for name, (address, _, _) in house.items()}
        diary = await _probe([_target(site, name, address) for name, address in addresses.items()])

    assert diary.bugs == []
    for name, (_, stage, reason) in house.items():
        assert _kinds(diary.results[name][1:]) == {(stage, reason)}, name  # the first meets a machine that warms up
    assert _kinds(diary.results["healthy"]) == set()
    assert diary.missed.get("healthy", 0) == 0
    begun = diary.begun["healthy"][1:]  # the first round does not wait for its beat
    assert [time - begun[0] for time in begun] == pytest.approx(
        [number * _INTERVAL for number in range(len(begun))], abs=_LATENESS
    )


def _target(site: Target, name: str, address: Address) -> Target:
    endpoint = Endpoint(address.host, address.port)
    return replace(
        site, name=name, endpoint=endpoint, versions=(TlsVersion.TLS13,), interval=_INTERVAL, timeout=_TIMEOUT
    )


async def _probe(targets: list[Target]) -> Diary:
    """Run rounds of all targets until each has had enough of them."""
    diary = Diary()
    dialler = Dialler()
    resolver = Resolver(lookup=_find_nothing)
    prober = Prober(Means(dialler.dial, time.monotonic, time.time, random.random))
    memories = {target.name: Memory() for target in targets}

    async def run(target: Target) -> None:
        diary.begun.setdefault(target.name, []).append(time.monotonic())
        resolved = await resolver.resolve(target)
        found = resolved
        result = await prober.run_round(target, found, memories[target.name])
        diary.results.setdefault(target.name, []).append(result)

    def miss(target: Target, ticks: int) -> None:
        diary.missed[target.name] = diary.missed.get(target.name, 0) + ticks

    def complain(_target: Target, error: BaseException) -> None:
        diary.bugs.append(error)

    try:
        async with asyncio.timeout(_MOST_SECONDS), asyncio.TaskGroup() as group:
            beat = Beat(group, Work(run, miss, complain))
            for target in targets:
                beat.begin(target)
            await _until(lambda: all(diary.rounds(target.name) >= _ROUNDS for target in targets))
            for target in targets:
                beat.end(target.name)
    finally:
        dialler.close()
    return diary


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - the condition is about values that announce nothing
        await asyncio.sleep(0.02)


def _find_nothing(name: str) -> frozenset[str]:
    raise socket.gaierror(socket.EAI_NONAME, f"{name} is not known")


def _kinds(results: list[RoundResult]) -> set[tuple[Stage, Reason]]:
    """Tell the failures of some rounds, without our own: no processor time, or a round too full to reach everything."""
    return {
        (failure.stage, failure.reason)
        for result in results
        for _, failure in result.failures
        if failure.reason not in {Reason.STARVED, Reason.UNREACHED}
    }
