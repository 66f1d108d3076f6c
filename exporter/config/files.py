"""Files that a configuration names: secrets and PEM files, read once for each configuration."""

import ssl
import stat
from functools import lru_cache
from pathlib import Path

from exporter.config.contents import Contents, Digest, digest_of
from exporter.config.problem import RefusedError

MAX_PEM_BYTES = 4 << 20
MAX_SECRET_BYTES = 8 << 10

_REASONS: tuple[tuple[type[OSError], str], ...] = (
    (FileNotFoundError, "no such file"),
    (NotADirectoryError, "no such file"),
    (PermissionError, "not readable with our rights"),
)


class EncryptedKeyError(Exception):
    """A private key is only to be had with a password."""


def load_pair(context: ssl.SSLContext, chain: str | Path, key: str | Path) -> None:
    """Let a context show a certificate, without ever asking for a password on the terminal.

    Raises:
        EncryptedKeyError: the key has one.
        OSError: (ssl.SSLError among them) they cannot be read, or are no pair.
    """
    encrypted = False

    def refuse_password() -> str:
        nonlocal encrypted
        encrypted = True
        return ""

    try:
        context.load_cert_chain(chain, key, refuse_password)
    except OSError as error:
        if encrypted:
            raise EncryptedKeyError from error
        raise


def read_bounded(path: Path, limit: int) -> bytes:
    """Return a regular file's content.

    Raises:
        RefusedError: it is missing, unreadable, no regular file, or over `limit` bytes.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
            raise RefusedError(f"{path} is no regular file", "a readable file")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        reason = next((words for kind, words in _REASONS if isinstance(error, kind)), error.strerror)
        raise RefusedError(f"{path}: {reason}", "a readable file") from None
    except ValueError:
        raise RefusedError("the path holds characters that no file name can have", "a readable file") from None
    if len(content) > limit:
        raise RefusedError(f"{path} is too large", f"at most {limit >> 10} KiB")
    return content


def look_at(path: Path) -> Digest:
    """Return a digest of what a file holds now."""
    try:
        return digest_of(read_bounded(path, MAX_PEM_BYTES))
    except RefusedError:
        return None


class Files:
    """Reads and checks what a configuration names, from its folder; each PEM file once.

    Args:
        contents: notes what is read.
    """

    def __init__(self, folder: Path, contents: Contents | None = None) -> None:
        self._folder = folder
        self._contents = contents or Contents()
        self._trust = lru_cache(maxsize=None)(self._check_trust)
        self._identity = lru_cache(maxsize=None)(self._check_identity)

    def read(self, path: Path, limit: int) -> bytes:
        """Return a file's content, and note it; raises what `read_bounded` raises."""
        try:
            content = read_bounded(path, limit)
        except RefusedError:
            self._contents.note(path, look_at(path))
            raise
        self._contents.note(path, digest_of(content))
        return content

    @property
    def folder(self) -> Path:
        """Where relative paths start."""
        return self._folder

    def locate(self, name: str) -> str:
        """Return the path of a file that need not be there."""
        return str(self._folder / name)

    def secret(self, name: str) -> str:
        """Return a text file's content without the line feed at its end."""
        path = self._folder / name
        try:
            text = self.read(path, MAX_SECRET_BYTES).decode("ascii")
        except UnicodeDecodeError:
            raise RefusedError(f"{path} holds characters that are not ASCII", "ASCII text") from None
        return text.removesuffix("\n").removesuffix("\r")

    def trust(self, name: str) -> str:
        """Return the path of a PEM bundle that was seen to hold certificates."""
        return self._told(self._trust(self._folder / name), name)

    def identity(self, cert_name: str, key_name: str) -> tuple[str, str]:
        """Return the paths of a client certificate and its key, which were seen to belong together."""
        self._told(self._identity(self._folder / cert_name, self._folder / key_name), cert_name)
        return self.locate(cert_name), self.locate(key_name)

    def digest(self, *names: str | None) -> str:
        """Return a digest of what the named ones of the files that were read held; empty without any."""
        named = [self._folder / name for name in names if name is not None]
        return self._contents.sum_up(named) if named else ""

    def _told(self, refusal: RefusedError | None, name: str) -> str:
        if refusal is not None:
            raise RefusedError(refusal.found, refusal.allowed)
        return self.locate(name)

    def _check_trust(self, path: Path) -> RefusedError | None:
        try:
            self.read(path, MAX_PEM_BYTES)
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
        except RefusedError as refusal:
            return refusal
        except OSError:  # ssl.SSLError is one
            return RefusedError(f"{path} holds no certificate that can be read", "a PEM file with certificates")
        return None

    def _check_identity(self, cert: Path, key: Path) -> RefusedError | None:
        try:
            for path in (cert, key):
                self.read(path, MAX_PEM_BYTES)
            load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), cert, key)
        except RefusedError as refusal:
            return refusal
        except EncryptedKeyError:
            return RefusedError(f"{key} is encrypted", "a private key without a password")
        except OSError:  # ssl.SSLError is one
            return RefusedError(f"{cert} and {key} are no pair", "a PEM certificate chain and its private key")
        return None
