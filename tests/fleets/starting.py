"""How tests ask for a fleet of nginx."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from tests.servers.nginx import Nginx, Settings

StartFleet = Callable[[Sequence[Settings]], AbstractContextManager[tuple[Nginx, ...]]]
"""Starts one nginx for each of the settings, at 127.0.0.2, .3 and so on."""
