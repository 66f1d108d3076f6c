"""From a web configuration file to a lock, with all that is wrong at once."""

import re
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from exporter.config.conversion import convert
from exporter.config.document import MAX_BYTES, compose
from exporter.config.files import MAX_PEM_BYTES, read_bounded
from exporter.config.problem import Findings, Place, RefusedError, show
from exporter.web.ciphers import TLS13_SUITES, parse_curves, parse_suite
from exporter.web.contexts import Choices, make_context, show_certificate, trust_clients
from exporter.web.lock import Lock, RateLimit, Stamp, TlsLock
from exporter.web.schema import RateLimitSection, TlsServerSection, WebDocument

_TLS: Place = ("tls_server_config",)
_CLIENT_MODES = {
    None: ssl.CERT_NONE,
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
_HEADERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Content-Security-Policy": (),
        "Strict-Transport-Security": (),
        "X-Content-Type-Options": ("nosniff",),
        "X-Frame-Options": ("deny", "sameorigin"),
        "X-XSS-Protection": (),
    }
)
_HASH = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_COSTS = range(4, 16)  # each step doubles the time, and 15 takes two seconds already
_DURATION = re.compile(r"(?:(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})(?:ns|us|µs|μs|ms|s|m|h))+")
_DURATION_PART = re.compile(r"([0-9.]+)([^0-9.]+)")
_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def load_lock(path: Path) -> Lock:
    """Return the lock that a web configuration file describes; names of files in it are taken from its folder.

    Raises:
        ConfigError: with all that is wrong.
    """
    findings = Findings(str(path))
    files = _Files(path.parent)
    try:
        content = files.read(path.name, MAX_BYTES)
    except RefusedError as refusal:
        findings.stop(refusal.found, refusal.allowed)
    try:
        tree = compose(content.decode("utf-8-sig"), findings)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        findings.stop("this is not YAML: it holds bytes that are no text", "UTF-8 text", line)
    if tree is None:
        # A file that is being written is empty for a moment, and that must not open the door.
        findings.stop("nothing but space and comments", "a mapping, `{}` for no lock")
    document = convert(WebDocument, tree, (), findings)
    lock = Lock(
        tls=_tls(document.tls_server_config, files, findings),
        users=_users(document.basic_auth_users, findings),
        headers=_headers(document.http_server_config.headers, findings),
        rate=_rate(document.rate_limit, findings),
        stamps=files.stamps,
    )
    findings.conclude()
    return lock


def stamp(path: Path) -> Stamp | None:
    """Return a file's stamp, None where there is no such file or none that we may see."""
    try:
        state = path.stat()
    except (OSError, ValueError):
        return None
    return Stamp(state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)


class _Files:
    """Reads what a file names, from that file's folder, and stamps it first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.stamps: dict[Path, Stamp | None] = {}

    def read(self, name: str, limit: int = MAX_PEM_BYTES) -> bytes:
        path = self._folder / name
        self.stamps[path] = stamp(path)
        return read_bounded(path, limit)


def _tls(section: TlsServerSection, files: _Files, findings: Findings) -> TlsLock | None:
    if findings.refused(_TLS):
        return None
    chain = _pem("cert", section.cert, section.cert_file, files, findings)
    key = _pem("key", section.key, section.key_file, files, findings)
    authorities = _pem("client_ca", section.client_ca, section.client_ca_file, files, findings)
    if section == TlsServerSection():
        return None
    for name, found in (("cert", chain), ("key", key)):
        if found is None and not (findings.refused((*_TLS, name)) or findings.refused((*_TLS, f"{name}_file"))):
            findings.add((*_TLS, f"{name}_file"), "missing", f"{name} or {name}_file, beside other settings of TLS")
    choices = _choices(section, findings)
    _check_clients(section, authorities, findings)
    if chain is None or key is None or findings.refused(_TLS):
        return None
    context = make_context(choices)
    _try(findings, "cert" if section.cert else "cert_file", partial(show_certificate, context, chain, key))
    if authorities is not None:
        place = "client_ca" if section.client_ca else "client_ca_file"
        _try(findings, place, partial(trust_clients, context, authorities))
    return TlsLock(context, frozenset(section.client_allowed_sans))


def _pem(name: str, inline: str | None, file: str | None, files: _Files, findings: Findings) -> bytes | None:
    """Return what stands in the file itself or in the one that it names; an empty text is none at all, as in Go."""
    if inline and file:
        findings.add((*_TLS, name), f"{name}_file is given too", f"{name} or {name}_file")
    elif inline:
        return inline.encode()
    elif file:
        return findings.read((*_TLS, f"{name}_file"), files.read, file, None)
    return None


def _choices(section: TlsServerSection, findings: Findings) -> Choices:
    lowest, highest = section.min_version, section.max_version
    if lowest > highest:
        findings.add((*_TLS, "min_version"), f"{lowest} is above max_version {highest}", f"{highest} or less")
    places: list[Place] = [(*_TLS, "cipher_suites", at) for at in range(len(section.cipher_suites))]
    suites = [
        findings.read(place, parse_suite, name, "") for place, name in zip(places, section.cipher_suites, strict=True)
    ]
    if lowest == "TLS12" and suites and set(section.cipher_suites) <= set(TLS13_SUITES):
        findings.add((*_TLS, "cipher_suites"), "none of these is for TLS 1.2", "one more, or min_version: TLS13")
    return Choices(
        lowest,
        highest,
        _CLIENT_MODES[section.client_auth_type],
        tuple(filter(None, suites)),
        section.prefer_server_cipher_suites,
        findings.read((*_TLS, "curve_preferences"), parse_curves, section.curve_preferences, None),
    )


def _check_clients(section: TlsServerSection, authorities: bytes | None, findings: Findings) -> None:
    """Refuse settings for clients' certificates that would demand less than they seem to."""
    place, mode = (*_TLS, "client_auth_type"), _CLIENT_MODES[section.client_auth_type]
    if mode is ssl.CERT_NONE and authorities is not None:
        findings.add(place, "there is a client CA, and no client is asked", "RequireAndVerifyClientCert")
    if mode is not ssl.CERT_NONE and authorities is None:
        # Go would take any certificate that any public authority has signed.
        findings.add(place, "there is no client CA to verify with", "client_ca_file beside it")
    if section.client_allowed_sans and mode is not ssl.CERT_REQUIRED:
        found = "clients may come without a certificate, which has no names"
        findings.add((*_TLS, "client_allowed_sans"), found, "client_auth_type: RequireAndVerifyClientCert beside it")


def _users(hashes: Mapping[str, str], findings: Findings) -> Mapping[bytes, bytes]:
    return {
        user.encode(): findings.read(("basic_auth_users", user), _parse_hash, text, b"")
        for user, text in hashes.items()
    }


def _parse_hash(text: str) -> bytes:
    match = _HASH.fullmatch(text)
    if match is None:
        raise RefusedError("no bcrypt hash", "what `htpasswd -nBC 10 USER` prints after the colon")
    if int(match[1]) not in _COSTS:
        raise RefusedError(f"a bcrypt hash of cost {int(match[1])}", f"a cost from {_COSTS[0]} to {_COSTS[-1]}")
    return text.encode()


def _headers(headers: Mapping[str, str | int], findings: Findings) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name, value in headers.items():
        place, text = ("http_server_config", "headers", name), str(value)
        if name not in _HEADERS:
            findings.add(place, "a header that cannot be set", ", ".join(_HEADERS))
        elif _HEADERS[name] and text not in _HEADERS[name]:
            findings.add(place, f"found {show(text)}", " or ".join(_HEADERS[name]))
        elif not (text.isascii() and text.isprintable()):
            findings.add(place, f"found {show(text)}", "visible ASCII characters and spaces")
        elif text:
            found[name] = text
    return found


def _rate(section: RateLimitSection, findings: Findings) -> RateLimit | None:
    interval = findings.read(("rate_limit", "interval"), _parse_interval, section.interval, 0.0)
    if not interval:
        return None
    if section.burst < 1:
        findings.add(("rate_limit", "burst"), f"{section.burst} lets no request through", "1 or more")
    return RateLimit(interval, section.burst)


def _parse_interval(raw: str | int) -> float:
    """Return the seconds of a duration as Go's time.ParseDuration reads it, without a sign."""
    if raw in {0, "0"}:
        return 0.0
    if not isinstance(raw, str) or not _DURATION.fullmatch(raw):
        raise RefusedError(f"{show(raw)} is no duration", "one with its unit such as 250ms, 1s or 1m30s, or 0")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _DURATION_PART.findall(raw))


def _try(findings: Findings, name: str, step: Callable[[], None]) -> None:
    try:
        step()
    except RefusedError as refusal:
        findings.add((*_TLS, name), refusal.found, refusal.allowed)
