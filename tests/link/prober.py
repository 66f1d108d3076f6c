"""The exporter's dialler as a process on one side of a link: `python -m tests.link.prober CA_FILE CORE`.

Prints an empty line when it is ready, then reads turns and answers each with its samples; ends with its input.
"""

import asyncio
import os
import sys

from exporter.model.observation import Handshake
from exporter.model.target import Address, Endpoint, Target, TlsSettings
from exporter.probe.dial import Dialler
from tests.link.turn import Sample, Samples, Turn, read_line, write_line
from tests.servers.certificates import SERVER_NAME


async def visit(dialler: Dialler, target: Target, host: str, turn: Turn) -> tuple[Sample, ...]:
    """Dial one host at the turn's pace; raises AssertionError where a dial was not one whole handshake."""
    loop = asyncio.get_running_loop()
    walk = turn.walk
    samples = []
    due = turn.begin + walk.offsets[host]
    while max(due, loop.time()) < turn.begin + walk.seconds:
        await asyncio.sleep(max(0.0, due - loop.time()))
        due += walk.pace
        dialled = await dialler.dial(target, Address(host, turn.port), turn.version)
        outcome = dialled.outcome
        assert isinstance(outcome, Handshake), outcome
        assert not outcome.verify_failure, outcome.verify_failure
        assert not dialled.starved, dialled.starved
        samples.append(Sample(outcome.timing, outcome.tls.hello_retry))
    return tuple(samples)


async def take_turn(dialler: Dialler, ca_file: str, turn: Turn) -> Samples:
    """Dial all hosts of a turn."""
    target = Target("link", Endpoint(SERVER_NAME, turn.port), SERVER_NAME, tls=TlsSettings(ca_file=ca_file))
    async with asyncio.TaskGroup() as group:
        visits = {host: group.create_task(visit(dialler, target, host, turn)) for host in turn.walk.offsets}
    return {host: task.result() for host, task in visits.items()}


async def serve(ca_file: str) -> None:
    """Take turns until the input ends."""
    dialler = Dialler()
    loop = asyncio.get_running_loop()
    try:
        print(flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
            sys.stdout.buffer.write(write_line(await take_turn(dialler, ca_file, read_line(line, Turn))))
            sys.stdout.buffer.flush()
    finally:
        dialler.close()


if __name__ == "__main__":
    os.sched_setaffinity(0, {int(sys.argv[2])})
    asyncio.run(serve(sys.argv[1]))
