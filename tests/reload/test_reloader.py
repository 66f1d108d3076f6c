"""Reading a configuration again: whole or not at all, and only when it holds something else."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.app.reloading import Reloader, fixed_settings
from exporter.config.contents import Contents
from exporter.config.load import load
from exporter.config.settings import Config, LogSettings, ReferenceSettings, TicketKeys, WaveSettings
from tests.servers.certificates import Authority

_PATIENCE = 10.0


def text(*names: str, tls: str = "{}", rest: str = "") -> str:
    """Return a configuration with these targets."""
    targets = "".join(f"  - {{name: {name}, address: '127.0.0.1:1', tls: {tls}}}\n" for name in names)
    return f"targets:\n{targets}{rest}"


class Stage:
    """A reloader on a file, and what it put in force."""

    def __init__(self, file: Path) -> None:
        contents = Contents()
        self.first = load(file, contents)
        self.taken: list[Config] = []
        self._file = file
        self.looks = 0
        self.reloader = Reloader(file, self.first, contents, self.taken.append)

    def write(self, content: str) -> None:
        """Let the configuration hold something else."""
        self._file.write_text(content)

    def remove(self) -> None:
        """Take the configuration away."""
        self._file.unlink()

    @property
    def names(self) -> list[list[str]]:
        """Of the targets of each configuration that was taken up."""
        return [[target.name for target in config.targets] for config in self.taken]

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Look at the files again and again, as fast as the loop goes."""

        async def sleep(_: float) -> None:
            self.looks += 1
            await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.reloader.watch(sleep))
            yield
            task.cancel()

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition."""
        async with asyncio.timeout(_PATIENCE):
            while not condition():  # noqa: ASYNC110 -- the condition is about values that announce nothing
                await asyncio.sleep(0.001)

    async def look_often(self) -> None:
        """Wait until the files were looked at some more times."""
        before = self.looks
        await self.wait_until(lambda: self.looks >= before + 5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A configuration with one target."""
    path = tmp_path / "config.yaml"
    path.write_text(text("a"))
    return path


async def test_reload(file: Path) -> None:
    """A changed file is taken up when that is asked for."""
    stage = Stage(file)
    stage.write(text("a", "b"))

    assert await stage.reloader.reload() is None
    assert stage.names == [["a", "b"]]
    assert stage.reloader.last.successful


async def test_broken(file: Path) -> None:
    """A broken file is told with all its errors and changes nothing; a mended one is taken up."""
    stage = Stage(file)
    before = stage.reloader.last.succeeded_at
    stage.write(text("a", "a", rest="nonsense: 1\n"))
    told = await stage.reloader.reload()

    assert told is not None
    assert len(told.splitlines()) == 2
    assert not stage.reloader.last.successful
    assert stage.reloader.last.succeeded_at == before
    assert stage.taken == []

    stage.write(text("c"))
    assert await stage.reloader.reload() is None
    assert stage.names == [["c"]]
    assert stage.reloader.last.successful


async def test_changed_content(file: Path) -> None:
    """A file is read again by itself when it holds something else, and not when it was only written anew."""
    stage = Stage(file)
    async with stage.watching():
        stage.write(text("a"))
        await stage.look_often()
        assert stage.taken == []
        stage.write(text("b"))
        await stage.wait_until(lambda: bool(stage.taken))
        await stage.look_often()

    assert stage.names == [["b"]]


async def test_broken_content(file: Path) -> None:
    """A broken file is tried once and not at each look; a file that is missing for a while is read when it is back."""
    stage = Stage(file)
    async with stage.watching():
        stage.write("targets: [")
        await stage.wait_until(lambda: not stage.reloader.last.successful)
        failed = stage.reloader.last
        await stage.look_often()
        assert stage.reloader.last is failed
        stage.remove()
        await stage.wait_until(lambda: stage.reloader.last is not failed)
        stage.write(text("a", "b"))
        await stage.wait_until(lambda: bool(stage.taken))

    assert stage.names == [["a", "b"]]


async def test_symlink_swap(tmp_path: Path) -> None:
    """A ConfigMap's volume changes by a link that turns to another folder, and the file's own name stays a link."""
    for number, names in enumerate((["a"], ["a", "b"])):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "config.yaml").write_text(text(*names))
    (tmp_path / "..data").symlink_to("..0")
    file = tmp_path / "config.yaml"
    file.symlink_to("..data/config.yaml")
    stage = Stage(file)
    async with stage.watching():
        (tmp_path / "..fresh").symlink_to("..1")
        (tmp_path / "..fresh").rename(tmp_path / "..data")
        await stage.wait_until(lambda: bool(stage.taken))

    assert stage.names == [["a", "b"]]


async def test_files_that_it_names(tmp_path: Path, authority: Authority) -> None:
    """A CA and a secret are taken up when they change; one that is broken for a while is not."""
    ca, secret, file = tmp_path / "ca.pem", tmp_path / "token", tmp_path / "config.yaml"
    ca.write_bytes(authority.file.read_bytes())
    secret.write_text("first")
    file.write_text(
        "targets:\n  - {name: a, address: '127.0.0.1:1', tls: {ca_file: ca.pem}, "
        "http: {headers: {Authorization: {file: token}}}}\n"
    )
    stage = Stage(file)
    async with stage.watching():
        ca.write_text("-----BEGIN")
        await stage.wait_until(lambda: not stage.reloader.last.successful)
        assert stage.taken == []
        ca.write_bytes(authority.file.read_bytes() + b"\n")
        await stage.wait_until(lambda: len(stage.taken) == 1)
        secret.write_text("second")
        await stage.wait_until(lambda: len(stage.taken) == 2)

    before, renewed, told = (config.targets[0] for config in (stage.first, *stage.taken))
    assert before.tls.content != renewed.tls.content
    assert replace(before.tls, content="") == replace(renewed.tls, content="")
    assert told == replace(renewed, http=told.http)
    assert dict(told.http.headers) == {"Authorization": "second"}


async def test_signals(file: Path) -> None:
    """Each signal is a reload, also of a file that has not changed."""
    stage = Stage(file)
    hangup = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stage.reloader.heed(hangup))
        hangup.set()
        await stage.wait_until(lambda: len(stage.taken) == 1)
        hangup.set()
        await stage.wait_until(lambda: len(stage.taken) == 2)
        task.cancel()

    assert stage.names == [["a"], ["a"]]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(Config(), [], id="nothing"),
        pytest.param(Config(listen=(":1",)), ["listen"], id="listen"),
        pytest.param(Config(ticket_keys=TicketKeys(state_file="x")), ["ticket_keys.state_file"], id="state file"),
        pytest.param(Config(ticket_keys=TicketKeys(salt=b"x")), ["ticket_keys.salt"], id="salt"),
        pytest.param(Config(reference=ReferenceSettings(enabled=False)), ["reference"], id="reference"),
        pytest.param(Config(log=LogSettings("debug", "json")), ["log.format"], id="log"),
        pytest.param(Config(ticket_keys=TicketKeys(grace=1.0, hold=9)), [], id="patience"),
        pytest.param(Config(wave=WaveSettings(1, 1, 1.0, 1.0)), [], id="wave"),
    ],
)
def test_fixed_settings(now: Config, expected: list[str]) -> None:
    """What needs a restart is known by name."""
    assert fixed_settings(Config(), now) == expected
