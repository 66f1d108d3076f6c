"""`tlsprobe --version`: which build this is, and what it stands on."""

import argparse
import json
import platform
import re
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from exporter import __version__

DISTRIBUTION = "tls-resumption-exporter"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a report of a fault has to say of the program.

    Attributes:
        commit: in full, None where it is not known: a checkout may differ from the commit that it started from.
        openssl: of the ssl module, which does the handshakes.
        bundled_openssl: of the package cryptography, which reads certificates and asks for OCSP staples.
    """

    version: str
    commit: str | None
    python: str
    openssl: str
    bundled_openssl: str
    platform: str


class ShowVersion(argparse.Action):
    """Print the facts and end; found only when they are asked for, since that loads a second OpenSSL."""

    def __init__(self, option_strings: Sequence[str], dest: str, **kinds: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **kinds)

    def __call__(self, parser: argparse.ArgumentParser, *_words: object) -> NoReturn:
        """Print one fact a line."""
        print("\n".join(render(find_facts())))
        parser.exit()


def find_facts() -> Facts:
    """Return the facts of this process."""
    from importlib import resources  # noqa: PLC0415 - several MiB with all that they bring

    from cryptography.hazmat.backends.openssl.backend import backend  # noqa: PLC0415 - see ShowVersion

    return Facts(
        version=__version__,
        commit=find_commit(resources.files("exporter").joinpath("revision.txt").read_text(), _read_origin()),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        openssl=ssl.OPENSSL_VERSION,
        bundled_openssl=backend.openssl_version_text(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}, {' '.join(platform.libc_ver())}",
    )


def find_commit(revision: str, origin: str | None) -> str | None:
    """Return the commit that this was built from.

    Args:
        revision: the text of revision.txt, into which `git archive` writes the commit.
        origin: the text of direct_url.json, into which an installer writes what it has fetched from a repository
            (Direct URL Origin, section "VCS URLs"), None where there is none.
    """
    if _COMMIT.fullmatch(revision.strip()):
        return revision.strip()
    commit: str | None = json.loads(origin or "{}").get("vcs_info", {}).get("commit_id")
    return commit


def render(facts: Facts) -> Iterator[str]:
    """Yield the lines; the first has nothing but the name and the version, for scripts."""
    yield f"tlsprobe {facts.version}"
    yield f"commit    {facts.commit or 'not known'}"
    yield f"python    {facts.python}"
    yield f"openssl   {facts.openssl} for handshakes, {facts.bundled_openssl} for certificates and staples"
    yield f"platform  {facts.platform}"


def _read_origin() -> str | None:
    from importlib import metadata  # noqa: PLC0415 - as above

    try:
        return metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
