"""A locked door as curl sees it, beside that of a real Prometheus with the same file."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from structlog.testing import capture_logs

from exporter.model.target import Address
from exporter.web.door import Door
from exporter.web.load import load_lock
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server, find_program
from tests.web.client import fetch, pages, serving, until
from tests.web.locks import PASSWORD, USERS, Identity, identity, tls, verified, write_lock

OK, HANDSHAKE, EMPTY, RECEIVE = 0, 35, 52, 56  # of curl's exit codes
RIGHT, WRONG, NOBODY = ["-u", f"alice:{PASSWORD}"], ["-u", "alice:wrong"], ["-u", "mallory:wrong"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What curl made of it; the status is 0 where there was no answer."""

    code: int
    status: int = 0
    challenge: str = ""


SHOWN = ["--cert", "client.pem", "--key", "client.key"]
STRANGER = ["--cert", "stranger.pem", "--key", "stranger.key"]
LOCKED = [
    pytest.param("https", [*SHOWN, *RIGHT], Seen(OK, 200), id="certificate and password"),
    pytest.param("https", [*SHOWN], Seen(OK, 401, "Basic"), id="no password"),
    pytest.param("https", [*SHOWN, *WRONG], Seen(OK, 401, "Basic"), id="a wrong password"),
    pytest.param("https", [*SHOWN, *NOBODY], Seen(OK, 401, "Basic"), id="an unknown user"),
    pytest.param("https", [*SHOWN, "-u", "alice:"], Seen(OK, 401, "Basic"), id="an empty password"),
    pytest.param("https", [*SHOWN, "-H", "Authorization: Bearer x"], Seen(OK, 401, "Basic"), id="another scheme"),
    pytest.param("https", [*SHOWN, *RIGHT, "--tls-max", "1.2"], Seen(OK, 200), id="TLS 1.2"),
    pytest.param("https", [*SHOWN, *RIGHT, "-I"], Seen(OK, 200), id="headers only"),
    pytest.param("https", RIGHT, Seen(RECEIVE), id="no certificate, TLS 1.3"),
    pytest.param("https", [*RIGHT, "--tls-max", "1.2"], Seen(HANDSHAKE), id="no certificate, TLS 1.2"),
    pytest.param("https", [*STRANGER, *RIGHT], Seen(RECEIVE), id="a stranger's certificate"),
    pytest.param("http", RIGHT, Seen(OK, 400), id="plain HTTP"),
]
USERS_ALONE = [
    pytest.param("http", RIGHT, Seen(OK, 200), id="right"),
    pytest.param("http", WRONG, Seen(OK, 401, "Basic"), id="wrong"),
    pytest.param("http", [], Seen(OK, 401, "Basic"), id="none"),
    pytest.param("https", RIGHT, Seen(HANDSHAKE), id="TLS where there is none"),
]


def command(scheme: str, address: Address, words: Sequence[str], authority: Authority) -> list[str]:
    """Return the words of a curl that prints status and challenge."""
    told = ["-s", "-S", "-m", "10", "-o", "/dev/null", "-w", "%{http_code} %header{www-authenticate}"]
    url = f"{scheme}://{address}/-/healthy"
    return [find_program("curl"), *told, "--cacert", str(authority.file), *words, url]


def seen(code: int, printed: bytes) -> Seen:
    """Return what curl printed as what it saw."""
    status, _, challenge = printed.decode().partition(" ")
    return Seen(code, int(status), challenge)


def seen_of_go(code: int, printed: bytes) -> Seen:
    """Return the same of a server in Go, which may close before curl has read why, so that sending fails instead."""
    return seen(RECEIVE if code in {16, 55} else code, printed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the clients' certificates."""
    folder = tmp_path_factory.mktemp("clients")
    for name in ("client", "stranger"):
        identity(folder, name)
    return folder


@pytest.fixture(scope="module")
def locked(folder: Path, leaf: Leaf) -> Path:
    """A file with all locks."""
    client = Identity(folder / "client.pem", folder / "client.key")
    return write_lock(folder, tls(leaf, verified(client)), USERS)


@pytest.fixture(scope="module")
def users_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with passwords, and no TLS."""
    return write_lock(tmp_path_factory.mktemp("users"), USERS)


def prometheus(folder: Path, lock: Path, ports: Ports) -> Iterator[Address]:
    """Run a Prometheus that scrapes nothing, behind this lock."""
    address = Address("127.0.0.1", ports.claim())
    (folder / "prometheus.yml").write_text("global: {}\n")
    words = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", f"--web.listen-address={address}"]
    with Server(address, [find_program("prometheus"), *words, f"--web.config.file={lock}"], folder):
        yield address


@pytest.fixture(scope="module")
def locked_prometheus(tmp_path_factory: pytest.TempPathFactory, locked: Path, ports: Ports) -> Iterator[Address]:
    """A Prometheus behind all locks."""
    yield from prometheus(tmp_path_factory.mktemp("locked"), locked, ports)


@pytest.fixture(scope="module")
def users_prometheus(tmp_path_factory: pytest.TempPathFactory, users_alone: Path, ports: Ports) -> Iterator[Address]:
    """A Prometheus behind passwords."""
    yield from prometheus(tmp_path_factory.mktemp("users"), users_alone, ports)


@asynccontextmanager
async def behind(lock: Path) -> AsyncIterator[Address]:
    """Serve our pages behind the lock of a file."""
    door = Door(("127.0.0.1:0",), lock=await asyncio.to_thread(load_lock, lock), lock_file=lock)
    async with serving(pages(), door=door) as address:
        yield address


async def curl(words: Sequence[str], folder: Path) -> Seen:
    """Run curl beside the server, and return what it saw."""
    process = await asyncio.create_subprocess_exec(*words, cwd=folder, stdout=subprocess.PIPE)
    printed, _ = await process.communicate()
    return seen(process.returncode or 0, printed)


@pytest.mark.servers("curl")
@pytest.mark.parametrize(("scheme", "words", "expected"), LOCKED)
async def test_all_locks(
    folder: Path, locked: Path, authority: Authority, scheme: str, words: list[str], expected: Seen
) -> None:
    """Whoever has certificate and password comes in, and the others are told what is missing."""
    async with behind(locked) as address:
        assert await curl(command(scheme, address, words, authority), folder) == expected


@pytest.mark.servers("curl", "prometheus")
@pytest.mark.parametrize(("scheme", "words", "expected"), LOCKED)
def test_all_locks_of_prometheus(
    folder: Path, locked_prometheus: Address, authority: Authority, scheme: str, words: list[str], expected: Seen
) -> None:
    """A real Prometheus behind the same file looks the same to curl."""
    process = subprocess.run(
        command(scheme, locked_prometheus, words, authority), cwd=folder, capture_output=True, check=False, timeout=20
    )
    assert seen_of_go(process.returncode, process.stdout) == expected, process.stderr


@pytest.mark.servers("curl")
@pytest.mark.parametrize(("scheme", "words", "expected"), USERS_ALONE)
async def test_passwords_alone(
    folder: Path, users_alone: Path, authority: Authority, scheme: str, words: list[str], expected: Seen
) -> None:
    """Passwords are asked for over plain HTTP too, where that is what was meant."""
    async with behind(users_alone) as address:
        assert await curl(command(scheme, address, words, authority), folder) == expected


@pytest.mark.servers("curl", "prometheus")
@pytest.mark.parametrize(("scheme", "words", "expected"), USERS_ALONE)
def test_passwords_of_prometheus(
    folder: Path, users_prometheus: Address, authority: Authority, scheme: str, words: list[str], expected: Seen
) -> None:
    """A real Prometheus behind the same file looks the same to curl."""
    process = subprocess.run(
        command(scheme, users_prometheus, words, authority), cwd=folder, capture_output=True, check=False, timeout=20
    )
    assert seen_of_go(process.returncode, process.stdout) == expected, process.stderr


@pytest.mark.servers("curl")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("client.test", Seen(OK, 200), id="DNS name"),
        pytest.param("client@site.test", Seen(OK, 200), id="e-mail"),
        pytest.param("spiffe://site.test/client", Seen(OK, 200), id="URI"),
        pytest.param("2001:db8::1", Seen(OK, 200), id="address"),
        pytest.param("client", Seen(EMPTY), id="the subject's name is none of these"),
        pytest.param("CLIENT.TEST", Seen(EMPTY), id="other letters"),
    ],
)
async def test_names_of_clients(
    folder: Path, tmp_path: Path, leaf: Leaf, authority: Authority, name: str, expected: Seen
) -> None:
    """Of the clients whose certificates verify, those with one of the names come in."""
    client = Identity(folder / "client.pem", folder / "client.key")
    lock = write_lock(tmp_path, tls(leaf, verified(client), f'client_allowed_sans: ["other.test", "{name}"]'))
    async with behind(lock) as address:
        assert await curl(command("https", address, SHOWN, authority), folder) == expected


@pytest.mark.servers("curl")
@pytest.mark.parametrize(
    ("setting", "words", "expected"),
    [
        pytest.param("min_version: TLS13", ["--tls-max", "1.2"], Seen(HANDSHAKE), id="too old"),
        pytest.param("max_version: TLS12", ["--tlsv1.3"], Seen(HANDSHAKE), id="too new"),
        pytest.param("curve_preferences: [CurveP384]", ["--curves", "X25519"], Seen(HANDSHAKE), id="another curve"),
        pytest.param("curve_preferences: [X25519]", ["--curves", "X25519"], Seen(OK, 200), id="the curve"),
        pytest.param(
            "cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]",
            ["--tls-max", "1.2", "--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256"],
            Seen(HANDSHAKE),
            id="another suite",
        ),
        pytest.param(
            "cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]",
            ["--tls-max", "1.2", "--ciphers", "ECDHE-ECDSA-AES256-GCM-SHA384"],
            Seen(OK, 200),
            id="the suite",
        ),
    ],
)
async def test_settings_of_tls(
    folder: Path, tmp_path: Path, leaf: Leaf, authority: Authority, setting: str, words: list[str], expected: Seen
) -> None:
    """Versions, curves and cipher suites are held to."""
    async with behind(write_lock(tmp_path, tls(leaf, setting))) as address:
        assert await curl(command("https", address, words, authority), folder) == expected


@pytest.mark.servers("curl")
async def test_limit_and_headers(folder: Path, tmp_path: Path, authority: Authority) -> None:
    """The limit of requests comes before the password, and each answer has the headers."""
    headers = "http_server_config: {headers: {X-Frame-Options: deny}}"
    async with behind(write_lock(tmp_path, "rate_limit: {interval: 1h, burst: 2}", headers, USERS)) as address:
        answers = [await fetch(address, "/metrics") for _ in range(3)]
        statuses = [(await curl(command("http", address, RIGHT, authority), folder)).status]

    assert [each.status for each in answers] + statuses == [401, 401, 429, 429]
    assert {each.headers["x-frame-options"] for each in answers} == {"deny"}


async def test_a_refusal_tells_nothing(users_alone: Path) -> None:
    """Every page asks for the password, those that do not exist as well."""
    async with behind(users_alone) as address:
        answers = [await fetch(address, path) for path in ("/metrics", "/-/healthy", "/nowhere", "/")]

    assert {(each.status, each.body) for each in answers} == {(401, b"401 Unauthorized\n")}


@pytest.mark.servers("curl")
async def test_a_renewed_certificate(
    folder: Path, tmp_path: Path, leaf: Leaf, rsa_leaf: Leaf, authority: Authority
) -> None:
    """A certificate that is replaced on disk is shown soon, and half of a pair never is."""
    for source, target in ((leaf.certificate_file, "site.pem"), (leaf.key_file, "site.key")):
        (tmp_path / target).write_bytes(source.read_bytes())
    lock = write_lock(tmp_path, "tls_server_config: {cert_file: site.pem, key_file: site.key}")
    async with behind(lock) as address:
        assert await shown(address) == "ecdsa"
        with capture_logs() as lines:
            await asyncio.to_thread(replace, tmp_path / "site.pem", rsa_leaf.certificate_file)
            await until(lambda: bool(lines))
            assert await shown(address) == "ecdsa"
            await asyncio.to_thread(replace, tmp_path / "site.key", rsa_leaf.key_file)
            await until(lambda: len(lines) > 1)
            assert await shown(address) == "rsa"
        assert (await curl(command("https", address, [], authority), folder)).status == 200

    assert [line["log_level"] for line in lines] == ["error", "info"]
    assert "no pair" in lines[0]["problem"]


def replace(file: Path, source: Path) -> None:
    """Put a file in another's place, as those do who renew certificates."""
    fresh = file.with_suffix(".new")
    fresh.write_bytes(source.read_bytes())
    fresh.rename(file)


async def shown(address: Address) -> str:
    """Return the kind of key in the certificate that is shown."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection(address.host, address.port, ssl=context)
    der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    key = x509.load_der_x509_certificate(der).public_key()
    return "rsa" if isinstance(key, rsa.RSAPublicKey) else "ecdsa"


@pytest.mark.servers("curl")
async def test_a_user_who_is_taken_off(folder: Path, tmp_path: Path, authority: Authority) -> None:
    """A password that was remembered is worth nothing once the file no longer has it."""
    lock = write_lock(tmp_path, USERS)
    async with behind(lock) as address:
        assert (await curl(command("http", address, RIGHT, authority), folder)).status == 200
        with capture_logs() as lines:
            await asyncio.to_thread(write_lock, tmp_path, USERS.replace("alice", "bob"))
            await until(lambda: bool(lines))
        assert (await curl(command("http", address, RIGHT, authority), folder)).status == 401
