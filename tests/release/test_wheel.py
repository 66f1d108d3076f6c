"""The wheel: what is in it, and that it works where nothing else is."""

import hashlib
import json
import subprocess
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from exporter import __version__
from tests.daemon import Daemon
from tests.release.conftest import Release
from tests.release.sealed import SEALED, can_seal
from tests.release.wheels import build_wheel, copy_source, pins, run
from tests.servers import s_server
from tests.servers.certificates import Authority, Leaf
from tests.servers.fleet import addresses
from tests.servers.ports import Ports

BUILD_FACTS = ["commit", "openssl", "platform", "python"]


def test_files(release: Release) -> None:
    """The wheel has each file of the package, the licence, and nothing else but its own metadata."""
    package = {
        str(file.relative_to(release.source)) for file in (release.source / "exporter").rglob("*") if file.is_file()
    }
    metadata = f"tls_resumption_exporter-{__version__}.dist-info"
    own = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt"}

    assert package | {f"{metadata}/{name}" for name in own} == set(ZipFile(release.wheel).namelist())


def test_metadata(release: Release) -> None:
    """The wheel says its version, its licence and that it is for Python 3.11 and newer."""
    text = ZipFile(release.wheel).read(f"tls_resumption_exporter-{__version__}.dist-info/METADATA").decode()
    fields = HeaderParser().parsestr(text)

    assert [__version__, "Apache-2.0", ">=3.11"] == [
        fields[name] for name in ("Version", "License-Expression", "Requires-Python")
    ]


def test_built_again(release: Release, tmp_path: Path) -> None:
    """A second build of the same files, written at another time, has the same bytes."""
    again = build_wheel(copy_source(release.source, tmp_path / "tree"), tmp_path)

    assert hashlib.sha256(release.wheel.read_bytes()).digest() == hashlib.sha256(again.read_bytes()).digest()


def test_pins(release: Release) -> None:
    """The wheel needs what is pinned, all of it and nothing else."""
    script = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    found = json.loads(run([release.venv / "bin" / "python", "-I", "-c", script]))

    assert {**pins(), "tls-resumption-exporter": __version__} == found


def test_version(release: Release) -> None:
    """The first line is for scripts, and the others name what it stands on."""
    first, *others = run([release.tlsprobe, "--version"]).splitlines()

    assert f"tlsprobe {__version__}" == first
    assert BUILD_FACTS == sorted(line.split()[0] for line in others)


def test_check(release: Release, tmp_path: Path) -> None:
    """A configuration is checked without anything of the checkout."""
    config = tmp_path / "config.yaml"
    config.write_text("targets: [{name: shop, address: 'shop.example.com:443'}]\n")

    assert run([release.tlsprobe, "check", config])


@pytest.mark.servers("openssl")
def test_probe(release: Release, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """A server that resumes is found to be healthy."""
    (address,) = addresses(ports.claim(), 1)
    server = s_server.start(tmp_path, address, s_server.Settings(leaf=leaf))
    try:
        words = ["--server-name", "site.test", "--ca-file", str(authority.file), "--json"]
        told = run([release.tlsprobe, "probe", str(address), *words])
    finally:
        server.stop()

    assert {"consistent"} == {each["state"] for each in json.loads(told)["versions"]}


def test_run_as_nobody_where_nothing_can_be_written(release: Release, tmp_path: Path, ports: Ports) -> None:
    """The daemon probes its reference and ends well as an ordinary user on file systems that are all read-only."""
    if not can_seal():
        pytest.skip("this machine allows no user and mount namespaces (unshare)")
    touched = subprocess.run([*SEALED, "touch", tmp_path / "written"], capture_output=True, timeout=20, check=False)
    who = run([*SEALED, "id", "-u"])
    port = ports.claim()
    command: list[str | Path] = [*SEALED, release.tlsprobe, "run", "--web.listen-address", f"127.0.0.1:{port}"]
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, cwd="/", env={"PATH": "/usr/bin:/bin"})
    daemon = Daemon(process, port, log)
    try:
        daemon.wait_until(lambda: _reference_ok(daemon), "verdict on the reference", 30)
        daemon.end()
    finally:
        process.kill()
        process.wait(10)

    assert (1, "65534\n", 0) == (touched.returncode, who, process.returncode)


def _reference_ok(daemon: Daemon) -> bool:
    try:
        return daemon.value("tlsprobe_reference_ok") == 1
    except OSError:
        return False  # it does not listen yet
