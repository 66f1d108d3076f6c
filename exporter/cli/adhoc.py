"""The target that a command line describes, read by the same rules as one in a file."""

import json
from argparse import Namespace
from pathlib import Path

from exporter.config.load import load, parse
from exporter.config.problem import ConfigError, Problem
from exporter.model.target import Target

_SOURCE = "command line"


def find_target(words: Namespace) -> tuple[Target, bytes]:
    """Return the target that `tlsprobe probe` was asked for, and the salt for the names of its keys.

    Raises:
        ConfigError: with all that is wrong.
    """
    if words.config is None:
        config = parse(json.dumps({"targets": [_section(words)]}), _SOURCE, Path.cwd())
        return config.targets[0], config.ticket_keys.salt
    config = load(words.config)
    targets = {target.name: target for target in config.targets}
    if words.where not in targets:
        allowed = ", ".join(targets) or "none, since the file has no targets"
        raise ConfigError((Problem(str(words.config), None, "targets", f"no target is named {words.where}", allowed),))
    return targets[words.where], config.ticket_keys.salt


def _section(words: Namespace) -> dict[str, object]:
    section: dict[str, object] = {
        "name": words.where,
        "address": words.where,
        "interval": "1h",
        "timeout": words.timeout,
        "tls": _given(
            versions=words.tls,
            ca_file=words.ca_file,
            cert_file=words.cert_file,
            key_file=words.key_file,
            verify=False if words.insecure else None,
        ),
        "http": {"enabled": not words.no_http, "path": words.path},
    }
    return section | _given(server_name=words.server_name, backends=words.backend)


def _given(**words: object) -> dict[str, object]:
    return {name: str(word) if isinstance(word, Path) else word for name, word in words.items() if word is not None}
