"""Lists of targets that change while we run, in files and over HTTP."""

import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from exporter.config.settings import ListingUrl, SourceSettings
from exporter.discovery.files import ListingFiles, Look
from exporter.discovery.outside import Board, Looks, Means, Outside
from exporter.discovery.url import ListingAnswers
from exporter.model.target import Target


def names(look: Look) -> list[str] | None:
    """Return the names of the targets that are known."""
    return None if look.targets is None else [target.name for target in look.targets]


def listing(*addresses: str) -> str:
    """Return a list of targets as JSON."""
    return json.dumps([{"targets": list(addresses)}])


def files(folder: Path, pattern: str, most: int = 1000) -> ListingFiles:
    """Return what looks at files of a folder."""
    place = str(folder / pattern)
    return ListingFiles(SourceSettings("fleet", place, 5.0, most), place)


def test_one_file(tmp_path: Path) -> None:
    """A file is taken up when its content is another; a mistake or its absence leaves the last good list in force."""
    looking, path = files(tmp_path, "fleet.json"), tmp_path / "fleet.json"
    missing = looking.look()
    path.write_text(listing("a", "b"))
    first = looking.look()
    path.write_text("[{")
    broken = looking.look()
    path.write_text("")
    empty = looking.look()
    path.unlink()
    gone = looking.look()
    path.write_text("[]")
    none = looking.look()

    assert [None, ["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"], []] == [
        names(each) for each in (missing, first, broken, empty, gone, none)
    ]
    assert [1, 0, 1, 1, 1, 0] == [len(each.problems) for each in (missing, first, broken, empty, gone, none)]
    assert f"{path}:1: this is not JSON" in str(broken.problems[0])


def test_several_files(tmp_path: Path) -> None:
    """Of several files a bad one keeps its own last list, and one that is gone takes its targets with it."""
    looking = files(tmp_path, "*.yaml")
    nothing = looking.look()
    (tmp_path / "1.yaml").write_text("- targets: [a]")
    (tmp_path / "2.yaml").write_text("- targets: [b]")
    (tmp_path / "3.json").write_text("no yaml")
    both = looking.look()
    (tmp_path / "1.yaml").write_text("- targets: [")
    (tmp_path / "2.yaml").write_text("- targets: [c]")
    half = looking.look()
    (tmp_path / "1.yaml").unlink()
    rest = looking.look()

    assert [[], ["a", "b"], ["a", "c"], ["c"]] == [names(each) for each in (nothing, both, half, rest)]
    assert [0, 0, 1, 0] == [len(each.problems) for each in (nothing, both, half, rest)]


def test_a_swapped_link(tmp_path: Path) -> None:
    """A ConfigMap's files change by a link to another folder, with whatever dates they have."""
    for name, address in (("old", "a"), ("new", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fleet.json").write_text(listing(address))
    link = tmp_path / "data"
    link.symlink_to("old")
    (tmp_path / "fleet.json").symlink_to("data/fleet.json")
    looking = files(tmp_path, "fleet.json")
    before = looking.look()
    (tmp_path / "swap").symlink_to("new")
    (tmp_path / "swap").rename(link)

    assert (["a"], ["b"]) == (names(before), names(looking.look()))


def test_too_many_in_all(tmp_path: Path) -> None:
    """Files that are within the bound by themselves are held to it together."""
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(listing(f"a{number}", f"b{number}"))
    look = files(tmp_path, "*.json", most=4).look()

    assert ["a0", "b0", "a1", "b1"] == names(look)
    assert "6 targets in 3 files, of which 4 are probed" in str(look.problems[0])


def test_a_pipe_in_a_file_s_place(tmp_path: Path) -> None:
    """A pipe, which would wait for whoever writes into it, is refused unopened."""
    os.mkfifo(tmp_path / "fleet.json")
    look = files(tmp_path, "*.json").look()

    assert look.targets is None
    assert "is no regular file; allowed: a readable file" in str(look.problems[0])


def test_a_file_system_that_hangs() -> None:
    """A look that hangs makes the source fail, is not made twice, and is waited for by nobody when we end."""
    hanging, looks = threading.Event(), list[Look]()
    fresh = Look(())

    def work() -> Look:
        begun.append(threading.current_thread())
        hanging.wait(30)
        return fresh

    begun: list[threading.Thread] = []

    async def watch() -> None:
        looking = Looks("fleet.json", work, deadline=0.05)
        looks.extend([await looking.look(), await looking.look()])

    asyncio.run(watch())
    still_there = begun[0].is_alive()
    hanging.set()

    assert still_there
    assert len(begun) == 1
    assert [str(look.problems[0]) for look in looks] == ["fleet.json: the file system gave no answer within 0.05 s"] * 2


async def test_a_file_system_that_is_well_again() -> None:
    """What a slow look brought in the end is taken up at the next one."""
    hanging = threading.Event()

    def work() -> Look:
        hanging.wait(30)
        return Look(())

    looking = Looks("fleet.json", work, deadline=0.05)
    slow = await looking.look()
    hanging.set()
    async with asyncio.timeout(10):
        while (again := await looking.look()).problems:
            continue

    assert len(slow.problems) == 1
    assert again == Look(())


class Inventory:
    """An HTTP server that has a list.

    Attributes:
        body: what it answers.
        status: with which status.
        headers: of the requests that it got.
        slow: whether its answers never end.
    """

    def __init__(self) -> None:
        self.body = listing("a")
        self.status = 200
        self.headers: list[dict[str, str]] = []
        self.slow = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.headers.append(dict(request.headers))
        if self.slow:
            response = web.StreamResponse()
            await response.prepare(request)
            await response.write(b"[")
            await asyncio.sleep(30)
        return web.Response(text=self.body, status=self.status, headers={"Location": "/other"})


@asynccontextmanager
async def inventory() -> AsyncIterator[tuple[Inventory, str]]:
    """Give a server and its URL."""
    server, app = Inventory(), web.Application()
    app.router.add_get("/targets", server.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield server, f"http://127.0.0.1:{runner.addresses[0][1]}/targets"
    finally:
        await runner.cleanup()


async def test_answers() -> None:
    """An answer is taken up as a whole; an error, a redirect or nonsense leaves the last good one in force."""
    async with inventory() as (server, url):
        place = ListingUrl(url, (("X-Token", "abc"),))
        looking = ListingAnswers(SourceSettings("fleet", place, 60.0, 3), place, deadline=0.5)
        looks = [await looking.look()]
        server.body = listing("a", "b")
        looks.append(await looking.look())
        for status, body in (
            (500, "[]"),
            (302, "[]"),
            (200, "<html>"),
            (200, listing(*"abcd")),
            (200, "x" * (5 << 20)),
        ):
            server.status, server.body = status, body
            looks.append(await looking.look())
        server.slow = True
        looks.append(await looking.look())
        server.slow, server.body = False, "[]"
        looks.append(await looking.look())
    looks.append(await looking.look())

    assert [["a"], *[["a", "b"]] * 7, [], []] == [names(each) for each in looks]
    assert [0, 0, 1, 1, 1, 1, 1, 1, 0, 1] == [len(each.problems) for each in looks]
    assert "status 302; allowed: 200" in str(looks[3].problems[0])
    assert ("abc", "60") == tuple(
        server.headers[0][name] for name in ("X-Token", "X-Prometheus-Refresh-Interval-Seconds")
    )


async def test_a_url_by_name() -> None:
    """A name is looked up without a thread that would be waited for when we end."""
    async with inventory() as (_, url):
        place = ListingUrl(url.replace("127.0.0.1", "localhost"), ())
        look = await ListingAnswers(SourceSettings("fleet", place, 60.0, 3), place).look()
        names_of_threads = {thread.name for thread in threading.enumerate()}

    assert names(look) == ["a"]
    assert not any(name.startswith("asyncio") for name in names_of_threads)


async def test_a_url_whose_name_does_not_exist() -> None:
    """A name that is none is a problem of the source."""
    place = ListingUrl("http://nobody.invalid/targets", ())
    look = await ListingAnswers(SourceSettings("fleet", place, 60.0, 3), place, deadline=5.0).look()

    assert look.targets is None
    assert "no answer" in str(look.problems[0])


async def wait_for(holds: Callable[[], bool]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


@pytest.fixture
def source(tmp_path: Path) -> Outside:
    """A source of one file that is looked at all the time."""
    board = Board()
    board.keep(["fleet"])
    means = Means(lambda: 1000.0, lambda _: asyncio.sleep(0.005), lambda: 0.5)
    return Outside(SourceSettings("fleet", str(tmp_path / "fleet.json"), 5.0), board, means)


async def test_a_source_from_day_to_day(source: Outside, tmp_path: Path) -> None:
    """All targets are handed over when they are others than before, and the board says how the source does."""
    path, handed = tmp_path / "fleet.json", list[list[str]]()

    def hand_over(targets: Sequence[Target]) -> None:
        handed.append([target.name for target in targets])

    async with asyncio.TaskGroup() as group:
        task = group.create_task(source.run(hand_over))
        await wait_for(lambda: source.board.read()["fleet"].failures > 1)
        absent = source.board.read()["fleet"]
        path.write_text(listing("a"))
        await wait_for(lambda: source.board.read()["fleet"].successful)
        present = source.board.read()["fleet"]
        path.write_text("{")
        await wait_for(lambda: not source.board.read()["fleet"].successful)
        broken = source.board.read()["fleet"]
        path.write_text(listing("a", "b"))
        await wait_for(lambda: len(handed) == 2)
        task.cancel()

    assert [["a"], ["a", "b"]] == handed
    assert (None, False, None) == (absent.targets, absent.successful, absent.succeeded_at)
    assert (1, True, 1000.0) == (present.targets, present.successful, present.succeeded_at)
    assert (1, False, 1000.0) == (broken.targets, broken.successful, broken.succeeded_at)


def test_equal_sources(source: Outside) -> None:
    """Sources of the same settings do the same, so one can go on in the place of the other."""
    assert source == Outside(source.settings, Board())
    assert source != Outside(SourceSettings("fleet", "other.json", 5.0), Board())


def test_a_board_forgets(source: Outside) -> None:
    """A source that is no more is not known, and not heard when it still has something to say."""
    source.board.keep(["other"])
    source.board.note("fleet", Look(()), 1.0)

    assert ["other"] == list(source.board.read())
