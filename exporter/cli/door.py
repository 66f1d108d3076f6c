"""From the words of `tlsprobe run` to the web side's door."""

import os
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from exporter.cli.complaint import blame
from exporter.config.problem import ConfigError, RefusedError
from exporter.config.values import parse_listen_address
from exporter.web.activation import take_sockets
from exporter.web.door import Door, parse_external_url, parse_prefix
from exporter.web.load import load_lock
from exporter.web.lock import OPEN

T = TypeVar("T")


def find_door(words: Namespace, listen: tuple[str, ...]) -> Door:
    """Return all that is set about the web side.

    Args:
        words: of `tlsprobe run`.
        listen: the configuration's addresses, for where the words give none.

    Raises:
        ConfigError: a word or the web configuration file cannot be used.
        ListenError: systemd has handed over no socket that can be used.
    """
    url = None if words.external_url is None else _read("--web.external-url", parse_external_url, words.external_url)
    file: Path | None = words.web_config
    door = Door(
        listen=_addresses("--web.listen-address", words.listen) if words.listen else listen,
        health=_addresses("--web.health-address", words.health),
        lock=OPEN if file is None else load_lock(file),
        lock_file=file,
        external_url=url,
        lifecycle=words.lifecycle,
    )
    prefix = door.external_path if words.route_prefix is None else words.route_prefix
    sockets = take_sockets(os.environ, os.getpid()) if words.systemd_socket else ()
    return replace(door, prefix=_read("--web.route-prefix", parse_prefix, prefix), sockets=sockets)


def _addresses(option: str, texts: list[str]) -> tuple[str, ...]:
    return tuple(_read(option, parse_listen_address, text) for text in texts)


def _read(option: str, parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except RefusedError as refusal:
        raise ConfigError((blame(option, refusal),)) from None
