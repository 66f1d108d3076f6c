"""A headless Chromium, and what is asked of every page in it."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

from tests.servers.process import find_program

DESKTOP, PHONE = (1280, 900), (390, 844)
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_AXE = """
const done = arguments[arguments.length - 1];
axe.run().then((found) => done(found.violations.map((each) => `${each.impact}: ${each.id} at ${each.nodes[0].html}`)));
"""
_WIDTHS = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@dataclass(frozen=True, slots=True)
class Browser:
    """One window.

    Attributes:
        driver: for whatever else a test wants to know.
    """

    driver: Chrome

    def open(self, url: str, size: tuple[int, int] = DESKTOP, *, dark: bool = False) -> None:
        """Open a page at a size, as a telephone does where that is narrow."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get(url)

    def text(self, selector: str = "main") -> str:
        """Return what a reader sees of the first element that matches."""
        text: str = self.driver.execute_script("return document.querySelector(arguments[0]).innerText", selector)
        return text

    def count(self, selector: str) -> int:
        """Return how many elements match."""
        return len(self.driver.find_elements("css selector", selector))

    def wait_for(self, selector: str, seconds: float = 20) -> None:
        """Wait until an element is there."""
        WebDriverWait(self.driver, seconds, poll_frequency=0.1).until(lambda _: self.count(selector))

    def serious_faults(self) -> list[str]:
        """Return what axe-core finds to be serious or critical for people who need help to read."""
        source = files("axe_core_python").joinpath("axe.min.js").read_text()
        # Through the debugger, since the page's own policy lets no foreign script in.
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": source})
        found: Sequence[str] = self.driver.execute_async_script(_AXE)
        return [fault for fault in found if fault.startswith(("serious", "critical"))]

    def complaints(self) -> list[Mapping[str, Any]]:
        """Return what the console says, and forget it."""
        return list(self.driver.get_log("browser"))  # type: ignore[no-untyped-call]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        inner, outer = self.driver.execute_script(_WIDTHS)
        return int(inner) - int(outer)

    def picture(self, size: tuple[int, int]) -> bytes:
        """Return a PNG of the upper end of the page."""
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        return base64.b64decode(shot["data"])


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """Run a browser with nothing but an empty folder of its own until the block ends."""
    options = ChromeOptions()
    options.binary_location = str(find_program("chromium"))
    for flag in (*_FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(str(find_program("chromedriver"))))
    try:
        driver.set_script_timeout(20)
        driver.set_page_load_timeout(20)
        yield Browser(driver)
    finally:
        driver.quit()
