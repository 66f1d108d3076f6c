"""The parent's end of the child's standard streams: one question at a time, each with a deadline."""

import asyncio
import json
from asyncio.subprocess import Process
from collections.abc import Mapping
from typing import Any

import msgspec

from exporter.model.yardstick import Sample
from exporter.reference.lines import Question, ask

SAMPLE_SECONDS = 12.0


class ChannelError(Exception):
    """The child does not answer: it ended, or hangs."""


class SampleError(Exception):
    """The child answered that it could not measure, and why."""


class Channel:
    """Asks the child that owns it.

    Attributes:
        pid: of the child.
        hung: a question was not answered in time; the next answer would be to that one, so there is no going on.
    """

    def __init__(self, process: Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise TypeError("the child has no pipes")
        self.pid = process.pid
        self.hung = False
        self._writer = process.stdin
        self._reader = process.stdout
        self._turn = asyncio.Lock()

    async def tell(self, line: bytes, seconds: float) -> Mapping[str, Any]:
        """Send a line and return the answer to it.

        Raises:
            ChannelError: there was none within `seconds`, twice over.
        """
        async with self._turn:
            if self.hung:
                raise ChannelError("hung before")
            self.hung = True
            try:
                self._writer.write(line)
                await self._writer.drain()
                answer: Mapping[str, Any] = json.loads(await self._read(seconds))
            except (OSError, ValueError, EOFError) as error:
                raise ChannelError(str(error) or "no answer in time") from error
            self.hung = False
            return answer

    async def check(self, seconds: float) -> None:
        """See that the child is alive.

        Raises:
            ChannelError: it is not.
        """
        await self.tell(ask(Question.METERS), seconds)

    async def take_sample(self) -> Sample:
        """Have it measure.

        Raises:
            ChannelError: it does not answer.
            SampleError: it could not.
        """
        answer = await self.tell(ask(Question.SAMPLE), SAMPLE_SECONDS)
        if "sample" not in answer:
            raise SampleError(str(answer.get("failure")))
        return msgspec.convert(answer["sample"], Sample)

    async def _read(self, seconds: float) -> bytes:
        """Wait twice: after a pause of the whole machine the first deadline has passed before anybody could answer."""
        try:
            async with asyncio.timeout(seconds):
                line = await self._reader.readline()
        except TimeoutError:
            async with asyncio.timeout(seconds):
                line = await self._reader.readline()
        if not line:
            raise EOFError("it ended")
        return line
