"""Who we are to the API server: what a pod finds in its environment and in its service account's folder."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.config.files import MAX_PEM_BYTES, MAX_SECRET_BYTES, read_bounded
from exporter.config.problem import RefusedError

_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Account:
    """Where the API server is, and where our credentials are.

    Attributes:
        url: without a slash at its end.
        folder: holds `token`, `ca.crt` and `namespace`, which change while we run: a token lives for an hour or so.
    """

    url: str
    folder: Path = _FOLDER


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the files held when they were read."""

    token: str
    authority: bytes
    namespace: str


def find_account(environment: Mapping[str, str]) -> Account | None:
    """Return the account of the pod that we run in, None where that is no pod."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        return None
    return Account(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")


def read_credentials(account: Account) -> Credentials:
    """Read the files as they are now; this blocks.

    Raises:
        RefusedError: one cannot be read.
    """
    token = _text(account.folder / "token")
    if not (token.isascii() and token.isprintable() and token):
        raise RefusedError(f"{account.folder / 'token'} holds no token")
    authority = read_bounded(account.folder / "ca.crt", MAX_PEM_BYTES)
    return Credentials(token, authority, _text(account.folder / "namespace"))


def trust(authority: bytes) -> ssl.SSLContext:
    """Return a context that trusts the cluster's own authority alone.

    Raises:
        RefusedError: there is no certificate in it.
    """
    try:
        return ssl.create_default_context(cadata=authority.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise RefusedError("ca.crt holds no certificate that can be read") from None


def _text(path: Path) -> str:
    return read_bounded(path, MAX_SECRET_BYTES).decode("utf-8", "replace").strip()
