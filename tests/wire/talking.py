"""Conversations with real servers, over the standard library's own TLS."""

import asyncio
import ssl
from pathlib import Path

from exporter.model.target import Address, HttpSettings
from exporter.wire.http import Conversation, HttpProgress, converse
from tests.servers.certificates import SERVER_NAME

DEADLINE = 10.0
"""Seconds for a whole conversation."""


async def talk(
    address: Address, root: Path, alpn: str, *, requests: int, settings: HttpSettings | None = None
) -> list[HttpProgress]:
    """Connect, ask until enough was asked or nothing may follow, and return what each request came to."""
    context = ssl.create_default_context(cafile=str(root))
    context.set_alpn_protocols([alpn])
    async with asyncio.timeout(DEADLINE):
        reader, writer = await asyncio.open_connection(
            address.host, address.port, ssl=context, server_hostname=SERVER_NAME
        )
        try:
            assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == alpn
            conversation = converse(alpn, settings or HttpSettings(), SERVER_NAME, address.port, user_agent="tester")
            told: list[HttpProgress] = []
            while conversation.asked < requests and (not told or told[-1].keep_alive):
                writer.write(conversation.ask())
                told.append(await _hear(conversation, reader, writer))
        finally:
            writer.transport.abort()
    return told


async def _hear(conversation: Conversation, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> HttpProgress:
    while True:
        try:
            piece = await reader.read(65536)
        except ConnectionError:
            piece = b""
        progress = conversation.receive(piece) if piece else conversation.receive_eof()
        writer.write(progress.send)
        if progress.done or progress.failure is not None or not piece:
            return progress
