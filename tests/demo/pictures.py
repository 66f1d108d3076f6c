"""What is looked at while the fleet is split, and the pictures of it in the documentation."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.demo.browser import DESKTOP, PHONE, Browser

FOLDER = Path(__file__).parents[2] / "docs" / "images"


@dataclass(frozen=True, slots=True)
class View:
    """One picture.

    Attributes:
        name: of its file.
        path: of the page.
        window: its width and height.
        height: of the picture.
    """

    name: str
    path: str
    window: tuple[int, int]
    height: int
    dark: bool = False


VIEWS = (
    View("status-overview", "/", DESKTOP, 620),
    View("status-target", "/targets/shop", DESKTOP, 1250),
    View("status-target-dark", "/targets/shop", DESKTOP, 1250, dark=True),
    View("status-target-phone", "/targets/shop", PHONE, 1900),
    View("status-overview-phone", "/", PHONE, 844, dark=True),
)


def look_at_all(browser: Browser, url: str) -> Iterator[tuple[View, bytes]]:
    """Open each page and yield it with its picture."""
    for view in VIEWS:
        browser.open(url + view.path, view.window, dark=view.dark)
        yield view, browser.picture((view.window[0], view.height))
