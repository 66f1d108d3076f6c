"""The status pages in a real browser, before hostile servers and while things change."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.support.wait import WebDriverWait

from exporter.demo.backend import Backend
from exporter.demo.keyring import Keyring, draw_key
from exporter.model.target import Address, Target, TlsSettings
from tests.demo.browser import DESKTOP, PHONE, Browser, browsing
from tests.metrics.rounds import target as target_of
from tests.web.status.test_history import fleet
from tests.web.status.test_places import PLACED
from tests.web.status.watching import watching

HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"


def hostile_pem() -> str:
    """Make a key and a certificate whose names and subject would run as a script in a careless page."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOSTILE[:64])])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOSTILE), x509.DNSName("site.test")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return (private + certificate.public_bytes(serialization.Encoding.PEM)).decode()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A browser with an empty profile."""
    with browsing(tmp_path) as started:
        yield started


@pytest.fixture
def backend() -> Iterator[Address]:
    """A backend with a hostile certificate."""
    server = Backend("127.0.0.1", 0, Keyring(draw_key(hostile_pem())))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        host, port = server.server_address[:2]
        yield Address(str(host), port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.servers("chromium", "chromedriver")
async def test_hostile_names(browser: Browser, backend: Address) -> None:
    """A script in a certificate's names, in a target's name or in a label is shown as text and never runs."""
    labels = (("team", HOSTILE),)
    target = Target(HOSTILE, backend, "site.test", tls=TlsSettings(verify=False), interval=5.0, labels=labels)
    async with watching(target) as (url, watcher):
        await watcher.look()
        shown = await asyncio.to_thread(_follow_first_link, browser, url)

    assert shown.count("<script>document.title='taken'</script>") >= 3


def _follow_first_link(browser: Browser, url: str) -> str:
    browser.open(f"{url}/", DESKTOP)
    browser.driver.find_element("css selector", "#targets a").click()
    browser.wait_for("#facts dl")
    assert browser.driver.title == f"well: {HOSTILE}"
    assert browser.count("main script, main img") == 0
    assert browser.complaints() == []
    assert browser.serious_faults() == []
    return browser.text()


@pytest.mark.servers("chromium", "chromedriver")
async def test_a_page_that_stays_open(browser: Browser, backend: Address) -> None:
    """New rounds come in by themselves, focus stays where it is, and a page that is paused says so."""
    target = Target("site", backend, "site.test", tls=TlsSettings(verify=False), interval=5.0)
    async with watching(target) as (url, watcher):
        await asyncio.to_thread(browser.open, f"{url}/targets/site", PHONE)
        assert "No round has been finished" in await asyncio.to_thread(browser.text)
        await watcher.look()
        await asyncio.to_thread(browser.wait_for, "#matrix")
        await asyncio.to_thread(_focus_and_pause, browser)
        assert await asyncio.to_thread(browser.complaints) == []


def _focus_and_pause(browser: Browser) -> None:
    browser.driver.execute_script("document.querySelector('#matrix .scroll').focus()")
    browser.driver.execute_async_script("refresh().then(arguments[0])")
    focused = browser.driver.execute_script("return document.activeElement.getAttribute('aria-label')")
    assert focused == "Who accepts whose ticket, TLS 1.3"
    browser.driver.find_element("css selector", ".live button").click()
    assert browser.text(".live span") == "paused"
    assert browser.overflow() <= 0


@pytest.mark.servers("chromium", "chromedriver")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_places(browser: Browser, dark: bool) -> None:
    """Where backends are is readable on a telephone and a desk, and hostile names of pods are text."""
    async with watching(PLACED.target) as (url, watcher):
        watcher.history.add(PLACED)
        for size in (DESKTOP, PHONE):
            await asyncio.to_thread(_look_at_places, browser, url, size, dark)


def _look_at_places(browser: Browser, url: str, size: tuple[int, int], dark: bool) -> None:
    browser.open(f"{url}/targets/shop", size, dark=dark)
    browser.wait_for("#places .place")
    told = browser.text("#places")
    assert "terminating, still serving" in told
    assert "not probed" in told
    assert "<img src=x" in told
    assert browser.count("main img") == 0
    assert browser.overflow() <= 0
    assert browser.serious_faults() == []
    assert browser.complaints() == []


@pytest.mark.servers("chromium", "chromedriver")
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "telephone"])
async def test_choosing_targets(browser: Browser, size: tuple[int, int]) -> None:
    """Typing shows fewer targets at once, and neither focus nor the choice is lost when new rounds come in."""
    names = ("till", "till-admin", "cart")
    async with watching(*map(target_of, names)) as (url, watcher):
        for name in names:
            watcher.history.add(fleet(0, name=name))
        await asyncio.to_thread(_type, browser, url, size)
        watcher.history.add(fleet(1, name="till"))
        await asyncio.to_thread(_see_that_it_stays, browser)


def _wait(browser: Browser, holds: Callable[[], bool]) -> None:
    settling = WebDriverWait(browser.driver, 20, 0.1, [StaleElementReferenceException])
    settling.until(lambda _: holds())


def _shown(browser: Browser) -> list[str]:
    return [each.text for each in browser.driver.find_elements("css selector", "#targets th a")]


def _type(browser: Browser, url: str, size: tuple[int, int]) -> None:
    browser.open(f"{url}/", size)
    assert len(_shown(browser)) == 3
    browser.driver.find_element("css selector", "#filter-words").send_keys("TILL")
    _wait(browser, lambda: _shown(browser) == ["till", "till-admin"])
    assert browser.text("#found") == "2 of 3 shown"
    assert browser.overflow() <= 0
    assert browser.serious_faults() == []


def _see_that_it_stays(browser: Browser) -> None:
    browser.driver.find_element("css selector", "#filter-words").send_keys("-")
    _wait(browser, lambda: _shown(browser) == ["till-admin"])
    browser.driver.execute_async_script("refresh().then(arguments[0])")
    assert _shown(browser) == ["till-admin"]
    assert browser.driver.execute_script("return document.activeElement.value") == "TILL-"
    assert browser.driver.current_url.endswith("/?q=TILL-")
    browser.driver.refresh()
    assert _shown(browser) == ["till-admin"]
    browser.driver.find_element("css selector", "#filter a").click()
    _wait(browser, lambda: len(_shown(browser)) == 3)
    assert browser.complaints() == []
