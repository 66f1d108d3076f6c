"""What `tlsprobe --version` says."""

import json
import platform
import ssl

import pytest

from exporter import __version__
from exporter.cli.version import Facts, find_commit, find_facts, render

COMMIT = "0123456789abcdef0123456789abcdef01234567"
UNWRITTEN = "$Format:%H$\n"


@pytest.mark.parametrize(
    ("expected", "revision", "origin"),
    [
        pytest.param(COMMIT, f"{COMMIT}\n", None, id="an archive of a commit"),
        pytest.param(COMMIT + COMMIT[:24], COMMIT + COMMIT[:24], None, id="a repository with SHA-256"),
        pytest.param(None, UNWRITTEN, None, id="a checkout"),
        pytest.param(None, UNWRITTEN, {"url": "file:///src", "dir_info": {"editable": True}}, id="a folder"),
        pytest.param(
            COMMIT,
            UNWRITTEN,
            {"url": "https://git.example/x", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            id="installed from a repository",
        ),
    ],
)
def test_commit(expected: str | None, revision: str, origin: dict[str, object] | None) -> None:
    """The commit is known where something has written it, and never guessed."""
    assert expected == find_commit(revision, None if origin is None else json.dumps(origin))


def test_facts() -> None:
    """The facts are those of this process, with both OpenSSLs."""
    facts = find_facts()

    assert (__version__, ssl.OPENSSL_VERSION) == (facts.version, facts.openssl)
    assert facts.python.endswith(platform.python_version())
    assert facts.bundled_openssl.startswith("OpenSSL ")
    assert facts.platform.startswith("Linux ")


def test_lines() -> None:
    """The first line is the name and the version alone; what is not known is said to be so."""
    facts = Facts("1.2.3", None, "CPython 3.13.1", "OpenSSL 3.5.1", "OpenSSL 4.0.0", "Linux 6.12 x86_64, glibc 2.41")

    assert [
        "tlsprobe 1.2.3",
        "commit    not known",
        "python    CPython 3.13.1",
        "openssl   OpenSSL 3.5.1 for handshakes, OpenSSL 4.0.0 for certificates and staples",
        "platform  Linux 6.12 x86_64, glibc 2.41",
    ] == list(render(facts))
