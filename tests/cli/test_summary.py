"""A few rounds as a person and as a program read them."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from exporter.cli.document import to_document
from exporter.cli.probe import exit_code
from exporter.cli.summary import Summary, summarise
from exporter.cli.table import Painter, render_summary
from exporter.model.fingerprint import SALT, fingerprint
from tests.simulation.world import World, alike
from tests.verdict.fleet import Key, Server, named

A, B = named("a"), named("b")
ZERO_NAME = Key("zero", bytes(16))
DAY = 86_400.0
EXPIRY = 1.0  # of the simulated certificates, Unix time
NOW = EXPIRY - 30.5 * DAY


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
    assert words in "\n".join(render_summary(summary, Painter(colours=False), NOW))


@pytest.mark.parametrize(("make", "code", "words"), CASES)
async def test_document(make: Callable[[], World], code: int, words: str) -> None:
    """The same goes to a program as JSON, without a ticket or the name of a key."""
    document = json.dumps(to_document(await summary_of(make)))

    assert (code == 0) is json.loads(document)["healthy"]
    assert A.head.decode() not in document


@pytest.mark.parametrize(
    ("now", "words"),
    [
        pytest.param(NOW, ", 30 days left", id="30 days left"),
        pytest.param(EXPIRY - 1.5 * DAY, ", 1 day left", id="1 day left"),
        pytest.param(EXPIRY - 60, ", less than a day left", id="minutes left"),
        pytest.param(EXPIRY + 60, ", expired today", id="just expired"),
        pytest.param(EXPIRY + 1.5 * DAY, ", expired 1 day ago", id="expired 1 day ago"),
        pytest.param(EXPIRY + 30.5 * DAY, ", expired 30 days ago", id="expired 30 days ago"),
    ],
)
async def test_life_of_a_certificate(now: float, words: str) -> None:
    """A certificate's days are counted forward while it lives and back when it has expired."""
    summary = await summary_of(lambda: World(alike(1, Server(keys=[A]))))

    assert words in "\n".join(render_summary(summary, Painter(colours=False), now))


async def test_nothing_was_reached() -> None:
    """Where nobody answers, why is all there is to tell."""
    lines = list(render_summary(await summary_of(all_down), Painter(colours=False), NOW))

    assert lines == [
        "sim  server name sim.test, 2 backends, 2 rounds",
        "",
        "Failures",
        "  127.0.1.1:443  connect: connection refused (2 times)",
        "  127.0.1.2:443  connect: connection refused (2 times)",
    ]


async def test_failures_come_first() -> None:
    """What failed is told before the tables, whose gaps it explains."""
    world = World(alike(2, Server(keys=[A])))
    list(world.servers.values())[1][0].up = False
    lines = list(render_summary(summarise(await world.rounds(1)), Painter(colours=False), NOW))

    assert lines.index("Failures") < lines.index("TLS 1.3, times in ms")


async def test_key_of_a_document() -> None:
    """A key is given as the number that the metrics have, and in the hex digits that people are shown."""
    document = to_document(await summary_of(lambda: World(alike(1, Server(keys=[A])))))
    hidden = to_document(await summary_of(lambda: World(alike(1, Server(store=set())))))
    number = fingerprint(A.head, SALT)

    assert (document["backends"][0]["key_fingerprint"], document["backends"][0]["key"]) == (number, f"{number:08x}")
    assert (hidden["backends"][0]["key_fingerprint"], hidden["backends"][0]["key"]) == (None, None)


async def test_columns_stand_in_line() -> None:
    """All lines of a table have their columns at the same place, coloured or not."""
    summary = await summary_of(one_odd)
    plain = list(render_summary(summary, Painter(colours=False), NOW))
    coloured = list(render_summary(summary, Painter(colours=True), NOW))
    table = [line for line in plain if line.startswith(("backend", "127.0.1."))]

    assert len(table) == 4
    assert {line.index("  ", len("127.0.1.1:443")) for line in table} == {len("127.0.1.1:443")}
    assert any("\x1b[32m" in line for line in coloured)
    assert not any("\x1b" in line for line in plain)


async def test_handshakes_that_differ_in_size_alone_share_a_line() -> None:
    """Signatures differ in length by chance, so sizes are told from least to most, for all backends at once."""
    summary = await summary_of(lambda: World(alike(3, Server(keys=[A]))))
    backends = [
        replace(one, cold=replace(one.cold, sent_bytes=597, received_bytes=1219 + number))
        for number, one in enumerate(summary.backends)
        if one.cold is not None
    ]
    told = list(render_summary(replace(summary, backends=tuple(backends)), Painter(colours=False), NOW))

    assert len(backends) == 3
    cold = [line for line in told if "full handshake" in line]
    assert len(cold) == 1
    assert cold[0].startswith("  full handshake: 597 bytes sent and 1219 to 1221 received; ")


async def test_words_from_outside_cannot_steer_a_terminal() -> None:
    """An escape sequence in a name comes out as text."""
    world = World(alike(1, Server(keys=[A], cipher="TLS\x1b[2JX\r\n")))
    text = "\n".join(render_summary(summarise(await world.rounds(1)), Painter(colours=False), NOW))

    assert "\x1b" not in text
    assert "TLS\\x1b[2JX" in text
