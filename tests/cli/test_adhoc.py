"""What a command line asks for, and what it is told when it asks amiss."""

from pathlib import Path

import pytest

from exporter.cli.adhoc import find_target
from exporter.cli.arguments import parse_words
from exporter.config.problem import ConfigError
from exporter.model.fingerprint import salt_of
from exporter.model.target import Endpoint, ProxyProtocol, StartTls, TlsVersion
from exporter.verdict.rules import Rules

CONFIG = """\
targets: [{name: shop, address: "127.0.0.1:4433"}]
ticket_keys: {grace: 60s, hold: 7, salt: pepper}
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    """A file with one target and patience of its own."""
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG)
    return str(file)


@pytest.mark.parametrize("watching", [pytest.param([], id="once"), pytest.param(["--watch"], id="watched")])
def test_rules_of_the_file(config: str, watching: list[str]) -> None:
    """A target from a file is judged as patiently as the daemon judges it, and its keys bear the same names."""
    target, rules = find_target(parse_words(["probe", "--config", config, "shop", *watching]))

    assert target.endpoint == Endpoint("127.0.0.1", 4433)
    assert rules == Rules(hold=7, grace=60.0, salt=salt_of("pepper"))


def test_target_of_the_command_line() -> None:
    """All that a command line says of a target is in it, and the rules are the default ones."""
    words = "probe shop.test:8443 --backend 127.0.0.2 --tls 1.3 --path /health --timeout 2s --insecure"
    target, rules = find_target(parse_words(words.split()))

    assert (target.name, target.server_name) == ("shop.test:8443", "shop.test")
    assert target.backends == (Endpoint("127.0.0.2", 8443),)
    assert target.versions == (TlsVersion.TLS13,)
    assert (target.http.path, target.timeout, target.tls.verify) == ("/health", 2.0, False)
    assert rules == Rules()


def test_what_goes_ahead_of_tls() -> None:
    """A server that begins in clear gets no request, and no protocols of the web are offered to it."""
    words = "probe mail.test:25 --starttls smtp --proxy 127.0.0.1:8080 --proxy-protocol v2"
    target, _ = find_target(parse_words(words.split()))

    assert (target.starttls, target.proxy_protocol) == (StartTls.SMTP, ProxyProtocol.V2)
    assert target.proxy == Endpoint("127.0.0.1", 8080)
    assert (target.http.enabled, target.tls.alpn) == (False, ())
    assert find_target(parse_words(["probe", "a.test", "--alpn", "h2"]))[0].tls.alpn == ("h2",)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param(["a.test:"], 'HOST[:PORT]: "a.test:" is no address', id="address"),
        pytest.param(["a.test:0"], "HOST[:PORT]: port 0 is out of range", id="port"),
        pytest.param(
            ["https://a.test/x"],
            'HOST[:PORT]: "https://a.test/x" is a URL: leave out the scheme and the path, such as a.test',
            id="URL",
        ),
        pytest.param(
            ["a.test", "--backend", "https://b.test:8443/"],
            '--backend: "https://b.test:8443/" is a URL: leave out the scheme and the path, such as b.test:8443',
            id="URL of a backend",
        ),
        pytest.param(["a.test", "--backend", "b.test:0"], "--backend: port 0 is out of range", id="backend"),
        pytest.param(["a.test", "--ca-file", "/no/x.pem"], "--ca-file: /no/x.pem: no such file", id="CA file"),
        pytest.param(
            ["a.test", "--cert-file", "/no/c.pem", "--key-file", "/no/k.pem"],
            "--cert-file: /no/c.pem: no such file",
            id="client certificate",
        ),
        pytest.param(["a.test", "--server-name", "-"], '--server-name: "-" is no host name', id="server name"),
        pytest.param(["a.test", "--timeout", "2h"], "--timeout: 2h is longer than interval 1h", id="long timeout"),
        pytest.param(["a.test", "--timeout", "soon"], "--timeout: ", id="no timeout"),
        pytest.param(["a.test", "--path", "x"], "--path: ", id="path"),
    ],
)
def test_problems_speak_of_options(words: list[str], text: str) -> None:
    """What is wrong is told of the word that was typed, without a line or a place in a file that nobody wrote."""
    with pytest.raises(ConfigError) as caught:
        find_target(parse_words(["probe", *words]))

    told = str(caught.value)
    assert told.startswith(text)
    assert "targets[0]" not in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param(["a", "--watch", "--json"], "--json cannot be used with --watch", id="watched JSON"),
        pytest.param(["a", "--watch", "--rounds", "1"], "--rounds cannot be used with --watch", id="watched rounds"),
        *(
            pytest.param(["a", "--config", "c.yaml", *ours], f"{ours[0]} cannot be used with --config", id=ours[0])
            for ours in (
                ["--insecure"],
                ["--path", "/"],
                ["--ca-file", "f"],
                ["--cert-file", "f"],
                ["--key-file", "f"],
                ["--backend", "b"],
                ["--server-name", "n"],
                ["--tls", "1.3"],
                ["--no-http"],
                ["--timeout", "5s"],
            )
        ),
        pytest.param(["a", "--cert-file", "f"], "--cert-file needs --key-file", id="certificate alone"),
        pytest.param(["a", "--key-file", "f"], "--key-file needs --cert-file", id="key alone"),
        pytest.param(["a", "--tls", "1.1"], "1.1", id="old version"),
    ],
)
def test_refused_options(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that would be ignored is refused, in words that have nothing of Python in them."""
    with pytest.raises(SystemExit) as caught:
        parse_words(["probe", *words])

    told = capsys.readouterr().err
    assert caught.value.code == 2
    assert text in told
    assert "TlsVersion" not in told


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param("run", ["Exit code", "10507"], id="run"),
        pytest.param("check", ["Exit code", "the configuration"], id="check"),
        pytest.param("schema", ["editors"], id="schema"),
        pytest.param("probe", ["Exit code", "medians (1)", "(5s)", "(/)", "300 s"], id="probe"),
    ],
)
def test_help(command: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Each command's help says what it does, what its exit codes mean and what holds without its options."""
    with pytest.raises(SystemExit) as caught:
        parse_words([command, "--help"])

    told = " ".join(capsys.readouterr().out.split())
    assert caught.value.code == 0
    for word in words:
        assert word in told
