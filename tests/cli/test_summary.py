"""A few rounds as a person and as a program read them."""

import json
from collections.abc import Callable

import pytest

from exporter.cli.document import to_document
from exporter.cli.probe import exit_code
from exporter.cli.summary import Summary, summarise
from exporter.cli.table import Painter, render_summary
from tests.simulation.world import World, alike
from tests.verdict.fleet import Key, Server, named

A, B = named("a"), named("b")
ZERO_NAME = Key("zero", bytes(16))


def one_odd() -> World:
    """Three servers, of which the last has another key."""
    world = World(alike(3, Server(keys=[A])))
    list(world.servers.values())[2][0].keys = [B]
    return world


def all_down() -> World:
    """Two servers at which nobody answers."""
    return World(alike(2, Server(keys=[A], up=False)))


CASES = [
    pytest.param(lambda: World(alike(3, Server(keys=[A]))), 0, "consistent: TLS 1.3: all 3 backends", id="one key"),
    pytest.param(one_odd, 1, "Against the majority: 127.0.1.3:443", id="another key"),
    pytest.param(all_down, 2, "connection refused", id="all down"),
    pytest.param(lambda: World(alike(1, Server(keys=[ZERO_NAME]))), 1, "name is all zeros", id="key file of zeros"),
]


async def summary_of(make: Callable[[], World], rounds: int = 2) -> Summary:
    """Make rounds and put them together."""
    return summarise(await make().rounds(rounds))


@pytest.mark.parametrize(("make", "code", "words"), CASES)
async def test_exit_code_and_words(make: Callable[[], World], code: int, words: str) -> None:
    """The exit code says whether there is a finding, and the text says which."""
    summary = await summary_of(make)

    assert code == exit_code(summary)
    assert words in "\n".join(render_summary(summary, Painter(colours=False)))


@pytest.mark.parametrize(("make", "code", "words"), CASES)
async def test_document(make: Callable[[], World], code: int, words: str) -> None:
    """The same goes to a program as JSON, without a ticket or the name of a key."""
    document = json.dumps(to_document(await summary_of(make)))

    assert (code == 0) is json.loads(document)["healthy"]
    assert A.head.decode() not in document


async def test_columns_stand_in_line() -> None:
    """All lines of a table have their columns at the same place, coloured or not."""
    summary = await summary_of(one_odd)
    plain = list(render_summary(summary, Painter(colours=False)))
    coloured = list(render_summary(summary, Painter(colours=True)))
    table = [line for line in plain if line.startswith(("backend", "127.0.1."))]

    assert len(table) == 4
    assert {line.index("  ", len("127.0.1.1:443")) for line in table} == {len("127.0.1.1:443")}
    assert any("\x1b[32m" in line for line in coloured)
    assert not any("\x1b" in line for line in plain)


async def test_words_from_outside_cannot_steer_a_terminal() -> None:
    """An escape sequence in a name comes out as text."""
    world = World(alike(1, Server(keys=[A], cipher="TLS\x1b[2JX\r\n")))
    text = "\n".join(render_summary(summarise(await world.rounds(1)), Painter(colours=False)))

    assert "\x1b" not in text
    assert "TLS\\x1b[2JX" in text
