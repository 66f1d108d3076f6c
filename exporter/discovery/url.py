"""Lists of targets over HTTP, as Prometheus asks for them (its "HTTP SD")."""

import hashlib
import ssl
from functools import partial
from http import HTTPStatus
from pathlib import Path

import aiohttp

from exporter.aside import aside
from exporter.config.discovered import Listing, read_listing
from exporter.config.document import MAX_BYTES
from exporter.config.files import MAX_PEM_BYTES, read_bounded
from exporter.config.problem import ConfigError, Findings, Problem, RefusedError
from exporter.config.settings import ListingUrl, SourceSettings
from exporter.discovery.dns import Resolver
from exporter.discovery.files import Look
from exporter.discovery.lookups import Lookups
from exporter.model.target import Target

_DEADLINE = 10.0  # seconds for one answer, its last byte included


class ListingAnswers:
    """The answers of one source; the last good one is kept.

    Args:
        settings: of the source.
        place: whom to ask.
        deadline: seconds for one answer.
    """

    def __init__(self, settings: SourceSettings, place: ListingUrl, deadline: float = _DEADLINE) -> None:
        self._settings = settings
        self._place = place
        self._deadline = deadline
        self._names = Lookups(Resolver(deadline=deadline))
        self._seen: tuple[bytes, Target] | None = None
        self._look = Look(None)
        self._trusted: tuple[bytes, ssl.SSLContext] | None = None

    async def look(self) -> Look:
        """Ask, and read the answer if it is another one than before; it is taken up whole or not at all."""
        try:
            content = await self._ask()
            self._look = await aside(partial(self._read, content), "list of targets")
        except RefusedError as refusal:
            problem = Problem(self._place.url, None, "", refusal.found, refusal.allowed)
            return Look(self._look.targets, (problem,))
        return self._look

    async def _ask(self) -> bytes:
        context = await aside(self._context, "trust of a source")
        headers = {
            "Accept": "application/json",
            "X-Prometheus-Refresh-Interval-Seconds": f"{self._settings.refresh:g}",
            **dict(self._place.headers),
        }
        timeout = aiohttp.ClientTimeout(total=self._deadline)
        try:
            connector = aiohttp.TCPConnector(resolver=self._names)
            async with (
                aiohttp.ClientSession(
                    connector=connector, timeout=timeout, headers={"User-Agent": "tlsprobe"}
                ) as session,
                # A redirect could lead our headers, with their secrets, to somebody else.
                session.get(self._place.url, headers=headers, ssl=context, allow_redirects=False) as response,
            ):
                if response.status != HTTPStatus.OK:
                    raise RefusedError(f"status {response.status}", "200")
                return await _read_bounded(response)
        except TimeoutError:
            raise RefusedError(f"no answer within {self._deadline:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise RefusedError(f"no answer: {type(error).__name__}") from None

    def _read(self, content: bytes) -> Look:
        findings = Findings(self._place.url)
        template = self._settings.template
        try:
            specimen = template.specimen((), findings)
            findings.conclude()
            seen = hashlib.blake2b(content).digest(), specimen
            if seen == self._seen:
                return self._look
            self._seen = seen
            listing = Listing(content.decode(), self._place.url, is_json=True)
            return Look(read_listing(listing, template, self._settings.max_targets))
        except ConfigError as error:
            return Look(self._look.targets, error.problems)
        except UnicodeDecodeError:
            raise RefusedError("an answer that is no text", "JSON") from None

    def _context(self) -> ssl.SSLContext | bool:
        """Return whom to trust, made anew when the file has changed; True is the system's own choice."""
        if self._place.ca_file is None:
            return True
        content = read_bounded(Path(self._place.ca_file), MAX_PEM_BYTES)
        if self._trusted is None or self._trusted[0] != content:
            self._trusted = content, _trust(content)
        return self._trusted[1]


def _trust(content: bytes) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cadata=content.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise RefusedError("ca_file holds no certificate that can be read", "a PEM file with certificates") from None


async def _read_bounded(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BYTES:
            raise RefusedError("the answer is too large", "at most 4 MiB")
    return bytes(body)
