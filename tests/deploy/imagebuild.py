"""Carries out a Dockerfile's steps in a root file system of Debian's, with overlays for layers: no engine is needed.

The root stands for the base image. It has the same Debian release and the same minor version of Python, from Debian's
packages, and is kept between runs, since making it takes minutes. All this needs root's rights on a Linux machine.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.deploy.dockerfile import Instruction, Stage, UnknownInstructionError, defaults, fill

RELEASE = "trixie"
PYTHON = "3.13"
PACKAGES = ("ca-certificates", f"python{PYTHON}", "python3-pip")
_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tlsprobe-tests"
BASE = _CACHE / f"{RELEASE}-root"
WHEELS = _CACHE / "wheels"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SECONDS = 900
_IGNORED = shutil.ignore_patterns("__pycache__")  # as .dockerignore says


def make_base(mirror: str | None) -> Path:
    """Return the base root, made with debootstrap where it is not there yet; half a root is never taken for one.

    Args:
        mirror: of Debian's packages, None for debootstrap's own choice.
    """
    if BASE.exists():
        return BASE
    _CACHE.mkdir(parents=True, exist_ok=True)
    half = BASE.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", RELEASE, str(half)]
    command += [] if mirror is None else [mirror]
    subprocess.run(command, check=True, timeout=_SECONDS, stdout=subprocess.DEVNULL)
    for name, program in (("python", f"python{PYTHON}"), ("pip", "pip3")):  # as the base image calls them
        (half / "usr/local/bin" / name).symlink_to(f"/usr/bin/{program}")
    return half.rename(BASE)


def fetch_wheels(locks: Sequence[Path]) -> Path:
    """Return a folder with the wheels that the locks name, for the base's Python."""
    platforms = [f"--platform=manylinux_{glibc}_{platform.machine()}" for glibc in ("2_34", "2_28", "2_17")]
    for lock in locks:
        words = ["download", "--quiet", "--no-deps", "--require-hashes", f"--requirement={lock}", f"--dest={WHEELS}"]
        wanted = ["--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp", *platforms]
        subprocess.run([sys.executable, "-m", "pip", *words, *wanted], check=True, timeout=_SECONDS)
    return WHEELS


@dataclass(slots=True)
class Built:
    """A stage that was carried out.

    Attributes:
        layer: what it put on top of the base.
        environment: of whatever runs in it.
        user: `UID:GID`, empty for root.
    """

    layer: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    variables: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = ""


def build(
    stages: Sequence[Stage], context: Path, folder: Path, base: Path, wheels: Path, arguments: Mapping[str, str]
) -> Built:
    """Carry out the stages, and return the last one.

    Args:
        context: what `COPY` takes from.
        folder: empty, for the layers.
        wheels: where pip finds packages; the steps run without a network.
        arguments: win over what `ARG` says.
    """
    done: dict[str, Built] = {}
    for number, stage in enumerate(stages):
        built = Built(folder / str(number) / "layer")
        built.layer.mkdir(parents=True)
        for instruction in stage.instructions:
            if instruction.word == "ARG":
                built.variables |= {name: arguments.get(name, value) for name, value in defaults(instruction).items()}
            else:
                _carry_out(instruction, built, context, done, base, wheels)
        done[stage.name] = built
    return built


def _carry_out(
    instruction: Instruction, built: Built, context: Path, done: Mapping[str, Built], base: Path, wheels: Path
) -> None:
    match instruction.word:
        case "ENV":
            pairs = (word.partition("=") for word in instruction.words)
            built.environment |= {name: fill(value, built.environment) for name, _, value in pairs}
        case "WORKDIR":
            built.folder = instruction.text
            (built.layer / built.folder[1:]).mkdir(parents=True, exist_ok=True)
        case "COPY":
            source = done[instruction.options["from"]].layer if "from" in instruction.options else context
            _copy(instruction, source, built)
        case "RUN":
            _run(instruction.text, built, base, wheels)
        case "USER":
            built.user = instruction.text
        case "LABEL" | "EXPOSE" | "HEALTHCHECK" | "ENTRYPOINT" | "CMD":
            pass  # these say how an engine is to treat the image
        case word:
            raise UnknownInstructionError(word)


def _copy(instruction: Instruction, source: Path, built: Built) -> None:
    """Copy files, and what is in folders, as Docker does, with root or whoever is named as their owner."""
    *names, where = instruction.words
    into_folder = where.endswith("/") or len(names) > 1
    target = built.layer / str(Path(built.folder) / where)[1:]
    (target if into_folder else target.parent).mkdir(parents=True, exist_ok=True)
    before = set(target.rglob("*"))
    for name in names:
        found = source / name.lstrip("/")
        if found.is_dir():
            shutil.copytree(
                found, target, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy2(found, target / found.name if into_folder else target)
    if owner := instruction.options.get("chown"):
        user, group = map(int, owner.split(":"))
        for path in set(target.rglob("*")) - before:
            os.chown(path, user, group, follow_symlinks=False)


def _run(text: str, built: Built, base: Path, wheels: Path) -> None:
    """Run a shell command in the stage's root, in mount and network namespaces of its own."""
    root = built.layer.with_name("root")
    work = built.layer.with_name("work")
    for each in (root, work):
        each.mkdir(exist_ok=True)
    environment = {**built.variables, **built.environment, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/mnt"}
    words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), "sh", "-c", text]
    script = f"""set -e
        mount -t overlay -o lowerdir={shlex.quote(str(base))},upperdir={built.layer},workdir={work} overlay {root}
        mount --bind {shlex.quote(str(wheels))} {root}/mnt
        mount -t proc proc {root}/proc
        exec chroot {root} sh -c 'cd "$0" && exec "$@"' {built.folder} {shlex.join(words)}"""
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if found.returncode:
        raise RuntimeError(f"{text}\nended with {found.returncode}:\n{found.stdout}{found.stderr}")
