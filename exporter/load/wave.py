"""What a wave of returning clients offers to a fleet, against what the fleet sustains. Pure arithmetic.

Clients that come back evenly within a window offer `clients / window` handshakes a second. One server's work for a
handshake is the reciprocal of its ceiling, so a mixture of full and resumed ones is weighed by their work.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LOWEST_CEILING, HIGHEST_CEILING = 1e-6, 1e9
"""What no server is below or above; figures far outside are slips of the pen, and no arithmetic could bear them."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Handshakes a second that one server sustains.

    Attributes:
        resumed: None where it is not known.
        full_at_least, resumed_at_least: that it may be higher, since the measurement went no further.

    Raises:
        ValueError: one of them is out of bounds.
    """

    full: float
    resumed: float | None = None
    full_at_least: bool = False
    resumed_at_least: bool = False

    def __post_init__(self) -> None:
        for name, rate in (("full", self.full), ("resumed", self.resumed)):
            if rate is not None and not LOWEST_CEILING <= rate <= HIGHEST_CEILING:
                found = f"a ceiling of {_spell(rate)} {name} handshakes a second"
                raise ValueError(f"{found}; {LOWEST_CEILING:g} to {HIGHEST_CEILING:g} are possible")

    def mixed(self, share: float) -> float:
        """Return the handshakes a second where this share of them resumes.

        Raises:
            ValueError: the share is not from 0 to 1, or the ceiling of resumed handshakes would be needed.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"a share of {share:g}; a number from 0 to 1 is needed")
        if share == 0:
            return self.full
        if self.resumed is None:
            raise ValueError("the ceiling of resumed handshakes is not known")
        return 1 / ((1 - share) / self.full + share / self.resumed)

    def at_least(self, share: float) -> bool:
        """Return whether what a server sustains with this share of resumed handshakes may be more than `mixed` says."""
        return (share < 1 and self.full_at_least) or (share > 0 and self.resumed_at_least)


@dataclass(frozen=True, slots=True)
class Wave:
    """Clients that all come back, and who is there to take them.

    Attributes:
        clients: how many.
        servers: sizes of the fleet to compare, in the order in which they are shown.
        windows: seconds within which all have come back, likewise.
        ceiling: of one server.
        resumed: the share of clients whose ticket resumes, from 0 to 1.

    Raises:
        ValueError: one of them makes no sense; the message says which.
    """

    clients: int
    servers: tuple[int, ...]
    windows: tuple[float, ...]
    ceiling: Ceiling
    resumed: float = 0.0

    def __post_init__(self) -> None:
        if self.clients < 1:
            raise ValueError(f"{self.clients} clients; at least 1 is needed")
        _check("servers", self.servers)
        _check("windows", self.windows)
        self.ceiling.mixed(self.resumed)

    def loads(self) -> tuple["Load", ...]:
        """Return what each window offers, in the windows' order."""
        return tuple(self._load(window) for window in self.windows)

    def shortest_windows(self, *, all_full: bool = False) -> Mapping[int, float]:
        """Return for each size of the fleet the shortest window in seconds whose load is not over 1.

        Args:
            all_full: as after a change of the ticket key without overlap, when no ticket resumes.
        """
        rate = self.ceiling.mixed(0.0 if all_full else self.resumed)
        return {servers: self.clients / (servers * rate) for servers in self.servers}

    def _load(self, window: float) -> "Load":
        offered = self.clients / window

        def against(rate: float) -> Mapping[int, float]:
            return {servers: offered / (servers * rate) for servers in self.servers}

        return Load(window, offered, against(self.ceiling.mixed(self.resumed)), against(self.ceiling.full))


@dataclass(frozen=True, slots=True)
class Load:
    """One window.

    Attributes:
        window: seconds.
        offered: handshakes a second, over all servers.
        load: by the fleet's size, what is offered over what the fleet sustains; 1 is all that it can do.
        all_full: the same where no ticket resumes.
    """

    window: float
    offered: float
    load: Mapping[int, float]
    all_full: Mapping[int, float]


def _check(name: str, values: Sequence[float]) -> None:
    if not values:
        raise ValueError(f"no {name}; at least one is needed")
    for at, value in enumerate(values):
        if not _positive(value):
            raise ValueError(f"{name}: {value:g}; finite numbers over 0 are needed")
        if value in values[:at]:
            raise ValueError(f"{name}: {value:g} stands there twice")


def _spell(rate: float) -> str:
    """Return a rate in few digits; a whole number may be too large for a float."""
    try:
        return f"{rate:g}"
    except OverflowError:
        return "a whole number of too many digits"


def _positive(value: float) -> bool:
    return math.isfinite(value) and value > 0
