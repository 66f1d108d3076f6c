"""A Service's backends through everything that an API server and the network can do to a watch."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from exporter.discovery.kubernetes.account import Account
from exporter.discovery.kubernetes.api import ApiServer as Api
from exporter.discovery.kubernetes.api import Bounds
from exporter.discovery.kubernetes.services import Services
from exporter.discovery.kubernetes.watch import Means
from exporter.model.failure import Failure, Reason
from exporter.model.source import BackendFacts, KubernetesService
from exporter.model.target import Address
from tests.discovery.kubernetes.apiserver import TOKEN, ApiServer, member, serve, slice_of, write_account
from tests.servers.certificates import Authority, Leaf

SERVICE = KubernetesService("web", "https")
A, B, C = (f"10.0.0.{number}" for number in (1, 2, 3))


@dataclass
class Cluster:
    """A fake API server, and what follows a Service there.

    Attributes:
        slept: the pauses that were meant to be made, in seconds.
    """

    server: ApiServer
    services: Services
    folder: Path
    slept: list[float] = field(default_factory=list)

    async def find(self, service: KubernetesService = SERVICE) -> tuple[set[str], Failure | None]:
        """Return the hosts that are to be probed now."""
        found, failure = await self.services.find(service, 30)
        return {address.host for address in found.ready}, failure

    async def settle(self, *hosts: str) -> None:
        """Wait until exactly these hosts are to be probed, and nothing is wrong with that."""
        await self.wait(lambda told: told == (set(hosts), None))

    async def wait(self, holds: Callable[[tuple[set[str], Failure | None]], bool]) -> None:
        """Wait until what is found is right."""
        deadline = time.monotonic() + 10
        while not holds(told := await self.find()):
            assert time.monotonic() < deadline, told
            await asyncio.sleep(0.01)


@asynccontextmanager
async def cluster_at(
    tmp_path: Path, authority: Authority, leaf: Leaf, bounds: Bounds, first_answer: float = 8.0
) -> AsyncIterator[Cluster]:
    """Give a cluster whose pauses between tries are a hundredth of what they are."""
    folder = tmp_path / "account"
    write_account(folder, authority)
    async with serve(leaf) as (server, url):
        api = Api(Account(url, folder), bounds)
        tasks: list[asyncio.Task[None]] = []

        def hold(work: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
            tasks.append(asyncio.get_running_loop().create_task(work, name=name))
            return tasks[-1]

        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            await asyncio.sleep(seconds / 100)

        means = Means(time.monotonic, sleep, lambda: 0.5)
        services = Services(api, means, hold, first_answer=first_answer)
        try:
            yield Cluster(server, services, folder, slept)
        finally:
            services.close()
            await asyncio.gather(*tasks, return_exceptions=True)
            await api.close()


@pytest.fixture
async def cluster(tmp_path: Path, authority: Authority, leaf: Leaf) -> AsyncIterator[Cluster]:
    """A cluster with two backends, whose watches end by themselves after a long time."""
    async with cluster_at(tmp_path, authority, leaf, Bounds(answer=10.0, watch=30)) as made:
        made.server.put(slice_of(member(A, pod="web-a"), member(B, pod="web-b")))
        yield made


async def test_list_and_changes(cluster: Cluster) -> None:
    """A list is what there is; each change after it counts at once, and needs no further list."""
    server = cluster.server
    await cluster.settle(A, B)
    server.put(slice_of(member(A), member(B), member(C)))
    await cluster.settle(A, B, C)
    server.put(slice_of(member("10.0.1.1"), name="shop-2"))
    await cluster.settle(A, B, C, "10.0.1.1")
    server.delete("shop-1")
    await cluster.settle("10.0.1.1")

    assert server.lists == 1
    assert server.requests[0]["labelSelector"] == "kubernetes.io/service-name=web"


async def test_one_watch_for_all(cluster: Cluster) -> None:
    """Targets that name the same Service, at whichever port, share one watch."""
    await cluster.settle(A, B)
    found, _ = await cluster.services.find(KubernetesService("web", 9443), 30)

    assert found.ready == {Address(A, 9443), Address(B, 9443)}
    cluster.server.put(slice_of(member(C)))
    await cluster.settle(C)
    assert (cluster.server.lists, len(cluster.server.watches)) == (1, 1)


async def test_facts_of_those_that_are_not_probed(cluster: Cluster) -> None:
    """Endpoints that are not ready or are about to go are no backends, but known with all that is said of them."""
    members = [
        member(A, pod="web-a"),
        member(B, pod="web-b", ready=False, serving=True, terminating=True),
        member(C, ready=False),
    ]
    cluster.server.put(slice_of(*members))
    await cluster.settle(A)
    found, _ = await cluster.services.find(SERVICE, 30)

    assert found.facts == {
        Address(A, 8443): BackendFacts(pod="web-a", node="node-1", zone="zone-a"),
        Address(B, 8443): BackendFacts(False, True, True, "web-b", "node-1", "zone-a"),
        Address(C, 8443): BackendFacts(False, False, False, "", "node-1", "zone-a"),
    }


async def test_dropped_streams(cluster: Cluster) -> None:
    """A watch that breaks goes on from where it was: what happened meanwhile is heard, and nothing is listed anew."""
    server = cluster.server
    await cluster.settle(A, B)
    for hosts in ((A,), (A, C), (B,)):
        server.drop_streams()
        server.put(slice_of(*map(member, hosts)))
        await cluster.settle(*hosts)

    assert server.lists == 1


@pytest.mark.parametrize("as_status", [True, False], ids=["by the answer's status", "by an event"])
async def test_gone(cluster: Cluster, as_status: bool) -> None:
    """A version that is too old leads to a new list, so that news which were never told are known all the same."""
    server = cluster.server
    await cluster.settle(A, B)
    server.put(slice_of(member(C)), tell=False)
    if as_status:
        server.too_old = True
        server.drop_streams()
    else:
        server.fail_watch(410)
    await cluster.settle(C)

    assert server.lists == 2


async def test_bookmarks(cluster: Cluster) -> None:
    """A bookmark changes no backend, and the next watch begins from its version."""
    server = cluster.server
    await cluster.settle(A, B)
    server.bookmark()
    server.put(slice_of(member(C)))
    await cluster.settle(C)
    server.bookmark()
    deadline = time.monotonic() + 10
    while server.version not in server.watches:
        assert time.monotonic() < deadline
        server.drop_streams()
        await asyncio.sleep(0.05)

    await cluster.settle(C)
    assert server.lists == 1


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"not json", id="no JSON"),
        pytest.param(b"[" * 5000, id="too deep"),
        pytest.param(b'{"type": "ADDED", "object": {"metadata": {"name": "x"}}}', id="no version"),
        pytest.param(b'{"type": "ADDED", "object": {"endpoints": 5}}', id="another shape"),
        pytest.param(b'{"type": "SHOUTED", "object": {}}', id="an unknown type"),
        pytest.param(b'{"type": "ERROR", "object": {"code": 500}}', id="an error of the server's"),
    ],
)
async def test_invalid_events(cluster: Cluster, line: bytes) -> None:
    """An event that makes no sense may hide news, so all is listed anew."""
    server = cluster.server
    await cluster.settle(A, B)
    server.put(slice_of(member(C)), tell=False)
    server.say_nonsense(line)
    await cluster.settle(C)

    assert server.lists == 2


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"items": []}', b'{"metadata": {"resourceVersion": 5}}'])
async def test_invalid_lists(cluster: Cluster, body: bytes) -> None:
    """A list that is none is a failure of the resolve stage, until the next try brings a good one."""
    cluster.server.bodies += [body, body]
    _, failure = await cluster.find()
    await cluster.settle(A, B)

    assert failure is not None
    assert failure.reason is Reason.NAME_SERVICE
    assert cluster.server.lists == 3


async def test_an_outage(cluster: Cluster) -> None:
    """While the API server is out of order the last backends are given, beside the failure; then all is well again."""
    server = cluster.server
    await cluster.settle(A, B)
    server.statuses += [500, 503] * 10
    server.put(slice_of(member(C)), tell=False)
    server.fail_watch(410)
    await cluster.wait(lambda told: told[1] is not None)
    hosts, failure = await cluster.find()
    server.statuses.clear()
    await cluster.settle(C)

    assert hosts == {A, B}
    assert failure is not None
    assert failure.reason is Reason.NAME_SERVICE


async def test_a_renewed_token(cluster: Cluster, authority: Authority) -> None:
    """The token's file is read for each request, so that the kubelet's renewal is taken up without a restart."""
    server = cluster.server
    await cluster.settle(A, B)
    server.accepted = "second-token"
    server.put(slice_of(member(C)), tell=False)
    server.fail_watch(410)
    await cluster.wait(lambda told: told[1] is not None)
    write_account(cluster.folder, authority, "second-token")
    await cluster.settle(C)

    assert f"Bearer {TOKEN}" == server.tokens[0]
    assert server.tokens[-1] == "Bearer second-token"


async def test_a_foreign_authority(tmp_path: Path, authority: Authority, leaf: Leaf) -> None:
    """An API server that the service account's CA has not signed for gets no token."""
    async with cluster_at(tmp_path, authority, leaf, Bounds(answer=10.0)) as cluster:
        pem = (cluster.folder / "ca.crt").read_text()
        (cluster.folder / "ca.crt").write_text("none")
        _, unreadable = await cluster.find()
        (cluster.folder / "ca.crt").write_text(pem)
        cluster.server.put(slice_of(member(A)))
        await cluster.settle(A)

    assert unreadable is not None
    assert "ca.crt" in unreadable.detail


async def test_a_slow_server(tmp_path: Path, authority: Authority, leaf: Leaf) -> None:
    """A list without an answer ends at its deadline and is asked for again; nobody waits for it longer than allowed."""
    async with cluster_at(tmp_path, authority, leaf, Bounds(answer=0.3)) as cluster:
        cluster.server.put(slice_of(member(A)))
        cluster.server.answering.clear()
        _, failure = await cluster.find()
        cluster.server.answering.set()
        await cluster.settle(A)

    assert failure is not None
    assert failure.reason is Reason.NAME_SERVICE


async def test_a_server_that_never_answers(tmp_path: Path, authority: Authority, leaf: Leaf) -> None:
    """A target waits for a Service that was not heard of for no longer than its own bound."""
    async with cluster_at(tmp_path, authority, leaf, Bounds(answer=60.0), first_answer=0.2) as cluster:
        cluster.server.answering.clear()
        hosts, failure = await cluster.find()

    assert hosts == set()
    assert failure is not None
    assert failure.reason is Reason.TIMEOUT


async def test_a_list_in_parts(cluster: Cluster) -> None:
    """A list that comes in parts is put together."""
    cluster.server.page = 2
    for number in range(5):
        cluster.server.put(slice_of(member(f"10.1.0.{number}"), name=f"part-{number}"))
    await cluster.settle(A, B, *(f"10.1.0.{number}" for number in range(5)))

    assert cluster.server.lists == 3


async def test_a_list_whose_next_part_is_gone(cluster: Cluster) -> None:
    """A list that expires between two of its parts is begun anew, and none of its halves is taken for the whole."""
    server = cluster.server
    server.page = 1
    server.put(slice_of(member(C), name="shop-2"))
    server.expired = 1
    hosts, failure = await cluster.find()
    parts = ["continue" in query for query in server.requests if "watch" not in query]

    assert (hosts, failure) == ({A, B, C}, None)
    assert parts == [False, True, False, True]


async def test_lists_whose_next_part_is_always_gone(cluster: Cluster) -> None:
    """A list that never comes to its end is told of, and the backends of before are given until it does."""
    server = cluster.server
    await cluster.settle(A, B)
    server.page, server.expired = 1, 10**6
    server.put(slice_of(member(C), name="shop-2"), tell=False)
    server.fail_watch(410)
    await cluster.wait(lambda told: told[1] is not None)
    hosts, _ = await cluster.find()
    server.expired = 0
    await cluster.settle(A, B, C)

    assert hosts == {A, B}


async def test_both_families(cluster: Cluster) -> None:
    """The slices of IPv4 and of IPv6 that one Service has are backends side by side, each with its pod."""
    six = {**slice_of(member("2001:db8::1", pod="web-a"), name="shop-v6"), "addressType": "IPv6"}
    cluster.server.put(six)
    await cluster.settle(A, B, "2001:db8::1")
    found, _ = await cluster.services.find(SERVICE, 30)

    assert {found.facts[Address(host, 8443)].pod for host in (A, "2001:db8::1")} == {"web-a"}
    cluster.server.delete("shop-v6")
    await cluster.settle(A, B)


async def test_an_address_that_moves(cluster: Cluster) -> None:
    """An address that moves may be in neither slice for a moment, or in both: the set is what was said last."""
    server = cluster.server
    await cluster.settle(A, B)
    server.put(slice_of(member(A)))
    await cluster.settle(A)
    server.put(slice_of(member(B), name="shop-2"))
    await cluster.settle(A, B)
    server.put(slice_of(member(A), member(B)))
    server.put(slice_of(member(C), name="shop-2"))
    await cluster.settle(A, B, C)

    assert server.lists == 1


async def test_a_deleted_service(cluster: Cluster) -> None:
    """A Service that is deleted takes its slices along: it has no endpoints then, and is back when it is made anew."""
    server = cluster.server
    await cluster.settle(A, B)
    server.delete("shop-1")
    await cluster.wait(lambda told: told[1] is not None)
    hosts, failure = await cluster.find()
    server.put(slice_of(member(C), name="shop-3"))
    await cluster.settle(C)

    assert hosts == set()
    assert failure is not None
    assert (failure.reason, "no endpoints" in failure.detail) == (Reason.NO_SUCH_NAME, True)
    assert server.lists == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        pytest.param(401, "the service account's token is not taken", id="401"),
        pytest.param(403, "the service account may not list and watch endpointslices", id="403"),
        pytest.param(404, "status 404", id="404"),
        pytest.param(429, "status 429", id="429"),
        pytest.param(504, "status 504", id="504"),
    ],
)
async def test_refusals(cluster: Cluster, status: int, words: str) -> None:
    """What the server refuses is told in words; the backends of before are given, and it is asked again."""
    server = cluster.server
    await cluster.settle(A, B)
    server.statuses += [status] * 1000
    server.put(slice_of(member(C)), tell=False)
    server.fail_watch(410)
    await cluster.wait(lambda told: told[1] is not None and words in told[1].detail)
    hosts, _ = await cluster.find()
    server.statuses.clear()
    await cluster.settle(C)

    assert hosts == {A, B}


async def test_retry_after(tmp_path: Path, authority: Authority, leaf: Leaf) -> None:
    """A server that says when to come again is not asked before, and one that says nonsense as soon as any other."""
    async with cluster_at(tmp_path, authority, leaf, Bounds(answer=10.0)) as cluster:
        server = cluster.server
        server.put(slice_of(member(A)))
        for said in ("7", "soon", "99999999999999", "3600"):
            server.statuses.append(429)
            server.retry_after = said
            server.fail_watch(410)
            before = len(cluster.slept)
            await cluster.wait(lambda told, before=before: len(cluster.slept) > before and not server.statuses)  # type: ignore[misc]
        await cluster.settle(A)

    assert [seconds for seconds in cluster.slept if seconds >= 7] == [7.0, 60.0]


async def test_a_restored_server(cluster: Cluster) -> None:
    """A server that was set back does not know our version; all is listed anew, not asked for in vain for ever."""
    server = cluster.server
    await cluster.settle(A, B)
    server.bookmark(100)
    server.put(slice_of(member(A)))
    await cluster.settle(A)
    server.restore()
    server.put(slice_of(member(C)), tell=False)
    await cluster.settle(C)

    assert server.lists == 2


async def test_huge_versions(cluster: Cluster) -> None:
    """A version is any text: one that is too long for a request line leads to lists instead of watches."""
    server = cluster.server
    await cluster.settle(A, B)
    event = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9" * 200_000}}}
    server.put(slice_of(member(C)), tell=False)
    server.say_nonsense(json.dumps(event).encode())

    def holds(told: tuple[set[str], Failure | None]) -> bool:
        server.drop_streams()
        return told == ({C}, None)

    await cluster.wait(holds)


async def test_gzip(cluster: Cluster) -> None:
    """Answers that are packed though nobody asked for that are read as they come, event by event."""
    server = cluster.server
    server.packed = True
    await cluster.settle(A, B)
    for hosts in ((A,), (A, C)):
        server.put(slice_of(*map(member, hosts)))
        await cluster.settle(*hosts)

    assert server.lists == 1


async def test_watches_that_end(tmp_path: Path, authority: Authority, leaf: Leaf) -> None:
    """A watch that the server ends after the time that was asked for is followed by another, and the backends stay."""
    async with cluster_at(tmp_path, authority, leaf, Bounds(answer=10.0, watch=1.0)) as cluster:
        cluster.server.put(slice_of(member(A)))
        await cluster.settle(A)
        deadline = time.monotonic() + 10
        while len(cluster.server.watches) < 2:
            assert time.monotonic() < deadline
            assert await cluster.find() == ({A}, None)
            await asyncio.sleep(0.02)

        assert cluster.server.lists == 1


@pytest.mark.parametrize(
    ("members", "port", "words"),
    [
        pytest.param([], "https", "it has no endpoints", id="no endpoint"),
        pytest.param([member(A, ready=False)], "https", "none of 1 endpoints is ready", id="none is ready"),
        pytest.param([member(A)], "htps", "no port is named htps, there is https", id="a misspelt port"),
    ],
)
async def test_nothing_to_probe(cluster: Cluster, members: list[dict[str, object]], port: str, words: str) -> None:
    """A Service without a backend is a failure like a name without an address, with what there is instead."""
    cluster.server.put(slice_of(*members))
    hosts, failure = await cluster.find(KubernetesService("web", port))

    assert hosts == set()
    assert failure is not None
    assert failure.reason is Reason.NO_SUCH_NAME
    assert words in failure.detail
