"""The pages, over real sockets and of real rounds, with scripts off."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from exporter.demo import fleet
from exporter.demo.fleet import Fleet, Order
from exporter.model.target import Address, Endpoint, Expect, HttpSettings, Resumption, Target, TlsSettings
from exporter.reference.certificates import Credentials, make_credentials
from exporter.reference.listeners import SERVER_NAME
from exporter.web.door import Door
from tests.servers import nginx
from tests.servers.certificates import SERVER_NAME as SITE_NAME
from tests.servers.certificates import Authority, Leaf
from tests.servers.fleet import addresses
from tests.servers.ports import Ports
from tests.web.client import Answer, fetch
from tests.web.status.watching import watching

NAMES = ("shop", "a/b", "..", ".", "50 % & <b>", "Straße 'x'", "?#")


@pytest.fixture(scope="module")
def credentials() -> Credentials:
    """Certificates for the backends."""
    return make_credentials()


@pytest.fixture(scope="module")
def backends(credentials: Credentials) -> Iterator[Fleet]:
    """Three backends with one key."""
    with fleet.start(credentials, "key 1") as running:
        yield running


def shop(backends: Fleet, credentials: Credentials, name: str = "shop") -> Target:
    """Make a target of all backends."""
    return Target(
        name,
        backends.addresses[0],
        SERVER_NAME,
        backends=backends.addresses,
        tls=TlsSettings(ca_pem=credentials.ca),
        http=HttpSettings(path="/?token=hidden", headers=(("Authorization", "Bearer hidden"),)),
        interval=10.0,
        timeout=5.0,
    )


async def get(url: str, **headers: str) -> Answer:
    """Ask for a page."""
    place = urlsplit(url)
    path = place.path + (f"?{place.query}" if place.query else "")
    return await fetch(Address(place.hostname or "", place.port or 0), path, **headers)


class Links(HTMLParser):
    """Collects where a page leads, and what in it would run."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[str] = []
        self.loose: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        given = dict(attrs)
        self.places += [place for name in ("href", "src") if (place := given.get(name)) and not place.startswith("#")]
        if (tag == "script" and "src" not in given) or tag in {"style", "iframe", "base"}:
            self.loose.append(tag)
        self.loose += [name for name in given if name == "style" or name.startswith("on")]


def links(answer: Answer) -> Links:
    """Read a page."""
    found = Links()
    found.feed(answer.body.decode())
    return found


@pytest.mark.parametrize("prefix", ["", "/tls/probe"])
async def test_every_link_leads_somewhere(backends: Fleet, credentials: Credentials, prefix: str) -> None:
    """From the first page each target is found, whatever its name, and nothing on the way is of another host."""
    targets = [shop(backends, credentials, name) for name in NAMES]
    async with watching(*targets, door=Door(("127.0.0.1:0",), prefix=prefix)) as (url, watcher):
        await watcher.look()
        first = await get(f"{url}{prefix}/")
        todo = [urljoin(f"{url}{prefix}/", place) for place in links(first).places]
        pages = {place: await get(place) for place in todo if "ready" not in place}
        inner = {
            urljoin(place, each): None
            for place, page in pages.items()
            if "targets" in place and "api" not in place
            for each in links(page).places
        }
        answers = [await get(place) for place in inner]

    assert all(place.startswith(f"{url}{prefix}/") for place in (*todo, *inner))
    assert {page.status for page in (*pages.values(), *answers)} == {200}
    bodies = [page.body.decode() for page in pages.values()]
    assert sum("<h1>" in body for body in bodies) >= len(NAMES)


async def test_policy(backends: Fleet, credentials: Credentials) -> None:
    """Pages come with a policy that lets no foreign or inline script run, and they hold none."""
    async with watching(shop(backends, credentials)) as (url, watcher):
        await watcher.look()
        pages = [await get(f"{url}/"), await get(f"{url}/targets/shop")]

    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert links(page).loose == []


async def test_a_split_fleet(backends: Fleet, credentials: Credentials) -> None:
    """The page says in words who is split from whom, and the API says the same."""
    async with watching(shop(backends, credentials)) as (url, watcher):
        await asyncio.to_thread(backends.obey, Order(2, "another key"))
        await watcher.look(2)
        page = (await get(f"{url}/targets/shop", Accept_Encoding="identity")).body.decode()
        document = json.loads((await get(f"{url}/api/v1/targets/shop")).body)
        overview = json.loads((await get(f"{url}/api/v1/targets")).body)
        await asyncio.to_thread(backends.obey, Order(2, "key 1"))

    odd = str(backends.addresses[2])
    assert f"Against the majority: {odd}" in page
    assert re.search(r'class="offer no against"[^>]*>.*?refused in the last round', page)
    assert page.count('class="lane one odd"') == 2
    assert [(each["tls"], each["state"], each["odd_backends"]) for each in document["versions"]] == [
        ("1.2", "split", [odd]),
        ("1.3", "split", [odd]),
    ]
    refused = {(each["issuer"], each["acceptor"]) for each in document["by_version"]["1.3"]["offers"]
               if each["outcome"] == "refused"}  # fmt: skip
    assert all(odd in pair for pair in refused)
    assert len(refused) >= 2
    assert overview["targets"][0]["status"] == "finding"


async def test_what_is_meant_is_not_red(backends: Fleet, credentials: Credentials) -> None:
    """Where each backend is meant to have a key of its own, no sign of a fault stands on either page."""
    meant = replace(shop(backends, credentials), expect=Expect(resumption=Resumption.PER_BACKEND))
    async with watching(meant) as (url, watcher):
        await asyncio.to_thread(backends.obey, Order(2, "another key"))
        await watcher.look(2)
        page = (await get(f"{url}/targets/shop", Accept_Encoding="identity")).body.decode()
        overview = (await get(f"{url}/", Accept_Encoding="identity")).body.decode()
        await asyncio.to_thread(backends.obey, Order(2, "key 1"))

    for body in (page, overview):
        assert "split, as allowed" in body
        assert "bar-bad" not in body
        assert not re.search(r'class="(chip|piece|row|word) bad"', body)
        assert not re.search(r'class="[^"]*\bodd\b', body)
    assert "bar-mute" in overview


@pytest.mark.servers("nginx")
async def test_resumption_that_is_meant_to_be_off(
    tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """Where nothing is meant to resume, a server that resumes nothing shows no sign of a fault on either page."""
    (address,) = addresses(ports.claim(), 1)
    tls, expect = TlsSettings(ca_file=str(authority.file)), Expect(resumption=Resumption.OFF)
    target = Target("off", address, SITE_NAME, tls=tls, expect=expect, interval=5.0, timeout=2.0)
    with nginx.start(tmp_path, address, nginx.Settings(leaf=leaf, tickets=False)):
        async with watching(target) as (url, watcher):
            await watcher.look(4)
            page = (await get(f"{url}/targets/off", Accept_Encoding="identity")).body.decode()
            overview = (await get(f"{url}/", Accept_Encoding="identity")).body.decode()

    assert "broken, as allowed" in page
    assert "no tickets, as allowed" in page
    assert "did not take the session ids back" in page
    for body in (page, overview):
        assert "bar-bad" not in body
        assert not re.search(r'class="(?!tile)[^"]*\bbad\b', body)  # but for the count of targets that are down
    assert 'class="piece mute"' in page
    assert re.search(r'class="offer mute home"[^>]*refused', page)
    assert "refused, as allowed" in page
    assert not re.search(r'class="(offer|sign)[^"]*\bno\b[^>]*>✗', page)


async def test_a_break_is_red(backends: Fleet, credentials: Credentials) -> None:
    """A rotation that kills tickets leaves the fleet consistent, but what it cost is no less a fault."""
    async with watching(shop(backends, credentials)) as (url, watcher):
        await watcher.look(2)
        before = (await get(f"{url}/", Accept_Encoding="identity")).body.decode()
        for number in range(len(backends.addresses)):
            await asyncio.to_thread(backends.obey, Order(number, "sudden"))
        await watcher.look(3)
        after = (await get(f"{url}/", Accept_Encoding="identity")).body.decode()
        for number in range(len(backends.addresses)):
            await asyncio.to_thread(backends.obey, Order(number, "key 1"))

    assert "consistent" in after
    assert ("bar-bad" in before, "bar-bad" in after) == (False, True)


async def test_missing(backends: Fleet, credentials: Credentials) -> None:
    """A target that is not there is 404 on the page and in the API, and its name does no harm."""
    async with watching(shop(backends, credentials)) as (url, _):
        page = await get(f"{url}/targets/{quote('<script>alert(1)</script>')}")
        document = await get(f"{url}/api/v1/targets/nobody")
        asset = await get(f"{url}/status/status.py")
        nope = await get(f"{url}/targets/nope", Accept_Encoding="identity")
        nameless = [await get(f"{url}/targets"), await get(f"{url}/targets/")]

    assert [(each.status, each.headers["location"]) for each in nameless] == [(302, "./"), (302, "../")]
    assert b"<title>no such target</title>" in nope.body
    assert (page.status, document.status, asset.status) == (404, 404, 404)
    assert b"<script>alert" not in page.body
    assert json.loads(document.body) == {"error": "no target of that name"}


async def test_a_target_that_is_down() -> None:
    """Before the first round a target waits; when nobody answers, it is down, and the reason stands on its page."""
    gone = Target("gone", Endpoint("127.0.0.1", 1), SERVER_NAME, interval=5.0, timeout=1.0)
    nowhere = Target("nowhere", Endpoint("nowhere.invalid", 443), SERVER_NAME, interval=5.0, timeout=1.0)
    async with watching(gone, nowhere) as (url, watcher):
        before = json.loads((await get(f"{url}/api/v1/targets/gone")).body)
        waiting = await get(f"{url}/targets/gone")
        await watcher.look()
        after = json.loads((await get(f"{url}/api/v1/targets/gone")).body)
        page = await get(f"{url}/targets/gone")
        overview = (await get(f"{url}/", Accept_Encoding="identity")).body.decode()
        missing = json.loads((await get(f"{url}/api/v1/targets/nowhere")).body)
        empty = await get(f"{url}/targets/nowhere", Accept_Encoding="identity")

    assert (before["status"], after["status"]) == ("waiting", "down")
    assert waiting.status == 200
    assert {(each["stage"], each["reason"]) for each in after["failures"]} == {("connect", "connection_refused")}
    assert b"connection refused" in page.body
    assert "no backend could be judged. Failed (connect: connection refused): 127.0.0.1:1." in overview
    assert "no backend could be judged. Failed (resolve: " in overview  # how depends on the name service
    assert all("Failed (resolve: " in each["text"] for each in missing["versions"])
    assert b"there was no backend to ask" in empty.body
    assert b"legend" not in empty.body
    assert b"Handshakes</h2><p" in page.body  # that there was none


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        pytest.param("", 400, "/probe?target=NAME; configured are: shop", id="no target"),
        pytest.param("?target=evil.example:443", 404, "configured are: shop", id="a free host name"),
        pytest.param("?target=shop", 200, "\nprobe_success 1\n", id="configured"),
        pytest.param("?target=shop&debug=true", 200, "probe_success 1\n", id="debug"),
    ],
)
async def test_probe(backends: Fleet, credentials: Credentials, query: str, status: int, words: str) -> None:
    """Configured targets are probed when asked for, others are not, and the daemon's own memory stays as it is."""
    async with watching(shop(backends, credentials)) as (url, watcher):
        await watcher.look()
        before = watcher.history.find("shop")
        answer = await get(f"{url}/probe{query}", X_Prometheus_Scrape_Timeout_Seconds="10")
        after = watcher.history.find("shop")

    assert answer.status == status
    assert words in answer.body.decode()
    assert before is after
    assert b"hidden" not in answer.body
    if "debug" in query:
        assert all(part in answer.body.decode() for part in ("# Log", "# Settings", "<struck out>", "# Metrics"))


async def test_probe_in_time(credentials: Credentials) -> None:
    """A server that says nothing makes the probe fail before the scraper gives up, with the reason."""

    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    writers: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    try:
        mute = Target("mute", Endpoint(*server.sockets[0].getsockname()), SERVER_NAME, interval=60.0, timeout=30.0)
        async with watching(mute) as (url, _), asyncio.timeout(8):
            many = await asyncio.gather(
                *(get(f"{url}/probe?target=mute", X_Prometheus_Scrape_Timeout_Seconds="1.2") for _ in range(2))
            )
    finally:
        for writer in writers:
            writer.transport.abort()
        server.close()

    for answer in many:
        assert answer.status == 200
        assert b"\nprobe_success 0\n" in answer.body
        families = text_string_to_metric_families(answer.body.decode())
        failed = {
            (sample.labels["stage"], sample.labels["reason"])
            for family in families
            for sample in family.samples
            if sample.name == "tlsprobe_failures_total" and sample.value
        }
        assert failed
        assert failed <= {("handshake", "timeout"), ("probe", "unreached")}
