"""A configuration that was read, checked and found good."""

from dataclasses import dataclass, field
from typing import Literal

from exporter.config.template import Template
from exporter.model.fingerprint import SALT
from exporter.model.target import Target

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "text", "json", "logfmt"]


@dataclass(frozen=True, slots=True)
class TicketKeys:
    """How the judgement of ticket keys remembers.

    Attributes:
        grace: seconds after a key change in which backends may still differ.
        hold: rounds for which a backend's last state stands while it cannot be reached.
        state_file: where what was seen of keys outlives a restart; None keeps it in memory alone.
        salt: of the hashes that stand for names of keys, at most 16 bytes.
    """

    grace: float = 300.0
    hold: int = 3
    state_file: str | None = None
    salt: bytes = field(default=SALT, repr=False)


@dataclass(frozen=True, slots=True)
class ReferenceSettings:
    """The loopback servers that tell what a handshake costs on this machine.

    Attributes:
        interval: seconds from one round to the next.
    """

    enabled: bool = True
    interval: float = 60.0


@dataclass(frozen=True, slots=True)
class WaveSettings:
    """Clients that may all come back at once, and who would take them.

    Attributes:
        servers: how many would be left.
        ceiling: full handshakes a second that one server sustains.
        window: seconds within which all come back.
        resumed_ceiling: resumed handshakes a second; None where that is not known.
    """

    clients: int
    servers: int
    ceiling: float
    window: float
    resumed_ceiling: float | None = None


@dataclass(frozen=True, slots=True)
class ListingUrl:
    """Where a list of targets is asked for.

    Attributes:
        ca_file: PEM bundle to trust instead of the system's.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    ca_file: str | None = None


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Where more targets come from.

    Attributes:
        place: the path of files, with wildcards in its last part, or whom to ask.
        refresh: seconds from one look to the next.
        max_targets: a list with more is refused.
        template: what all of its targets have.
    """

    name: str
    place: str | ListingUrl
    refresh: float
    max_targets: int = 1000
    template: Template = field(default_factory=Template)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is logged and how.

    Attributes:
        level: "debug", "info", "warning" or "error".
        format: "auto", "text", "json" or "logfmt".
    """

    level: LogLevel = "info"
    format: LogFormat = "auto"


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; without a file it is the reference alone.

    Attributes:
        listen: addresses of the web side, `HOST:PORT` with an empty host for all interfaces.
        discover: where more targets come from, while we run.
        wave: None where nothing is to be exported of one.
    """

    listen: tuple[str, ...] = (":10507",)
    targets: tuple[Target, ...] = ()
    discover: tuple[SourceSettings, ...] = ()
    ticket_keys: TicketKeys = field(default_factory=TicketKeys)
    reference: ReferenceSettings = field(default_factory=ReferenceSettings)
    wave: WaveSettings | None = None
    log: LogSettings = field(default_factory=LogSettings)
