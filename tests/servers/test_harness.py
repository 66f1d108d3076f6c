"""What the servers stand on: ports, programs, certificates and keys."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from exporter.model.target import Address, TlsVersion
from tests.servers import nginx
from tests.servers.certificates import Authority, Leaf, issue_self_signed
from tests.servers.ports import LOOPBACK_HOSTS, Ports
from tests.servers.process import MissingProgramError, Server, ServerError, find_program
from tests.servers.ticket_keys import KeySize, ticket_key, write_ticket_key
from tests.servers.visit import trust, visit


def test_a_claimed_port_is_nobody_elses() -> None:
    """Two sources that look in the same place never give out the same port, until it is given back."""
    first, second, third = Ports(start=20000), Ports(start=20000), Ports(start=20000)
    port = first.claim()
    other = second.claim()
    first.close()

    assert [True, True] == [port != other, port == third.claim()]
    second.close()
    third.close()


@pytest.mark.parametrize("host", [host for host in LOOPBACK_HOSTS if ":" not in host])
def test_a_port_in_use_is_passed_over(host: str) -> None:
    """A port that somebody listens on, at any loopback address, is not free."""
    source = Ports(start=25000)
    port = source.claim()
    source.close()
    with socket.create_server((host, port)):
        again = Ports(start=25000)

        assert port != again.claim()
        again.close()


def test_a_missing_program() -> None:
    """A program that is not installed is told by its name."""
    with pytest.raises(MissingProgramError, match="no-such-server is not installed"):
        find_program("no-such-server")


def test_a_server_that_never_listens(tmp_path: Path, ports: Ports) -> None:
    """A program that ends without ever listening fails at once, with what it said."""
    command = (sys.executable, "-c", "raise SystemExit('no port for me')")
    with pytest.raises(ServerError, match=r"ended with 1 before connection.*\n.*no port for me"):
        Server(Address("127.0.0.2", ports.claim()), command, tmp_path)


@pytest.mark.parametrize(
    ("required", "outcome"),
    [
        pytest.param("0", "1 skipped", id="skipped by a developer who lacks it"),
        pytest.param("1", "1 error", id="an error where all must be there"),
    ],
)
def test_the_marker(required: str, outcome: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A test that needs a missing server is skipped, unless the environment says that none may be missing."""
    (tmp_path / "test_it.py").write_text(
        'import pytest\n@pytest.mark.servers("no-such-server")\ndef test_it(): raise SystemExit\n'
    )
    root = request.config.rootpath
    run = subprocess.run(
        (sys.executable, "-m", "pytest", "-n0", "-p", "tests.conftest", "-c", root / "pyproject.toml", tmp_path),
        cwd=root,
        env={**os.environ, "TLSPROBE_REQUIRE_SERVERS": required},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert outcome in run.stdout
    assert "no-such-server is not installed" in run.stdout


@pytest.mark.servers("nginx")
def test_no_server_outlives_a_killed_run(tmp_path: Path, ports: Ports, leaf: Leaf) -> None:
    """A test run that is killed takes its servers along, workers too."""
    address = Address("127.0.0.2", ports.claim())
    script = (
        "import sys; from pathlib import Path; from exporter.model.target import Address;"
        "from tests.servers import nginx; from tests.servers.certificates import Leaf;"
        "leaf = Leaf(*map(Path, sys.argv[3:6]));"
        "server = nginx.start(Path(sys.argv[1]), Address('127.0.0.2', int(sys.argv[2])), nginx.Settings(leaf=leaf));"
        "print('up', flush=True); sys.stdin.read()"
    )
    files = (str(leaf.certificate_file), str(leaf.key_file), str(leaf.combined_file))
    arguments = (sys.executable, "-c", script, str(tmp_path), str(address.port), *files)
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert "up\n" == run.stdout.readline()
        run.send_signal(signal.SIGKILL)
        run.wait()
        deadline = time.monotonic() + 10
        while listening(address):
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(
    ("starts", "ends", "reason"),
    [
        pytest.param(timedelta(days=-2), timedelta(days=-1), "expired", id="expired"),
        pytest.param(timedelta(days=1), timedelta(days=2), "not yet valid", id="not yet valid"),
    ],
)
def test_certificates_out_of_their_time(
    starts: timedelta, ends: timedelta, reason: str, tmp_path: Path, ports: Ports, authority: Authority
) -> None:
    """A certificate that ended, or has not begun, is refused for this reason."""
    leaf = authority.issue("untimely", now=datetime.now(UTC), starts=starts, ends=ends)
    with pytest.raises(ssl.SSLCertVerificationError, match=reason):
        visit_nginx(tmp_path, ports, leaf, authority)


@pytest.mark.servers("nginx")
def test_certificate_of_another_name(tmp_path: Path, ports: Ports, authority: Authority) -> None:
    """A certificate for other names is refused for this reason."""
    leaf = authority.issue("other", now=datetime.now(UTC), names=["other.test"])
    with pytest.raises(ssl.SSLCertVerificationError, match=r"site\.test"):
        visit_nginx(tmp_path, ports, leaf, authority)


@pytest.mark.servers("nginx")
def test_self_signed_certificate(tmp_path: Path, ports: Ports, authority: Authority) -> None:
    """A certificate that only itself vouches for is refused for this reason."""
    leaf = issue_self_signed(tmp_path, "alone", now=datetime.now(UTC))
    with pytest.raises(ssl.SSLCertVerificationError, match="self-signed"):
        visit_nginx(tmp_path, ports, leaf, authority)


def test_certificate_with_many_names(authority: Authority) -> None:
    """A certificate may have so many names that its message is large."""
    names = ["site.test", *(f"name-{number}.of-a-large-certificate.site.test" for number in range(1500))]
    leaf = authority.issue("many", now=datetime.now(UTC), names=names)
    certificate = x509.load_pem_x509_certificate(leaf.certificate_file.read_bytes())
    alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    assert names == alternatives.get_values_for_type(x509.DNSName)


@pytest.mark.parametrize("size", [48, 80])
def test_ticket_keys(size: KeySize, tmp_path: Path) -> None:
    """A label always gives the same key, of the size that was asked for, and no other label does."""
    file = write_ticket_key(tmp_path, "one", size)

    assert ticket_key("one", size) == file.read_bytes()
    assert size == len(file.read_bytes())
    assert ticket_key("other", size) != file.read_bytes()


def listening(address: Address) -> bool:
    """Tell whether anybody accepts connections there."""
    with socket.socket() as client:
        return client.connect_ex((address.host, address.port)) == 0


def visit_nginx(folder: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Start an nginx with this certificate and visit it."""
    with nginx.start(folder / "nginx", Address("127.0.0.2", ports.claim()), nginx.Settings(leaf=leaf)) as server:
        visit(server.address, trust(authority.file, TlsVersion.TLS13))
