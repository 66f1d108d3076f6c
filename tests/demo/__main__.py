"""Draw the pictures of the status page anew: `python -m tests.demo`."""

import tempfile
import time
from pathlib import Path

from tests.demo.browser import browsing
from tests.demo.pictures import FOLDER, look_at_all
from tests.demo.playing import Demo, playing


def main() -> None:
    """Play the demonstration and take pictures while its fleet is split."""
    with tempfile.TemporaryDirectory() as folder, playing("--step") as demo, browsing(Path(folder)) as browser:
        while "TLS 1.3 split" not in demo.next_page():
            _wait_for_rounds(demo, 10)
        _wait_for_rounds(demo, 10)
        for view, picture in look_at_all(browser, demo.url):
            (FOLDER / f"{view.name}.png").write_bytes(picture)
            print(f"{view.name}: {len(picture)} bytes")


def _wait_for_rounds(demo: Demo, number: int) -> None:
    """Let the state stand for a while, so that the lanes show it."""
    begun = demo.value("tlsprobe_rounds_total", target="shop")
    deadline = time.monotonic() + 60
    while demo.value("tlsprobe_rounds_total", target="shop") < begun + number and time.monotonic() < deadline:
        time.sleep(0.5)


if __name__ == "__main__":
    main()
