"""Ticket keys for servers that read them from files."""

import hashlib
from pathlib import Path
from typing import Literal

KeySize = Literal[48, 80]


def ticket_key(label: str, size: KeySize = 80) -> bytes:
    """Return the ticket key of this label: the same label gives the same key, another one another.

    Args:
        size: 48 bytes for a key of AES-128 with a 16 byte MAC key, 80 for AES-256 with 32; both begin with a name of
            16 bytes. Node and Apache take 48 only, Envoy 80 only, nginx and HAProxy both.
    """
    return hashlib.shake_256(label.encode()).digest(size)


def write_ticket_key(folder: Path, label: str, size: KeySize = 80) -> Path:
    """Write the ticket key of this label to a file, raw, and return its path."""
    path = folder / f"{label}.{size}.ticketkey"
    path.write_bytes(ticket_key(label, size))
    return path
