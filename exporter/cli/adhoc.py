"""The target that a command line describes, read by the same rules as one in a file."""

import json
import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from exporter.cli.complaint import blame
from exporter.config.load import load, parse
from exporter.config.problem import ConfigError, Problem, RefusedError, show
from exporter.config.settings import Config
from exporter.model.target import Target
from exporter.verdict.rules import Rules

_SOURCE = "command line"
_WHERE = "HOST[:PORT]"
_PLACE = re.compile(r"targets\[0\]\.(?:tls\.|http\.)?(?P<field>[a-z_]+)")
_OPTIONS = {"address": _WHERE, "backends": "--backend", "versions": "--tls"}
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def find_target(words: Namespace) -> tuple[Target, Rules]:
    """Return the target that `tlsprobe probe` was asked for, and how it is to be judged.

    Raises:
        ConfigError: with all that is wrong, told of the options where there is no file.
    """
    if words.config is None:
        config = _read(words)
        return replace(config.targets[0], name=words.where), _rules(config)
    config = load(words.config)
    targets = {target.name: target for target in config.targets}
    if words.where not in targets:
        allowed = ", ".join(targets) or "none, since the file has no targets"
        raise ConfigError((Problem(str(words.config), None, "targets", f"no target is named {words.where}", allowed),))
    return targets[words.where], _rules(config)


def _rules(config: Config) -> Rules:
    keys = config.ticket_keys
    return Rules(hold=keys.hold, grace=keys.grace, salt=keys.salt)


def _read(words: Namespace) -> Config:
    _refuse_urls(_WHERE, [words.where])
    _refuse_urls("--backend", words.backend or [])
    # A target is probed once here, so the interval only bounds its round; as a default it is never the one to blame.
    document = {"defaults": {"interval": "1h"}, "targets": [_section(words)]}
    try:
        return parse(json.dumps(document), _SOURCE, Path.cwd())
    except ConfigError as error:
        raise ConfigError(tuple(blame(_option(problem), problem) for problem in error.problems)) from None


def _refuse_urls(option: str, addresses: Sequence[str]) -> None:
    for address in addresses:
        if _URL.match(address):
            found = f"{show(address)} is a URL: leave out the scheme and the path, such as {_bare(address)}"
            raise ConfigError((blame(option, RefusedError(found)),))


def _bare(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "name:443"
    except ValueError:  # brackets that hold no IPv6 address
        return "name:443"


def _option(problem: Problem) -> str:
    """Return the option that a place in the target's section was filled from."""
    place = _PLACE.match(problem.place)
    if place is None:
        return _SOURCE
    return _OPTIONS.get(place["field"], "--" + place["field"].replace("_", "-"))


def _section(words: Namespace) -> dict[str, object]:
    return {
        "name": "ad hoc",
        "address": words.where,
        "tls": _given(
            versions=words.tls,
            alpn=words.alpn,
            ca_file=words.ca_file,
            cert_file=words.cert_file,
            key_file=words.key_file,
            verify=False if words.insecure else None,
        ),
        "http": _given(enabled=False if words.no_http else None, path=words.path),
        **_given(
            server_name=words.server_name,
            backends=words.backend,
            timeout=words.timeout,
            starttls=words.starttls,
            proxy=words.proxy,
            proxy_protocol=words.proxy_protocol,
        ),
    }


def _given(**words: object) -> dict[str, object]:
    return {name: str(word) if isinstance(word, Path) else word for name, word in words.items() if word is not None}
