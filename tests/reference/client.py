"""A plain client over the standard library's blocking TLS, and a look at processes through /proc."""

import asyncio
import contextlib
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from exporter.model.target import Address
from exporter.reference.listeners import SERVER_NAME
from exporter.reference.supervisor import Life, Reference

GET = b"GET /any/path HTTP/1.1\r\nHost: reference\r\n\r\n"
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Visit:
    """What one connection with one request showed."""

    resumed: bool
    version: str
    key_type: str
    answer: bytes
    session: ssl.SSLSession | None


@contextlib.asynccontextmanager
async def running(life: Life | None = None) -> AsyncIterator[Reference]:
    """Run the reference in a task group of its own."""
    async with asyncio.TaskGroup() as group, Reference.start(group, life) as reference:
        yield reference


def trust(ca_pem: str, version: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED) -> ssl.SSLContext:
    """Return a client's context that verifies against the CA and speaks one version, or the newest."""
    context = ssl.create_default_context(cadata=ca_pem)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if version is not ssl.TLSVersion.MAXIMUM_SUPPORTED:
        context.minimum_version = version
    context.maximum_version = version
    return context


def open_plain(address: Address) -> socket.socket:
    """Connect, with a timeout on each later wait."""
    connection = socket.create_connection((address.host, address.port), timeout=PATIENCE)
    # Else a request waits for the acknowledgement of the Finished before it: 40 ms where TLS 1.2 resumes.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def refuses(address: Address) -> bool:
    """Say whether nobody listens there."""
    try:
        open_plain(address).close()
    except ConnectionRefusedError:
        return True
    return False


def visit(address: Address, context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> Visit:
    """Shake hands, offering the session, ask once and leave with the session that came."""
    with context.wrap_socket(open_plain(address), server_hostname=SERVER_NAME, session=session) as connection:
        connection.sendall(GET)
        answer = read_answer(connection)
        leaf = x509.load_der_x509_certificate(connection.getpeercert(binary_form=True) or b"")
        return Visit(
            resumed=bool(connection.session_reused),
            version=connection.version() or "",
            key_type="RSA" if isinstance(leaf.public_key(), RSAPublicKey) else "ECDSA",
            answer=answer,
            session=connection.session,
        )


def read_answer(connection: socket.socket) -> bytes:
    """Return one answer whose length is told in its head, or what came until the end."""
    received = b""
    while data := connection.recv(65536):
        received += data
        length = re.search(rb"Content-Length: (\d+)\r\n", received)
        _, found, body = received.partition(b"\r\n\r\n")
        if found and length and len(body) >= int(length[1]):
            break
    return received


def read_to_end(connection: socket.socket) -> bytes:
    """Return everything until the server closes."""
    received = b""
    while data := connection.recv(65536):
        received += data
    return received


def is_gone(pid: int) -> bool:
    """Say whether a process has ended; one that only waits to be reaped by init has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def memory(pid: int, file: str, field: str) -> int:
    """Return a figure of a process in KiB, such as VmRSS of status or Pss of smaps_rollup."""
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path(f"/proc/{pid}/{file}").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Look again and again until it holds or the time is up; return whether it held."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
