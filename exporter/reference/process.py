"""One life of the reference's child process, from the parent's side."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable

from exporter.reference.channel import Channel, ChannelError
from exporter.reference.launch import command, environment
from exporter.reference.listeners import Handover

START_SECONDS = 10.0
BEAT_SECONDS = 10.0
"""From one look at a child that serves to the next."""
ANSWER_SECONDS = 5.0
"""In which it answers, or else as long again."""
_END_SECONDS = 0.3


async def live(handover: Handover, tell_serving: Callable[[Channel], None], beat: float, patience: float) -> str:
    """Run one child to its end and return what ended it; cancelled, end the child and wait until it is gone.

    Args:
        tell_serving: called with the way to ask the child once all listeners accept.
        beat: seconds from one look whether it hangs to the next.
        patience: seconds in which it must answer then, or else as long again.
    """
    try:
        # In a group of its own, what a terminal sends to ours does not reach it: we decide what that means for it.
        process = await asyncio.create_subprocess_exec(
            *command(), stdin=PIPE, stdout=PIPE, env=environment(), process_group=0
        )
    except OSError as error:
        return f"cannot start: {error}"
    try:
        channel = Channel(process)
        complaint = await _begin(channel, handover)
        if complaint:
            return complaint
        tell_serving(channel)
        return await _attend(process, channel, beat, patience)
    finally:
        await _end(process)


async def _begin(channel: Channel, handover: Handover) -> str:
    """Hand over and wait for the child's word that it serves; return what went wrong, or nothing."""
    try:
        answer = await channel.tell(handover.encode(), START_SECONDS / 2)
    except ChannelError as error:
        return f"did not begin: {error}"
    return str(answer.get("error", ""))


async def _attend(process: Process, channel: Channel, beat: float, patience: float) -> str:
    """Wait until the child ends, or no longer answers though it is there, as one that is stopped does."""
    while True:
        try:
            async with asyncio.timeout(beat):
                return _describe(await process.wait())
        except TimeoutError:
            pass
        try:
            await channel.check(patience)
        except ChannelError as error:
            try:
                async with asyncio.timeout(_END_SECONDS):
                    return _describe(await process.wait())
            except TimeoutError:
                return f"hung: {error}"


async def _end(process: Process) -> None:
    """Ask the child to end by closing its input; kill it by its handle if it does not."""
    if process.stdin:
        process.stdin.close()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    finally:
        if process.returncode is None:  # we were cancelled while waiting
            process.kill()


def _describe(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
