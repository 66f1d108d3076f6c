"""The listeners of a real child process, asked by the standard library's client."""

import asyncio
import contextlib
import socket
import ssl

import pytest

from exporter.reference.answers import BODY
from exporter.reference.listeners import Listener
from exporter.reference.server import HEAD_BYTES, MOST_THREADS
from exporter.reference.supervisor import Reference
from tests.reference.client import (
    GET,
    Visit,
    memory,
    open_plain,
    read_answer,
    read_to_end,
    running,
    trust,
    visit,
)

TLS12, TLS13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
ROUNDS = 50
MEMORY_KIB = 40 * 1024


def visit_thrice(reference: Reference, context: ssl.SSLContext) -> tuple[Visit, Visit, Visit]:
    """Take a ticket from A, and offer it to B and to C."""
    first = visit(reference.addresses[Listener.A], context)
    return (
        first,
        visit(reference.addresses[Listener.B], context, first.session),
        visit(reference.addresses[Listener.C], context, first.session),
    )


@pytest.mark.parametrize("version", [TLS12, TLS13])
async def test_tickets(version: ssl.TLSVersion) -> None:
    """B always resumes what A issued and C never does, in a process that stays small."""
    async with running() as reference:
        context = trust(reference.ca_pem, version)
        visits = [await asyncio.to_thread(visit_thrice, reference, context) for _ in range(ROUNDS)]
        assert {(False, True, False)} == {tuple(each.resumed for each in three) for three in visits}
        assert {BODY} == {each.answer.partition(b"\r\n\r\n")[2] for three in visits for each in three}

        assert reference.pid
        assert memory(reference.pid, "status", "VmRSS") < MEMORY_KIB


@pytest.mark.parametrize(
    ("listener", "version", "key_type", "resumes"),
    [
        pytest.param(Listener.RSA, TLS13, "RSA", True, id="RSA certificate"),
        pytest.param(Listener.TLS12, TLS12, "ECDSA", True, id="TLS 1.2 alone"),
        pytest.param(Listener.NO_TICKETS, TLS13, "ECDSA", False, id="no tickets"),
        pytest.param(Listener.A, TLS13, "ECDSA", True, id="A"),
    ],
)
async def test_listener(listener: Listener, version: ssl.TLSVersion, key_type: str, resumes: bool) -> None:
    """Each listener has its version, its key and its way with tickets, and no other version."""
    async with running() as reference:
        address = reference.addresses[listener]
        context = trust(reference.ca_pem, version)
        first = await asyncio.to_thread(visit, address, context)
        second = await asyncio.to_thread(visit, address, context, first.session)

        assert {"TLSv1.2" if version is TLS12 else "TLSv1.3"} == {first.version, second.version}
        assert resumes is second.resumed
        assert key_type == first.key_type
        if listener is not Listener.A:
            other = trust(reference.ca_pem, TLS13 if version is TLS12 else TLS12)
            with pytest.raises(ssl.SSLError):
                await asyncio.to_thread(visit, address, other)


async def test_keep_alive() -> None:
    """A connection carries request after request, also several in one piece."""
    async with running() as reference:
        with open_plain(reference.addresses[Listener.PLAIN]) as connection:
            for _ in range(3):
                connection.sendall(GET)
                assert read_answer(connection).endswith(BODY)
            connection.sendall(GET + GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            answers = await asyncio.to_thread(read_to_end, connection)
            assert 2 == answers.count(BODY)


async def test_closing_over_tls() -> None:
    """A server that closes after an answer says so inside TLS, and not by cutting the connection."""
    async with running() as reference:
        context = trust(reference.ca_pem)
        raw = open_plain(reference.addresses[Listener.A])
        with context.wrap_socket(raw, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as connection:
            connection.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert read_to_end(connection).endswith(BODY)


async def test_long_head() -> None:
    """A head without end is refused once it is too long, and not collected any further."""
    async with running() as reference:
        with open_plain(reference.addresses[Listener.PLAIN]) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * HEAD_BYTES)
            assert (await asyncio.to_thread(read_to_end, connection)).startswith(b"HTTP/1.1 431 ")


async def test_silent_clients() -> None:
    """Clients that say nothing hold up nobody while threads are left, and are sent away when their time is up."""
    async with running() as reference:
        address = reference.addresses[Listener.A]
        with contextlib.ExitStack() as stack:
            silent = [stack.enter_context(open_plain(address)) for _ in range(MOST_THREADS - 1)]
            assert not (await asyncio.to_thread(visit, address, trust(reference.ca_pem))).resumed
            assert b"" == await asyncio.to_thread(read_to_end, silent[0])


async def test_memory_when_full() -> None:
    """The process stays small with every thread of every listener in the middle of a conversation."""

    def converse(reference: Reference, stack: contextlib.ExitStack) -> None:
        context = trust(reference.ca_pem)
        contexts = {Listener.PLAIN: None, Listener.TLS12: trust(reference.ca_pem, TLS12)}
        for listener, address in reference.addresses.items():
            for _ in range(MOST_THREADS):
                stack.enter_context(hold(open_plain(address), contexts.get(listener, context)))

    def hold(raw: socket.socket, context: ssl.SSLContext | None) -> socket.socket:
        connection = context.wrap_socket(raw, server_hostname="127.0.0.1") if context else raw
        connection.sendall(GET)
        assert read_answer(connection).endswith(BODY)
        return connection

    async with running() as reference:
        with contextlib.ExitStack() as stack:
            await asyncio.to_thread(converse, reference, stack)
            assert reference.pid
            assert memory(reference.pid, "status", "VmRSS") < MEMORY_KIB
