"""Slow work in a thread of its own, which holds up neither the event loop nor the process's end."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def aside(work: Callable[[], T], name: str) -> T:
    """Return what the work returns, or raise what it raises; at the process's end it is left where it is."""
    return await begin_aside(work, name)


def begin_aside(work: Callable[[], T], name: str) -> asyncio.Future[T]:
    """Begin the work, and return what will have its outcome.

    An executor's threads would be waited for at the process's end, and a hash or a hanging disk may take long.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def finish(settle: Callable[[], None]) -> None:
        if not answer.done():
            settle()

    def run() -> None:
        try:
            settle = partial(answer.set_result, work())
        except Exception as error:  # noqa: BLE001 -- it is raised where the work was asked for
            settle = partial(answer.set_exception, error)
        with suppress(RuntimeError):  # the loop has ended, and nobody waits any more
            loop.call_soon_threadsafe(finish, settle)

    threading.Thread(target=run, name=name, daemon=True).start()
    return answer
