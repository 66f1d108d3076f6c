"""Wheels without a network: the exporter's own from this tree, and those that it needs from what is installed here."""

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

PINS = Path("requirements/run.txt")
_SOURCE = ("exporter", "pyproject.toml", "README.md", "LICENSE")
_CACHES = shutil.ignore_patterns("__pycache__")
_FOREIGN = {"INSTALLER", "REQUESTED", "direct_url.json"}
_EPOCH = "1767225600"


def pins() -> dict[str, str]:
    """Return the pinned versions by distribution."""
    found = re.findall(r"^([\w.-]+)==(\S+)$", PINS.read_text(), flags=re.MULTILINE)
    return dict(found)


def copy_source(origin: Path, folder: Path) -> Path:
    """Copy what the wheel is made of, with no trace of builds and runs, and with times of now."""
    folder.mkdir()
    for name in _SOURCE:
        if (origin / name).is_dir():
            shutil.copytree(origin / name, folder / name, ignore=_CACHES, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(origin / name, folder / name)
    return folder


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the exporter's wheel, with the same second for all times."""
    run_pip("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, source)
    (wheel,) = folder.glob("tls_resumption_exporter-*.whl")
    return wheel


def pack_installed(folder: Path) -> Path:
    """Make wheels of all that is pinned, from the files that are installed here."""
    folder.mkdir()
    for name in pins():
        _pack(metadata.distribution(name), folder)
    return folder


def _pack(distribution: metadata.Distribution, folder: Path) -> None:
    tags = [tag.split("-") for tag in re.findall(r"^Tag: (\S+)$", distribution.read_text("WHEEL") or "", re.MULTILINE)]
    compressed = "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))
    name = re.sub(r"[-_.]+", "_", distribution.name)
    with ZipFile(folder / f"{name}-{distribution.version}-{compressed}.whl", "w") as wheel:
        for file in distribution.files or ():
            # Scripts are made anew from entry points; byte code belongs to the interpreter.
            if ".." not in file.parts and file.suffix != ".pyc" and file.name not in _FOREIGN:
                wheel.write(str(distribution.locate_file(file)), str(file))


def run_pip(*words: str | Path) -> None:
    """Run the pip of this interpreter, without an index.

    Raises:
        AssertionError: it failed.
    """
    run([sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", *words], PIP_NO_INDEX="1")


def run(command: list[str | Path], **environment: str) -> str:
    """Run a program that must succeed, within a minute, and return its output.

    Raises:
        AssertionError: it failed.
    """
    settings = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "SOURCE_DATE_EPOCH": _EPOCH, **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=60, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
