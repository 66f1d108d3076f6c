"""Names to addresses, with the system's resolver and with name services that fail in every way."""

import asyncio
import errno
import socket
import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from exporter.discovery.dns import Resolver, system_lookup
from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, Resolved, Target


def target(*endpoints: str) -> Target:
    """Return a target with an endpoint of its own, and these HOST:PORT backends beside it where there are several."""
    places = [Endpoint(host, int(port)) for host, _, port in (each.rpartition(":") for each in endpoints)]
    return Target("shop", places[0], "shop", backends=tuple(places[1:]))


class NameService:
    """A name service in memory: names with their answers, and names that hang until released."""

    def __init__(self, answers: Mapping[str, frozenset[str] | Exception]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.begun = threading.Event()
        self.released = threading.Event()

    def lookup(self, name: str) -> frozenset[str]:
        """Answer as the system would: late, with addresses or by raising."""
        self.asked.append(name)
        self.begun.set()
        if name.startswith("hangs"):
            self.released.wait(20)
        answer = self.answers.get(name, frozenset({"10.0.0.1"}))
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def service() -> Iterator[Callable[..., NameService]]:
    """Return a maker of name services, none of whose threads outlives the test."""
    made: list[NameService] = []

    def make(**answers: frozenset[str] | Exception) -> NameService:
        made.append(NameService(answers))
        return made[-1]

    yield make
    for each in made:
        each.released.set()
    for thread in threading.enumerate():
        if thread.name.startswith("resolve "):
            thread.join(20)


async def test_a_literal_asks_nobody(service: Callable[..., NameService]) -> None:
    """IP literals are addresses at once, whatever state the name service is in."""
    names = service()

    assert await Resolver(lookup=names.lookup).resolve(target("::1:443")) == Resolved((Address("::1", 443),))
    assert names.asked == []


async def test_the_host_file() -> None:
    """Names of the host file are resolved by the system's own resolver."""
    found = await Resolver().resolve(target("localhost:8443"))

    assert Address("127.0.0.1", 8443) in found.addresses
    assert found.failure is None


def test_system_lookup_has_no_doubles() -> None:
    """The system gives one answer for each socket type and address; an address is told once."""
    assert system_lookup("127.0.0.1") == frozenset({"127.0.0.1"})


async def test_a_and_aaaa(service: Callable[..., NameService]) -> None:
    """Every address of a name is a backend, in the same order each time."""
    names = service(shop=frozenset({"::2", "10.0.0.10", "::1", "10.0.0.9"}))
    found = await Resolver(lookup=names.lookup).resolve(target("shop:443"))

    assert [str(each) for each in found.addresses] == ["10.0.0.9:443", "10.0.0.10:443", "[::1]:443", "[::2]:443"]


async def test_backends_instead_of_the_endpoint(service: Callable[..., NameService]) -> None:
    """Listed backends, names and literals, take the endpoint's place; doubles are told once."""
    names = service(a=frozenset({"10.0.0.1"}), b=frozenset({"10.0.0.1", "10.0.0.2"}))
    asked = target("shop:443", "a:443", "b:443", "10.0.0.2:443", "b:9443", "a:443")
    found = await Resolver(lookup=names.lookup).resolve(asked)

    assert [str(each) for each in found.addresses] == [
        "10.0.0.1:443",
        "10.0.0.1:9443",
        "10.0.0.2:443",
        "10.0.0.2:9443",
    ]
    assert sorted(names.asked) == ["a", "b"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        pytest.param(socket.gaierror(socket.EAI_NONAME, "unknown"), Reason.NO_SUCH_NAME, id="no such name"),
        pytest.param(socket.gaierror(socket.EAI_NODATA, "no data"), Reason.NO_SUCH_NAME, id="no address"),
        pytest.param(socket.gaierror(socket.EAI_AGAIN, "later"), Reason.NAME_SERVICE, id="servers do not answer"),
        pytest.param(socket.gaierror(socket.EAI_FAIL, "broken"), Reason.NAME_SERVICE, id="servers fail"),
        pytest.param(socket.gaierror(12345, "new"), Reason.NAME_SERVICE, id="an unknown number"),
        pytest.param(OSError(errno.EMFILE, "files"), Reason.NAME_SERVICE, id="no file descriptor left"),
        pytest.param(UnicodeError("label too long"), Reason.NO_SUCH_NAME, id="not a host name"),
        pytest.param(MemoryError(), Reason.NAME_SERVICE, id="anything else"),
        pytest.param(frozenset(), Reason.NO_SUCH_NAME, id="an empty answer"),
    ],
)
async def test_failures(service: Callable[..., NameService], error: Exception, reason: Reason) -> None:
    """Whatever the name service does becomes one of the resolve stage's reasons."""
    found = await Resolver(lookup=service(shop=error).lookup).resolve(target("shop:443"))

    assert found.addresses == ()
    assert found.failure is not None
    assert (found.failure.stage, found.failure.reason) == (Stage.RESOLVE, reason)
    assert found.failure.detail.startswith("shop: ")
    assert reason in STAGE_REASONS[Stage.RESOLVE]


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("x" * 64 + ".example", id="a label too long"),
        pytest.param("a..b", id="an empty label"),
        pytest.param("zero\0byte", id="a zero byte"),
    ],
)
async def test_names_that_cannot_be(host: str) -> None:
    """Names that the system's resolver refuses to look at are failures like others."""
    found = await Resolver(deadline=10).resolve(target(f"{host}:443"))

    assert found.failure is not None
    assert found.failure.reason is Reason.NO_SUCH_NAME


async def test_the_last_addresses_are_kept_for_a_while(service: Callable[..., NameService]) -> None:
    """A name that fails is told, and what it stood for is given beside the failure until it is too old."""
    names, now = service(shop=frozenset({"10.0.0.1"})), 0.0
    resolver = Resolver(lookup=names.lookup, keep=600, clock=lambda: now)
    asked, known = target("shop:443"), (Address("10.0.0.1", 443),)
    first = await resolver.resolve(asked)
    names.answers["shop"] = socket.gaierror(socket.EAI_AGAIN, "later")
    now = 600.0
    kept = await resolver.resolve(asked)
    now = 600.5
    dropped = await resolver.resolve(asked)

    failure = Failure(Stage.RESOLVE, Reason.NAME_SERVICE, "shop: later")
    assert [first, kept, dropped] == [Resolved(known), Resolved(known, failure), Resolved((), failure)]


async def test_one_failing_backend_leaves_the_others(service: Callable[..., NameService]) -> None:
    """Of several names one may fail: it is told, and the others are probed."""
    names = service(bad=socket.gaierror(socket.EAI_NONAME, "unknown"), good=frozenset({"10.0.0.2"}))
    found = await Resolver(lookup=names.lookup).resolve(target("shop:443", "bad:443", "good:443"))

    assert found.addresses == (Address("10.0.0.2", 443),)
    assert found.failure == Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, "bad: unknown")


async def test_a_hanging_name_stops_nobody(service: Callable[..., NameService]) -> None:
    """A name without an answer ends at its deadline, holds one thread however often it is asked, and others go on."""
    names = service()
    resolver = Resolver(lookup=names.lookup, deadline=0.2)
    stuck, fine = target("hangs:443"), target("shop:443")
    answers = await asyncio.gather(*map(resolver.resolve, [stuck, stuck, fine, stuck]))
    again = await resolver.resolve(stuck)

    assert [each.failure and each.failure.reason for each in (*answers, again)] == [
        Reason.TIMEOUT,
        Reason.TIMEOUT,
        None,
        Reason.TIMEOUT,
        Reason.TIMEOUT,
    ]
    assert sorted(names.asked) == ["hangs", "shop"]


async def test_a_name_that_recovers(service: Callable[..., NameService]) -> None:
    """Once a hanging name answers, whoever waits at that moment gets the answer."""
    names = service(hangs=frozenset({"10.0.0.7"}))
    resolver = Resolver(lookup=names.lookup, deadline=10)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        waiting = group.create_task(resolver.resolve(target("hangs:443")))
        names.released.set()

    assert waiting.result() == Resolved((Address("10.0.0.7", 443),))


async def test_threads_are_bounded(service: Callable[..., NameService]) -> None:
    """With every thread stuck a further name waits for a free one, and gets it when a name answers."""
    names = service()
    resolver = Resolver(lookup=names.lookup, deadline=0.2, threads=2)
    stuck = await asyncio.gather(*(resolver.resolve(target(f"hangs{number}:443")) for number in range(5)))
    assert [each.failure and each.failure.reason for each in stuck] == [Reason.TIMEOUT] * 5
    assert len(names.asked) == 2

    names.released.set()
    patient = Resolver(lookup=names.lookup, deadline=10, threads=1)
    found = await asyncio.gather(*(patient.resolve(target(f"name{number}:443")) for number in range(20)))
    assert {each.failure for each in found} == {None}


async def test_cancelling_leaves_the_name_to_others(service: Callable[..., NameService]) -> None:
    """A round that is cancelled while it waits does not take the answer from another that waits, too."""
    names = service(hangs=frozenset({"10.0.0.7"}))
    resolver = Resolver(lookup=names.lookup, deadline=10)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        cancelled = group.create_task(resolver.resolve(target("hangs:443")))
        waiting = group.create_task(resolver.resolve(target("hangs:443")))
        assert await asyncio.to_thread(names.begun.wait, 10)
        cancelled.cancel()
        await asyncio.wait([cancelled])
        names.released.set()

    assert waiting.result().addresses == (Address("10.0.0.7", 443),)
