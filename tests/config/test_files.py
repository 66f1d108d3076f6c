"""Files that a configuration names and that are no good, and files that are no configuration."""

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from exporter.config.load import ConfigError, load, parse
from tests.servers.certificates import Authority, Leaf


def told(text: str, folder: Path) -> list[str]:
    """Return what is found wrong with a configuration, with `folder` left out of it."""
    with pytest.raises(ConfigError) as caught:
        parse(text, "text", folder)
    return [problem.found.replace(f"{folder}/", "") for problem in caught.value.problems]


def tls(settings: str, names: str = "a") -> str:
    """Return a configuration with a target for each name, all with these TLS settings."""
    targets = (f"{{name: {name}, address: a.example.com, tls: {{{settings}}}}}" for name in names)
    return f"targets: [{', '.join(targets)}]"


def header(name: str) -> str:
    """Return a configuration with a header from a file."""
    return f"targets: [{{name: a, address: a.example.com, http: {{headers: {{X-Token: {{file: {name}}}}}}}}}]"


def test_key_of_another_certificate(leaf: Leaf, rsa_leaf: Leaf, tmp_path: Path) -> None:
    """A certificate and the key of another one are told apart when the file is read, not at the first probe."""
    text = tls(f"cert_file: {leaf.certificate_file}, key_file: {rsa_leaf.key_file}")

    assert [f"{leaf.certificate_file} and {rsa_leaf.key_file} are no pair"] == told(text, tmp_path)


def test_encrypted_key(leaf: Leaf, tmp_path: Path) -> None:
    """A key with a password is refused, and nobody is asked for the password."""
    key = load_pem_private_key(leaf.key_file.read_bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    (tmp_path / "locked.key").write_bytes(pem)

    assert ["locked.key is encrypted"] == told(
        tls(f"cert_file: {leaf.certificate_file}, key_file: locked.key"), tmp_path
    )


def test_each_target_is_told(tmp_path: Path) -> None:
    """A file that two targets name is told for both of them."""
    (tmp_path / "ca.pem").write_text("no certificate")

    assert ["ca.pem holds no certificate that can be read"] * 2 == told(tls("ca_file: ca.pem", "ab"), tmp_path)


def test_pipe_is_not_waited_for(authority: Authority, tmp_path: Path) -> None:
    """A pipe that nobody writes to is refused at once, as a secret, a certificate and a configuration."""
    os.mkfifo(tmp_path / "pipe")

    assert ["pipe is no regular file"] == told(header("pipe"), tmp_path)
    assert ["pipe is no regular file"] == told(tls("ca_file: pipe"), tmp_path)
    assert ["pipe is no regular file"] == told(tls(f"cert_file: {authority.file}, key_file: pipe"), tmp_path)
    with pytest.raises(ConfigError, match="pipe is no regular file"):
        load(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param(b"hunter2\nX-Other: b\n", "the value holds a line break or another character", id="two lines"),
        pytest.param("hunter2 é".encode(), "token holds characters that are not ASCII", id="not ASCII"),
        pytest.param(b"hunter2\xff", "token holds characters that are not ASCII", id="binary"),
        pytest.param(b"hunter2" * 2000, "token is too large", id="large"),
    ],
)
def test_bad_secret(content: bytes, found: str, tmp_path: Path) -> None:
    """A secret that no header can have is refused, and not shown."""
    (tmp_path / "token").write_bytes(content)
    (problem,) = told(header("token"), tmp_path)

    assert problem.startswith(found)
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", "F: nothing but space and comments", id="empty"),
        pytest.param(b"# one\n\n", "F: nothing but space and comments", id="comments"),
        pytest.param(b"a: 1\nb: \xff\n", "F:2: this is not YAML: it holds bytes that are no text", id="Latin-1"),
        pytest.param(bytes(range(256)), "F:2: this is not YAML: it holds bytes that are no text", id="all bytes"),
        pytest.param(b"#" * (10 << 20), "F: F is too large; allowed: at most 4096 KiB", id="10 MB"),
    ],
)
def test_no_configuration(content: bytes, expected: str, tmp_path: Path) -> None:
    """Whatever a file holds, it is refused in words."""
    path = tmp_path / "config.yaml"
    path.write_bytes(content)

    with pytest.raises(ConfigError) as caught:
        load(path)

    assert str(caught.value).replace(str(path), "F").startswith(expected)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("missing.yaml", "no such file", id="missing"),
        pytest.param(".", "no regular file", id="a folder"),
        pytest.param("a" * 300, "File name too long", id="a name that is too long"),
    ],
)
def test_no_file(name: str, found: str, tmp_path: Path) -> None:
    """A file that cannot be read is told like any other problem."""
    with pytest.raises(ConfigError, match=found):
        load(tmp_path / name)
