"""The dialogues, spoken with real servers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, StartTls, Target, TlsVersion
from tests.servers import exim, mariadb
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.visit import trust
from tests.starttls.opening import opened, target_at, visit
from tests.starttls.rows import EXIM_INSTALLABLE, ROWS, Row, params

HOST = "127.0.0.2"
NO_WORDS = {
    StartTls.SMTP: Failure(Stage.STARTTLS, Reason.NOT_OFFERED),
    StartTls.IMAP: Failure(Stage.STARTTLS, Reason.NOT_OFFERED),
    StartTls.POP3: Failure(Stage.STARTTLS, Reason.NOT_OFFERED),
    StartTls.FTP: Failure(Stage.STARTTLS, Reason.REJECTED, "reply 530 instead of 234"),
    StartTls.LDAP: Failure(Stage.STARTTLS, Reason.NOT_OFFERED, "result 2"),
    StartTls.POSTGRESQL: Failure(Stage.STARTTLS, Reason.NOT_OFFERED),
    StartTls.MYSQL: Failure(Stage.STARTTLS, Reason.NOT_OFFERED),
}
FIRST_OF_EACH = tuple({row.starttls: row for row in reversed(ROWS)}.values())


@pytest.fixture(scope="module", params=params(ROWS))
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, ports: Ports, rsa_leaf: Leaf
) -> Iterator[tuple[Row, Target, Address]]:
    """Run one of the servers, for all tests that want it."""
    row: Row = request.param
    address = Address(HOST, ports.claim())
    with row.start(tmp_path_factory.mktemp("server"), address, row.settings(leaf=rsa_leaf)):
        yield row, replace(target_at(address), starttls=row.starttls), address


@pytest.mark.parametrize("version", TlsVersion)
def test_handshakes(served: tuple[Row, Target, Address], version: TlsVersion, authority: Authority) -> None:
    """Behind the dialogue each server shakes hands, and resumes as it would without one."""
    row, target, address = served
    context = trust(authority.file, version)
    first = visit(target, address, context)
    second = visit(target, address, context, first.session)

    assert (f"TLSv{version}", False, row.resumes) == (first.version, first.resumed, second.resumed)


@pytest.mark.parametrize("row", params(FIRST_OF_EACH))
def test_not_offered(row: Row, tmp_path: Path, ports: Ports, rsa_leaf: Leaf) -> None:
    """A server that has no TLS says so, each in its own way."""
    address = Address(HOST, ports.claim())
    target = replace(target_at(address), starttls=row.starttls)
    with (
        row.start(tmp_path / "server", address, row.settings(leaf=rsa_leaf, tls=False)),
        opened(target, address) as (_, step),
    ):
        assert NO_WORDS[row.starttls] == step.failure


@pytest.mark.servers("exim4")
@EXIM_INSTALLABLE
def test_unwelcome(tmp_path: Path, ports: Ports, leaf: Leaf) -> None:
    """A mail server that turns clients away in its greeting is told by the code."""
    address = Address(HOST, ports.claim())
    target = replace(target_at(address), starttls=StartTls.SMTP)
    with (
        exim.start(tmp_path / "server", address, exim.Settings(leaf=leaf, greeting="deny")),
        opened(target, address) as (_, step),
    ):
        assert Failure(Stage.STARTTLS, Reason.REJECTED, "reply 550 instead of 220") == step.failure


@pytest.mark.servers("mariadbd")
@pytest.mark.parametrize(
    ("polite", "expected"),
    [
        pytest.param(True, None, id="with the farewell"),
        pytest.param(False, Failure(Stage.STARTTLS, Reason.REJECTED, "error 1129"), id="without"),
    ],
)
def test_mariadb_locks_nobody_out(
    polite: bool, expected: Failure | None, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """Leaving without a login counts as a connection error, and after some of them our host is locked out."""
    address, source = Address(HOST, ports.claim()), "127.0.0.3"  # 127.0.0.1 is never locked out
    target = replace(target_at(address), starttls=StartTls.MYSQL)
    settings = mariadb.Settings(leaf=leaf, accounts=True, options=("--max-connect-errors=2",))
    with mariadb.start(tmp_path / "server", address, settings):
        for version in TlsVersion:
            visit(target, address, trust(authority.file, version), source=source, polite=polite)
        with opened(target, address, source) as (_, step):
            assert expected == step.failure
