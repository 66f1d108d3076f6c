"""Requests a second, and what a server computes for the bytes that it sends."""

import time
from collections.abc import Sequence
from contextlib import ExitStack

from exporter.model.yardstick import GIB, Pair
from exporter.yardstick.client import Client, Conversation
from exporter.yardstick.place import Place

SMALL = b"/"
"""Its answer has a body of 1 KiB."""


def large(size: int) -> bytes:
    """Return the path whose answer has so many bytes."""
    return b"/bytes/%d" % size


def measure_requests(conversation: Conversation, count: int) -> float:
    """Return requests a second on an open connection.

    Raises:
        OSError: it broke.
    """
    began = time.perf_counter()
    for _ in range(count):
        conversation.ask(SMALL)
    return count / (time.perf_counter() - began)


def measure_new(client: Client, place: Place, count: int) -> float:
    """Return requests a second with a connection for each.

    Raises:
        OSError: one broke.
    """
    began = time.perf_counter()
    for _ in range(count):
        with client.converse(place) as conversation:
            conversation.ask(SMALL)
    return count / (time.perf_counter() - began)


def pair_requests(client: Client, base: Place, other: Place, count: int, rounds: int) -> list[Pair]:
    """Return pairs of requests a second on connections that are kept alive, in an order that alternates.

    Raises:
        OSError: one broke.
    """
    with client.converse(base) as one, client.converse(other) as two:
        for conversation in (one, two):
            measure_requests(conversation, max(1, count // 4))
        pairs = []
        for number in range(rounds):
            rates = {each: measure_requests(each, count) for each in ((one, two) if number % 2 == 0 else (two, one))}
            pairs.append(Pair(rates[one], rates[two]))
    return pairs


def pair_reuse(client: Client, place: Place, new: int, kept: int, rounds: int) -> list[Pair]:
    """Return pairs of requests a second, with a connection for each and on one that is kept alive.

    Raises:
        OSError: one broke.
    """
    pairs = []
    with client.converse(place) as conversation:
        measure_requests(conversation, max(1, kept // 4))
        for number in range(rounds):
            early = measure_new(client, place, new) if number % 2 == 0 else 0.0
            rate = measure_requests(conversation, kept)
            pairs.append(Pair(early or measure_new(client, place, new), rate))
    return pairs


class Transfers:
    """Downloads over several open connections in turn; close it after use.

    Raises:
        OSError: one cannot be opened.
    """

    def __init__(self, client: Client, places: Sequence[Place]) -> None:
        self._open = ExitStack()
        self._turned = False
        with ExitStack() as stack:
            self._lines = [(place, stack.enter_context(client.converse(place))) for place in places]
            self._open = stack.pop_all()

    def close(self) -> None:
        """Close the connections."""
        self._open.close()

    @property
    def ciphers(self) -> list[str]:
        """What each connection agreed on."""
        return [conversation.cipher for _, conversation in self._lines]

    def make(self, size: int) -> list[tuple[float, float]]:
        """Download so many bytes over each; return bytes a second and the server's processor seconds for each GiB.

        Raises:
            OSError: one broke.
        """
        turns = list(range(len(self._lines)))
        found = {turn: _download(*self._lines[turn], size) for turn in (reversed(turns) if self._turned else turns)}
        self._turned = not self._turned
        return [found[turn] for turn in turns]


def _download(place: Place, conversation: Conversation, size: int) -> tuple[float, float]:
    before = place.read_meter()
    began = time.perf_counter()
    conversation.ask(large(size))
    seconds = time.perf_counter() - began
    return size / seconds, place.settle(before, 0) * GIB / size
