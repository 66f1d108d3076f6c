"""The prober's own dialler as a process that takes turns: `python -m tests.bench.prober HOST PORT CA_FILE`."""

import asyncio
import random
import sys
import time

from exporter.model.observation import Handshake
from exporter.model.target import Address, Endpoint, Target, TlsSettings, TlsVersion
from exporter.probe.dial import Dialler
from exporter.probe.errand import Errand
from tests.bench.turn import Taken, Turn, read_turn, write_line
from tests.servers.certificates import SERVER_NAME


async def take_turn(dialler: Dialler, target: Target, address: Address, turn: Turn) -> Taken:
    """Dial as often and as fast as told; raises AssertionError where a handshake fails."""
    loop = asyncio.get_running_loop()
    handshakes: list[Handshake] = []
    began = time.process_time()
    for pause, due in turn.waits(random.Random(1), loop.time()):  # noqa: S311 - no secret hangs on a pause
        await asyncio.sleep(max(pause, due - loop.time()))
        dialled = await dialler.dial(target, address, TlsVersion.TLS13, errand=Errand(http=turn.http, keep=turn.keep))
        outcome = dialled.outcome
        assert isinstance(outcome, Handshake), outcome
        assert outcome.verify_failure is None
        handshakes.append(outcome)
    cpu = time.process_time() - began
    timings = [handshake.timing for handshake in handshakes]
    disturbed = sum(timing.disturbed or timing.duration_bound for timing in timings)
    return Taken(tuple(t.duration for t in timings), tuple(t.wall for t in timings), cpu, disturbed)


async def serve(address: Address, ca_file: str) -> None:
    """Take turns until the input ends."""
    target = Target("bench", Endpoint(SERVER_NAME, address.port), SERVER_NAME, tls=TlsSettings(ca_file=ca_file))
    dialler = Dialler()
    loop = asyncio.get_running_loop()
    try:
        while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
            sys.stdout.buffer.write(write_line(await take_turn(dialler, target, address, read_turn(line))))
            sys.stdout.buffer.flush()
    finally:
        dialler.close()


if __name__ == "__main__":
    asyncio.run(serve(Address(sys.argv[1], int(sys.argv[2])), sys.argv[3]))
