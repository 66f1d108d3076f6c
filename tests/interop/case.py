"""Two servers alike, and what is right to say of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, Mechanism, TargetState
from tests.servers.certificates import Leaf
from tests.servers.process import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What is seen of two servers alike, for one TLS version, and does not change from run to run.

    Attributes:
        mechanism: None where chance decides what tickets look like, and so how many keys are told apart.
        full, resumed: tickets that a connection brings, after a full handshake and after a resumed one.
        hint: seconds, of tickets from full handshakes; None where there are none.
        early_data: whether 0-RTT is offered.
        backend: the state of each of the two.
        pair: how they stand to each other.
        keys: how many ticket keys they have; None where that is not to be told.
    """

    mechanism: Mechanism | None
    full: int
    resumed: int
    hint: int | None
    backend: BackendState
    pair: TargetState
    keys: int | None = None
    early_data: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A server.

    Attributes:
        programs: without which it cannot be run.
        ask: the command that prints its version.
        note: why it is seen as it is, in sentences for the document.
        http: the version and whether the connection is kept alive; None where a request is not answered.
        wildcard: it listens on every address, so that each one needs a port of its own.
    """

    name: str
    programs: tuple[str, ...]
    start: Callable[[Path, Address, Any], Server]
    ask: tuple[str, ...]
    note: str
    http: tuple[str, bool] | None = ("1.1", True)
    wildcard: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A server with settings that two of its kind get alike.

    Attributes:
        setting: in a few words, as the document has it.
        settings: made from the certificate and a folder that both have in common.
        slow: the first round cannot tell yet how the two stand to each other.
    """

    product: Product
    setting: str
    settings: Callable[[Leaf, Path], Any]
    expected: Mapping[TlsVersion, Sight]
    slow: bool = False

    @property
    def name(self) -> str:
        """What the test is called."""
        return f"{self.product.name}, {self.setting}"

    @property
    def named(self) -> bool:
        """Whether what stands at the head of its tickets can be believed, so that rotations are not made up of it."""
        return all(sight.mechanism is not None for sight in self.expected.values())

    @property
    def states(self) -> dict[TlsVersion, tuple[BackendState, TargetState]]:
        """What each round has to say, from the first one on."""
        return {version: (sight.backend, sight.pair) for version, sight in self.expected.items()}
