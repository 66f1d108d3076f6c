"""Changed files, taken up whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.web.load import load_lock
from exporter.web.lock import OPEN
from exporter.web.renewal import Renewal
from tests.servers.certificates import Leaf
from tests.web.locks import HASH, USERS, tls, write_lock

LATER = 1e12
"""Unix time at which every file has long been written."""


class Told(list[str | None]):
    """What a renewal told."""


def renewal(file: Path, told: Told, clock: Callable[[], float] = lambda: LATER) -> Renewal:
    """Return what looks after a file."""
    return Renewal(file, load_lock(file), clock, told.append)


def test_nothing_changed(tmp_path: Path) -> None:
    """Files that are as they were are left alone, and nothing is told."""
    told = Told()
    file = write_lock(tmp_path, USERS)
    keeper = renewal(file, told)
    first = keeper.lock
    keeper.look(file)

    assert keeper.lock is first
    assert told == []


def test_a_change(tmp_path: Path) -> None:
    """A changed file is taken up, and told once."""
    told = Told()
    file = write_lock(tmp_path, USERS)
    keeper = renewal(file, told)
    write_lock(tmp_path, f"basic_auth_users: {{bob: {HASH}, carol: {HASH}}}")
    for _ in range(3):
        keeper.look(file)

    assert set(keeper.lock.users) == {b"bob", b"carol"}
    assert told == [None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("basic_auth_users: [", "this is not YAML", id="half a file"),
        pytest.param("", "nothing but space and comments", id="an empty file"),
        pytest.param(f"{USERS} short", "no bcrypt hash", id="a mistake"),
    ],
)
def test_a_mistake(tmp_path: Path, text: str, words: str) -> None:
    """While a file is not whole, the lock before it holds; it is told once, and tried again until it is."""
    told = Told()
    file = write_lock(tmp_path, USERS)
    keeper = renewal(file, told)
    write_lock(tmp_path, text)
    for _ in range(3):
        keeper.look(file)
    assert set(keeper.lock.users) == {b"alice"}
    assert [words in (each or "") for each in told] == [True]

    write_lock(tmp_path, f"basic_auth_users: {{bob: {HASH}}}")
    keeper.look(file)
    assert set(keeper.lock.users) == {b"bob"}
    assert told[1:] == [None]


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    """A file that is taken away opens no door."""
    told = Told()
    file = write_lock(tmp_path, USERS)
    keeper = renewal(file, told)
    file.unlink()
    keeper.look(file)

    assert set(keeper.lock.users) == {b"alice"}
    assert told == [f"{file}: {file}: no such file; allowed: a readable file"]


@pytest.mark.parametrize("begins_with_tls", [pytest.param(True, id="off"), pytest.param(False, id="on")])
def test_tls_is_not_switched(tmp_path: Path, leaf: Leaf, begins_with_tls: bool) -> None:
    """TLS is neither begun nor given up while we run, since clients would send passwords in clear, or be lost."""
    told = Told()
    file = write_lock(tmp_path, *([tls(leaf)] if begins_with_tls else []), USERS)
    keeper = renewal(file, told)
    write_lock(tmp_path, *([] if begins_with_tls else [tls(leaf)]), USERS)
    keeper.look(file)

    assert (keeper.lock.tls is not None) is begins_with_tls
    assert told == [f"{file}: tls_server_config: TLS cannot be switched on or off without a restart"]


@pytest.mark.parametrize(
    ("age", "taken"),
    [
        pytest.param(0.1, False, id="just written"),
        pytest.param(0.6, True, id="settled"),
        pytest.param(-60.0, True, id="in the future, by a clock that was wrong"),
    ],
)
def test_a_file_that_is_being_written(tmp_path: Path, age: float, taken: bool) -> None:
    """A file that changed a moment ago may be half written and look whole, so it is left until it has settled."""
    told = Told()
    file = write_lock(tmp_path, USERS)
    keeper = renewal(file, told, lambda: 1_000_000.0)
    write_lock(tmp_path, "{}")
    os.utime(file, (1_000_000 - age, 1_000_000 - age))
    keeper.look(file)

    assert (len(keeper.lock.users) == 0) is taken


def test_files_of_a_secret_volume(tmp_path: Path, leaf: Leaf, rsa_leaf: Leaf) -> None:
    """Files behind a symbolic link that is turned over, as Kubernetes does it, are taken up all at once."""
    for number, pair in enumerate((leaf, rsa_leaf)):
        (tmp_path / f"..{number}").mkdir()
        for name, file in (("tls.crt", pair.certificate_file), ("tls.key", pair.key_file)):
            (tmp_path / f"..{number}" / name).write_bytes(file.read_bytes())
    (tmp_path / "..data").symlink_to("..0")
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    told = Told()
    file = write_lock(tmp_path, "tls_server_config: {cert_file: tls.crt, key_file: tls.key}")
    keeper = renewal(file, told)
    first = keeper.lock.tls
    (tmp_path / "..fresh").symlink_to("..1")
    (tmp_path / "..fresh").rename(tmp_path / "..data")
    keeper.look(file)

    assert keeper.lock.tls is not first
    assert told == [None]


async def test_no_file() -> None:
    """Without a file there is nothing to look after."""
    await Renewal(None, OPEN, lambda: LATER, Told().append).keep()
