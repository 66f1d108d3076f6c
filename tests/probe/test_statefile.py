"""The state file: what was known before a restart is known after it, and nothing on a disk stops a start."""

import asyncio
import json
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from exporter.model.fingerprint import SALT, digest
from exporter.model.keys import KeyRecord
from exporter.model.target import TlsVersion
from exporter.probe.document import MAX_BYTES, DocumentError, Records, decode, encode
from exporter.probe.statefile import StateFile
from exporter.verdict.keybook import records_of

NOW = 1_800_000_000.0
KEY = KeyRecord(TlsVersion.TLS13, "192.0.2.1:443", digest(b"name"), NOW - 3600, NOW, current=True)
OLD = KeyRecord(TlsVersion.TLS12, "[2001:db8::1]:8443", digest(b"old"), NOW - 7200, NOW - 3600, current=False)
KNOWN: Records = {"shop": (KEY, OLD), "blog": (OLD,)}
LONGEST = KeyRecord(TlsVersion.TLS13, f"[{'2001:' * 7}2001%eth0123456789]:65535", "f" * 32, NOW + 0.123456, NOW, False)


def at(path: Path, salt: bytes = SALT, now: float = NOW) -> StateFile:
    """Return a state file by a clock that stands."""
    return StateFile(path, salt, lambda: now)


async def known(file: StateFile) -> Records:
    """Return the records with which a start begins."""
    return {name: records_of(history) for name, history in (await file.recall()).items()}


async def write(file: StateFile, records: Records) -> None:
    """Write once, as at the end of the process."""
    task = asyncio.get_running_loop().create_task(file.keep(lambda: records, pause=3600.0))
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, for 10 s at the most."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - files tell nobody when they change
            await asyncio.sleep(0.01)


def names(folder: Path) -> set[str]:
    """Return the names of what is in a folder."""
    return {each.name for each in folder.iterdir()}


def same(one: Records, other: Records) -> bool:
    """Say whether the same is known, whatever its order."""
    return {name: frozenset(those) for name, those in one.items()} == {
        name: frozenset(those) for name, those in other.items()
    }


async def test_restart(tmp_path: Path) -> None:
    """What one process wrote at its end is what the next one begins with, and only its owner can read it."""
    path = tmp_path / "keys.json"
    await write(at(path), KNOWN)

    assert same(KNOWN, await known(at(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {"keys.json"} == names(tmp_path)


async def test_first_start(tmp_path: Path) -> None:
    """No file is no news."""
    with capture_logs() as told:
        assert {} == await known(at(tmp_path / "keys.json"))
    assert [] == told


async def test_no_names_and_no_tickets(tmp_path: Path) -> None:
    """The file holds what is said of its format, and nothing besides."""
    path = tmp_path / "keys.json"
    await write(at(path), {"shop": (KEY,)})
    record = {
        "version": "1.3",
        "backend": "192.0.2.1:443",
        "digest": digest(b"name"),
        "first_seen": NOW - 3600,
        "last_seen": NOW,
        "current": True,
    }

    expected = {"version": 1, "salt": digest(b"", SALT), "targets": {"shop": [record]}}
    assert expected == json.loads(path.read_bytes())


async def test_written_when_changed(tmp_path: Path) -> None:
    """It is written while the process runs, and only if something changed."""
    path = tmp_path / "keys.json"
    now: dict[str, tuple[KeyRecord, ...]] = {"shop": (KEY,)}
    looks: list[Records] = []

    def look() -> Records:
        looks.append(now)
        return dict(now)

    task = asyncio.get_running_loop().create_task(at(path).keep(look, pause=0.01))
    await until(path.exists)
    first = path.stat().st_ino
    seen = len(looks)
    await until(lambda: len(looks) > seen + 3)
    assert first == path.stat().st_ino
    now["shop"] = (replace(KEY, last_seen=NOW + 60),)
    await until(lambda: path.stat().st_ino != first)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task

    assert same(now, await known(at(path)))


def damaged(**changes: object) -> bytes:
    """Return a file with something wrong in its only record."""
    document = json.loads(encode({"shop": (KEY,)}, SALT))
    document["targets"]["shop"][0].update(changes)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(b"", "damaged", id="empty"),
        pytest.param(encode(KNOWN, SALT)[:-20], "damaged", id="cut off"),
        pytest.param(os.urandom(4096), "damaged", id="noise"),
        pytest.param(b"[" * 100_000, "damaged", id="brackets"),
        pytest.param(b"{}", "damaged", id="nothing in it"),
        pytest.param(b'{"version": 2, "salt": "", "keys": []}', "version 2", id="a later release"),
        pytest.param(encode(KNOWN, b"another"), "another salt", id="another salt"),
        pytest.param(damaged(backend="nowhere"), "damaged", id="no address"),
        pytest.param(damaged(backend="192.0.2.1:https"), "damaged", id="no port"),
        pytest.param(damaged(version="1.1"), "damaged", id="no version that is probed"),
        pytest.param(damaged(first_seen="today"), "damaged", id="no number"),
        pytest.param(damaged(first_seen=-1.0), "damaged", id="before all time"),
        pytest.param(damaged(digest="f" * 33), "damaged", id="no digest"),
        pytest.param(b" " * (MAX_BYTES + 1), "over 8 MiB", id="too large"),
    ],
)
async def test_useless_file(content: bytes, why: str, tmp_path: Path) -> None:
    """A file that cannot be used is set aside whole, with a line in the log that says why, and a new one is written."""
    path = tmp_path / "keys.json"
    path.write_bytes(content)
    file = at(path)
    with capture_logs() as told:
        assert {} == await known(file)
    await write(file, KNOWN)

    assert content == (tmp_path / "keys.json.damaged-1800000000").read_bytes()
    assert [("warning", True)] == [(line["log_level"], why in line["why"]) for line in told]
    assert same(KNOWN, await known(at(path)))


async def test_few_are_set_aside(tmp_path: Path) -> None:
    """Of the files that were set aside the last three stay."""
    path = tmp_path / "keys.json"
    for second in range(8, 13):  # one digit more on the way, so that order by name would be wrong
        path.write_bytes(b"noise")
        await known(at(path, now=float(second)))

    assert {f"keys.json.damaged-{second}" for second in (10, 11, 12)} == names(tmp_path)


async def test_pipe(tmp_path: Path) -> None:
    """A pipe in the file's place, whose writer never comes, does not hold up the start."""
    os.mkfifo(tmp_path / "keys.json")
    async with asyncio.timeout(5):
        assert {} == await known(at(tmp_path / "keys.json"))


@pytest.mark.parametrize("place", ["missing/keys.json", "file/keys.json", "folder"])
async def test_no_place_to_write(place: str, tmp_path: Path) -> None:
    """Where it cannot be written, that is told once and again when it can be; nothing else happens."""
    (tmp_path / "file").touch()
    (tmp_path / "folder/full").mkdir(parents=True)
    records: dict[str, tuple[KeyRecord, ...]] = dict(KNOWN)
    looks: list[int] = []

    def look() -> Records:
        looks.append(1)
        return records

    with capture_logs() as told:
        task = asyncio.get_running_loop().create_task(at(tmp_path / place).keep(look, pause=0.005))
        await until(lambda: len(looks) > 4)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    assert ["the state file cannot be written"] == [line["event"] for line in told]
    assert {"file", "folder"} == names(tmp_path)


async def test_disk_recovers(tmp_path: Path) -> None:
    """A folder that comes back is written to again."""
    path = tmp_path / "late/keys.json"
    with capture_logs() as told:
        task = asyncio.get_running_loop().create_task(at(path).keep(lambda: KNOWN, pause=0.005))
        await until(lambda: bool(told))
        path.parent.mkdir()
        await until(lambda: len(told) > 1)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    assert ["the state file cannot be written", "the state file is written again"] == [line["event"] for line in told]
    assert same(KNOWN, await known(at(path)))


async def test_other_targets_rest(tmp_path: Path) -> None:
    """The keys of a target that is not probed for a while are kept, but not for ever."""
    path = tmp_path / "keys.json"
    await write(at(path), KNOWN)
    later = at(path, now=NOW + 86_400)
    await later.recall()
    await write(later, {"shop": (KEY,)})
    assert {"shop", "blog"} == set(await known(at(path)))

    much_later = at(path, now=NOW + 40 * 86_400)
    await much_later.recall()
    await write(much_later, {"shop": (KEY,)})
    assert {"shop"} == set(await known(at(path)))


@pytest.mark.parametrize(
    ("targets", "records"),
    [pytest.param(3000, 1, id="targets"), pytest.param(1, 40_000, id="records"), pytest.param(2000, 30, id="both")],
)
def test_bounds(targets: int, records: int) -> None:
    """Too much is cut down to what the next start will read."""
    longest = [f"{number:0128}".replace("0", "😀") for number in range(targets)]
    content = encode(dict.fromkeys(longest, (LONGEST,) * records), SALT)

    assert len(content) <= MAX_BYTES
    assert decode(content, SALT)


def test_what_is_in_use_is_kept() -> None:
    """Where records are left out, they are those of keys that were given up longest ago."""
    gone = tuple(replace(OLD, last_seen=float(second)) for second in range(40_000))
    kept = decode(encode({"shop": (*gone, KEY)}, SALT), SALT)["shop"]

    assert KEY in kept
    assert min(one.last_seen for one in kept) == 40_000 - len(kept) + 1


async def test_disk_that_hangs(tmp_path: Path) -> None:
    """A disk that never answers holds up neither the loop nor, for over two seconds, the end."""
    next_file = tmp_path / f".keys.json.{os.uname().nodename}-{os.getpid()}"
    os.mkfifo(next_file)  # opening it waits for a reader
    looked = asyncio.Event()

    def look() -> Records:
        looked.set()
        return KNOWN

    task = asyncio.get_running_loop().create_task(at(tmp_path / "keys.json").keep(look, pause=0.001))
    async with asyncio.timeout(2):
        await looked.wait()
        task.cancel()
        await asyncio.wait([task])

    reader = os.open(next_file, os.O_RDONLY | os.O_NONBLOCK)  # lets the threads go
    await until(lambda: not [each for each in threading.enumerate() if each.name == "state file"])
    os.close(reader)


def test_error_is_told() -> None:
    """A text that is no document is refused with a reason."""
    with pytest.raises(DocumentError, match="damaged"):
        decode(b"null", SALT)


@pytest.mark.parametrize("linked", [pytest.param(False, id="folder"), pytest.param(True, id="link to a folder")])
async def test_what_is_no_file_is_left_alone(linked: bool, tmp_path: Path) -> None:
    """A folder in the file's place is neither renamed nor written over, and what is in it stays."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "treasure").write_text("gold")
    place = tmp_path / "link" if linked else folder
    if linked:
        place.symlink_to(folder)
    file = at(place)
    before = await known(file)
    await write(file, KNOWN)

    assert {} == before
    assert "gold" == (folder / "treasure").read_text()
    assert {"folder", "link"} & names(tmp_path) == names(tmp_path)


async def test_link_stays_a_link(tmp_path: Path) -> None:
    """A link is followed, so that a file on a volume is what is written."""
    volume = tmp_path / "volume"
    volume.mkdir()
    (tmp_path / "keys.json").symlink_to(volume / "real.json")
    file = at(tmp_path / "keys.json")
    await known(file)
    await write(file, KNOWN)

    assert (tmp_path / "keys.json").is_symlink()
    assert same(KNOWN, decode((volume / "real.json").read_bytes(), SALT))


def test_key_from_the_future() -> None:
    """A file with keys that cannot have been seen yet is damaged, or its clock was."""
    with pytest.raises(DocumentError, match="cannot be"):
        decode(encode(KNOWN, SALT), SALT, now=1000.0)
