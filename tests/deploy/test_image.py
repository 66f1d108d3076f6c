"""The Dockerfile's steps, carried out in a root file system of Debian's, and what runs there."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy import container, imagebuild
from tests.deploy.dockerfile import Stage, read_stages
from tests.deploy.imagebuild import Built
from tests.servers.process import find_program

STAGES = read_stages(Path("Dockerfile"))
FINAL = STAGES[-1]
LOCKS = (Path("requirements/image.txt"), Path("requirements/image-build.txt"))
COMMIT = "0123456789abcdef0123456789abcdef01234567"
MOST_BYTES = 48 << 20  # of our own layers, unpacked
ASK_REFERENCE = """
import sys, urllib.request
text = urllib.request.urlopen("http://localhost:10507/metrics").read().decode()
sys.exit("\\ntlsprobe_reference_ok 1.0\\n" not in text)
"""
PIN = re.compile(r"^([A-Za-z0-9_.-]+==[^\s\\]+)", re.MULTILINE)

# It takes minutes, and root's rights.
demanded = pytest.mark.skipif(os.environ.get("TLSPROBE_IMAGE") != "1", reason="make image runs this")


def test_the_dockerfile_is_clean() -> None:
    """The linter hadolint has nothing to say, not even a hint."""
    found = subprocess.run([find_program("hadolint"), "Dockerfile"], capture_output=True, text=True, check=False)

    assert ("", 0) == (found.stdout, found.returncode)


@pytest.mark.parametrize("lock", LOCKS, ids=str)
def test_the_lock_is_current(lock: Path) -> None:
    """The image has the versions that are tested, each with a hash, and no word of where packages come from."""
    pins = lock.with_name({"image.txt": "run.txt", "image-build.txt": "build.txt"}[lock.name])
    entries = lock.read_text().split("\n", 1)[1].replace("\\\n", " ").splitlines()

    assert PIN.findall(pins.read_text()) == [PIN.findall(entry)[0] for entry in entries]
    assert all(re.fullmatch(r"\S+==\S+( +--hash=sha256:[0-9a-f]{64})+", entry) for entry in entries)


def test_only_what_is_needed_gets_in() -> None:
    """What the Dockerfile copies is let through by .dockerignore, and nothing else is."""
    copies = [each for stage in STAGES for each in stage.instructions if each.word == "COPY"]

    assert set(_allowed()) == {name for each in copies if "from" not in each.options for name in each.words[:-1]}


def test_the_image_says_how_it_is_to_run() -> None:
    """Its user is a number, so that Kubernetes can see that it is not root, and no step needs a shell to start."""
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", FINAL.last("USER").text)
    assert all(FINAL.last(word).text.startswith("[") for word in ("ENTRYPOINT", "CMD"))
    assert "health" == _health_check(FINAL)[-1]
    assert {STAGES[0].base} == {stage.base for stage in STAGES}
    assert f":{imagebuild.PYTHON}-slim-{imagebuild.RELEASE}" in FINAL.base


def _health_check(stage: Stage) -> tuple[str, ...]:
    text = stage.last("HEALTHCHECK").text
    return tuple(re.findall(r'"([^"]+)"', text[text.index("CMD") :]))


def _allowed() -> list[str]:
    return [line[1:] for line in Path(".dockerignore").read_text().splitlines() if line.startswith("!")]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the image is made from, as it was at the start: all builds are of the same, whoever edits meanwhile."""
    folder = tmp_path_factory.mktemp("context")
    for name in _allowed():
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        if Path(name).is_dir():
            shutil.copytree(name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(name, target)
    return folder


@pytest.fixture(scope="module")
def built(context: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The image."""
    folder = tmp_path_factory.mktemp("image")
    yield _build(context, folder)
    shutil.rmtree(folder)


def _build(context: Path, folder: Path) -> Built:
    base = imagebuild.make_base(os.environ.get("TLSPROBE_DEBIAN"))
    return imagebuild.build(STAGES, context, folder, base, imagebuild.fetch_wheels(LOCKS), {"REVISION": COMMIT})


@demanded
def test_it_runs_as_nobody_where_nothing_can_be_written(built: Built, tmp_path: Path) -> None:
    """The daemon starts without a shell, is well, sees its reference as it is, knows its commit, and ends when told."""
    python = "/opt/tlsprobe/bin/python"
    write = "import sys; open(sys.argv[1] + '/file', 'w')"
    words = [*FINAL.last("ENTRYPOINT").words, *FINAL.last("CMD").words]
    with container.running(built, words, imagebuild.BASE, tmp_path) as inside:
        inside.wait_until_well(*_health_check(FINAL))
        inside.wait_until_well(python, "-c", ASK_REFERENCE)
        version = inside.run(*FINAL.last("ENTRYPOINT").words, "--version").stdout
        shell = inside.run("/bin/sh", "-c", "true")
        identity = Path(f"/proc/{inside.first}/status").read_text()
        refused = [inside.run(python, "-c", write, place) for place in ("/tmp", "/opt/tlsprobe", "/var/lib/tlsprobe")]
        code = inside.end()

    assert f"commit    {COMMIT}" in version.splitlines()
    assert shell.returncode
    assert "Uid:\t65532\t65532\t65532\t65532" in identity
    assert "CapEff:\t0000000000000000" in identity
    assert all("Read-only file system" in each.stderr for each in refused)
    assert 0 == code


@demanded
def test_it_is_the_same_each_time(context: Path, built: Built, tmp_path: Path) -> None:
    """Two builds of the same source give the same files, byte for byte."""
    again = _build(context, tmp_path)

    assert _contents(built.layer) == _contents(again.layer)


@demanded
def test_what_it_holds_is_owned_by_root_and_small(built: Built) -> None:
    """Who runs it can change none of it but the folder for state, and our own part of it weighs little."""
    files = [path for path in built.layer.rglob("*") if not path.is_symlink()]
    others = [path for path in files if path.stat().st_uid != 0]

    assert [built.layer / "var/lib/tlsprobe"] == others
    assert not [path for path in files if path.stat().st_mode & 0o022]
    assert sum(path.stat().st_size for path in files if path.is_file()) < MOST_BYTES


def _contents(layer: Path) -> dict[str, bytes]:
    files = (path for path in sorted(layer.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(layer)): path.read_bytes() for path in files}
