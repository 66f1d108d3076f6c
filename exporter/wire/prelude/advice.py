"""What is likely behind a failed handshake."""

from exporter.model.failure import Failure
from exporter.model.target import Target


def likely(target: Target, failure: Failure, started: bool) -> str:
    """Return words to add, "" where nothing is likely."""
    return ""
