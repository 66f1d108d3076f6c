"""What the pages need to know."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from exporter.model.target import Target
from exporter.web.scrapes import Render
from exporter.web.status.status import Status


@dataclass(frozen=True, slots=True)
class Pages:
    """What the pages are made from.

    Attributes:
        render: makes the exposition; called in a thread, one call at a time.
        why_not_ready: why we are not ready, or None when we are.
        targets: how many are being probed.
        version: ours.
        reload: reads the configuration anew and gives why that came to nothing, or None when it is taken up.
        status: what the status pages show.
        listed: targets that others may ask us to probe.
    """

    render: Render
    why_not_ready: Callable[[], str | None]
    targets: Callable[[], int]
    version: str
    reload: Callable[[], Awaitable[str | None]] | None = None
    status: Status = field(default_factory=Status)
    listed: Callable[[], Sequence[Target]] = tuple
