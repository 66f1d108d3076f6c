"""Web configuration files, good and bad, beside what Prometheus's own tool says of them."""

import ssl
import subprocess
from pathlib import Path

import pytest

from exporter.config.problem import ConfigError
from exporter.web.load import load_lock
from exporter.web.lock import RateLimit
from tests.servers.certificates import Leaf
from tests.servers.process import find_program
from tests.web.locks import HASH, USERS, identity, tls, write_lock

CERT = "cert_file: ecdsa.pem, key_file: ecdsa.key"
BOTH, GO_ONLY, NEITHER = (True, True), (False, True), (False, False)  # what we say, and what Prometheus says
FILES = [
    pytest.param("{}", BOTH, "", id="no lock"),
    pytest.param(f"tls_server_config: {{{CERT}}}", BOTH, "", id="TLS"),
    pytest.param(USERS, BOTH, "", id="users"),
    pytest.param("http_server_config: {http2: false}", BOTH, "", id="no HTTP/2"),
    pytest.param("http_server_config: {headers: {X-Frame-Options: deny}}", BOTH, "", id="a header"),
    pytest.param("http_server_config: {headers: {X-XSS-Protection: 0}}", BOTH, "", id="a header that is a number"),
    pytest.param(
        f"tls_server_config: {{{CERT}, cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]}}", BOTH, "", id="suite"
    ),
    pytest.param(f"tls_server_config: {{{CERT}, curve_preferences: [X25519]}}", BOTH, "", id="a curve"),
    pytest.param(
        "http_server_config: {headers: {X-Frame-Options: allow}}",
        NEITHER,
        ':1: http_server_config.headers.X-Frame-Options: found "allow"; allowed: deny or sameorigin',
        id="a header's value",
    ),
    pytest.param(
        "http_server_config: {headers: {Server: me}}",
        NEITHER,
        ":1: http_server_config.headers.Server: a header that cannot be set; allowed: Content-Security-Policy, "
        "Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options, X-XSS-Protection",
        id="another header",
    ),
    pytest.param(
        "tls_server_confg: {}",
        NEITHER,
        ":1: tls_server_confg: unknown field, did you mean tls_server_config?; allowed: tls_server_config, "
        "http_server_config, basic_auth_users, rate_limit",
        id="an unknown field",
    ),
    pytest.param(
        "basic_auth_users: {alice: secret}",
        NEITHER,
        ":1: basic_auth_users.alice: no bcrypt hash; allowed: what `htpasswd -nBC 10 USER` prints after the colon",
        id="a password in clear, which is not shown",
    ),
    pytest.param(
        "tls_server_config: {cert_file: ecdsa.pem}",
        NEITHER,
        ":1: tls_server_config.key_file: missing; allowed: key or key_file, beside other settings of TLS",
        id="no key",
    ),
    pytest.param(
        "tls_server_config: {cert_file: rsa.pem, key_file: ecdsa.key}",
        NEITHER,
        ":1: tls_server_config.cert_file: no pair; allowed: a PEM certificate chain and its private key",
        id="another's key",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, client_auth_type: Nonsense}}",
        NEITHER,
        ':1: tls_server_config.client_auth_type: found "Nonsense"; allowed: NoClientCert, VerifyClientCertIfGiven, '
        "RequireAndVerifyClientCert",
        id="no such client_auth_type",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, client_ca_file: ecdsa.pem}}",
        NEITHER,
        ":1: tls_server_config.client_auth_type: there is a client CA, and no client is asked; "
        "allowed: RequireAndVerifyClientCert",
        id="a client CA for nobody",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, curve_preferences: [Curve448]}}",
        NEITHER,
        ':1: tls_server_config.curve_preferences: "Curve448" is no known curve; '
        "allowed: CurveP256, CurveP384, CurveP521, X25519",
        id="no such curve",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, cipher_suites: [RC4]}}",
        NEITHER,
        ':1: tls_server_config.cipher_suites[0]: "RC4" is no cipher suite that Go calls secure; '
        "allowed: such as TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        id="no such suite",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, client_auth_type: RequireAnyClientCert}}",
        GO_ONLY,
        ':1: tls_server_config.client_auth_type: found "RequireAnyClientCert"; allowed: NoClientCert, '
        "VerifyClientCertIfGiven, RequireAndVerifyClientCert",
        id="any client certificate, which Python's ssl cannot do",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, client_auth_type: RequireAndVerifyClientCert}}",
        GO_ONLY,
        ":1: tls_server_config.client_auth_type: there is no client CA to verify with; "
        "allowed: client_ca_file beside it",
        id="any public authority's clients",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, curve_preferences: [X25519, CurveP256]}}",
        GO_ONLY,
        ":1: tls_server_config.curve_preferences: 2 curves; "
        "allowed: one, or leave it out: Python's ssl module takes no list of them",
        id="two curves",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, min_version: TLS10}}",
        GO_ONLY,
        ':1: tls_server_config.min_version: found "TLS10"; allowed: TLS12, TLS13',
        id="an old version",
    ),
    pytest.param(
        f"tls_server_config: {{{CERT}, cipher_suites: [TLS_AES_128_GCM_SHA256]}}",
        GO_ONLY,
        ":1: tls_server_config.cipher_suites: none of these is for TLS 1.2; allowed: one more, or min_version: TLS13",
        id="no suite for TLS 1.2",
    ),
    pytest.param("", GO_ONLY, ": nothing but space and comments; allowed: a mapping, `{}` for no lock", id="empty"),
]


@pytest.fixture
def folder(tmp_path: Path, leaf: Leaf, rsa_leaf: Leaf) -> Path:
    """A folder with the certificates that files name."""
    for each in (leaf, rsa_leaf):
        for file in (each.certificate_file, each.key_file):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


@pytest.mark.parametrize(("text", "verdicts", "problem"), FILES)
def test_files(folder: Path, text: str, verdicts: tuple[bool, bool], problem: str) -> None:
    """A file is good, or what is wrong with it is told by its place, what was found and what is allowed."""
    file = write_lock(folder, text)
    if verdicts[0]:
        load_lock(file)
        return
    with pytest.raises(ConfigError) as caught:
        load_lock(file)

    assert str(caught.value) == f"{file}{problem}"


@pytest.mark.servers("promtool")
@pytest.mark.parametrize(("text", "verdicts", "problem"), FILES)
def test_what_promtool_says(folder: Path, text: str, verdicts: tuple[bool, bool], problem: str) -> None:
    """No file is taken that Prometheus refuses, and it is written down which ones only we refuse."""
    words = [find_program("promtool"), "check", "web-config", str(write_lock(folder, text))]
    checked = subprocess.run(words, capture_output=True, check=False, timeout=20)

    assert (checked.returncode == 0) is verdicts[1], (checked.stdout + checked.stderr, problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "basic_auth_users: {alice: $2y$18$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi}",
            "basic_auth_users.alice: a bcrypt hash of cost 18; allowed: a cost from 4 to 15",
            id="a hash that takes half a minute",
        ),
        pytest.param(
            "rate_limit: {interval: 1s}",
            "rate_limit.burst: 0 lets no request through; allowed: 1 or more",
            id="a limit of nothing",
        ),
        pytest.param(
            "rate_limit: {interval: 5, burst: 1}",
            "rate_limit.interval: found 5; allowed: a duration with its unit such as 250ms, 1s or 1m30s, or 0 for no "
            "limit",
            id="five what",
        ),
        pytest.param(
            "rate_limit: {interval: 1 s, burst: 1}",
            'rate_limit.interval: "1 s" is no duration; allowed: one with its unit such as 250ms, 1s or 1m30s, or 0',
            id="no duration",
        ),
        pytest.param(
            f"tls_server_config: {{{CERT}, cert: x}}",
            "tls_server_config.cert: cert_file is given too; allowed: cert or cert_file",
            id="two certificates",
        ),
        pytest.param(
            f"tls_server_config: {{{CERT}, client_allowed_sans: [a], client_auth_type: VerifyClientCertIfGiven, "
            "client_ca_file: ecdsa.pem}",
            "tls_server_config.client_allowed_sans: clients may come without a certificate, which has no names; "
            "allowed: client_auth_type: RequireAndVerifyClientCert beside it",
            id="names of those who need not show one",
        ),
        pytest.param(
            f"tls_server_config: {{{CERT}, min_version: TLS13, max_version: TLS12}}",
            "tls_server_config.min_version: TLS13 is above max_version TLS12; allowed: TLS12 or less",
            id="no version",
        ),
        pytest.param(
            "tls_server_config: {cert_file: ecdsa.pem, key_file: locked.key}",
            "tls_server_config.cert_file: the private key is encrypted; allowed: a private key without a password",
            id="a key with a password",
        ),
        pytest.param(
            "tls_server_config: {cert_file: ecdsa.pem, key: secret}",
            "tls_server_config.cert_file: no pair; allowed: a PEM certificate chain and its private key",
            id="an inline key, which is not shown",
        ),
    ],
)
def test_mistakes(folder: Path, text: str, problem: str) -> None:
    """What Prometheus takes in silence, or not yet knows of in the version at hand, is told alike."""
    words = ["openssl", "ec", "-in", "ecdsa.key", "-aes256", "-passout", "pass:x", "-out", "locked.key"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=20)
    file = write_lock(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_lock(file)

    assert str(caught.value) == f"{file}:1: {problem}"


def test_a_missing_file(tmp_path: Path) -> None:
    """A file that is not there, or that names one that is not, is told by its path."""
    file = write_lock(tmp_path, "tls_server_config: {cert_file: gone.pem, key_file: gone.key}")
    with pytest.raises(ConfigError, match=r"tls_server_config.cert_file: .*/gone.pem: no such file"):
        load_lock(file)
    with pytest.raises(ConfigError, match=r"nowhere.yml: no such file; allowed: a readable file$"):
        load_lock(tmp_path / "nowhere.yml")


def test_all_that_a_file_says(folder: Path, leaf: Leaf) -> None:
    """What a file says is what the lock holds, and the files that it was made from are remembered."""
    client = identity(folder, "client")
    file = write_lock(
        folder,
        tls(
            leaf,
            "client_auth_type: VerifyClientCertIfGiven",
            f"client_ca_file: {client.certificate_file.name}",
            "max_version: TLS12",
        ),
        f"basic_auth_users: {{älice: {HASH}, 1: {HASH}}}",
        "http_server_config: {headers: {X-XSS-Protection: 0, Content-Security-Policy: ''}}",
        "rate_limit: {interval: 1m0.5s, burst: 3}",
    )
    lock = load_lock(file)

    assert lock.tls is not None
    assert lock.tls.context.maximum_version is ssl.TLSVersion.TLSv1_2
    assert lock.tls.context.verify_mode is ssl.CERT_OPTIONAL
    assert lock.users == {"älice".encode(): HASH.encode(), b"1": HASH.encode()}
    assert lock.headers == {"X-XSS-Protection": "0"}
    assert lock.rate == RateLimit(60.5, 3)
    assert set(lock.stamps) == {file, leaf.certificate_file, leaf.key_file, client.certificate_file}
    assert HASH not in repr(lock)


def test_pem_in_the_file_itself(tmp_path: Path, leaf: Leaf) -> None:
    """Certificate and key may stand in the file itself."""
    texts = {"cert": leaf.certificate_file, "key": leaf.key_file}
    blocks = [f"  {name}: |\n    " + file.read_text().replace("\n", "\n    ") for name, file in texts.items()]
    lock = load_lock(write_lock(tmp_path, "tls_server_config:", *blocks))

    assert lock.tls is not None
