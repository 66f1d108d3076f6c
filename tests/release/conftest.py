"""The wheel, built and installed once for all that is asked of it."""

import fcntl
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.release.wheels import PINS, build_wheel, copy_source, pack_installed, run, run_pip


@dataclass(frozen=True)
class Release:
    """What tests of a release need.

    Attributes:
        source: what the wheel was built from.
        needed: a folder with the wheels of all that the exporter needs.
        venv: a virtual environment that has all of them at the pinned versions, and nothing else.
    """

    source: Path
    wheel: Path
    needed: Path
    venv: Path

    @property
    def tlsprobe(self) -> Path:
        """The installed command."""
        return self.venv / "bin" / "tlsprobe"


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Release:
    """Make it where the processes of this test run share it, since it takes a while."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "release"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            _make(folder)
            (folder / "made").touch()
    (wheel,) = folder.glob("*.whl")
    return Release(folder / "source", wheel, folder / "needed", folder / "venv")


def _make(folder: Path) -> None:
    wheel = build_wheel(copy_source(Path(), folder / "source"), folder)
    needed = pack_installed(folder / "needed")
    python = folder / "venv" / "bin" / "python"
    run(["python3", "-m", "venv", "--without-pip", folder / "venv"])
    run_pip("--python", python, "install", "--find-links", needed, "--constraint", PINS.resolve(), wheel)
