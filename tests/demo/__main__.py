"""Draw the pictures of the status page anew: `python -m tests.demo`."""

import tempfile
from pathlib import Path

from tests.demo.browser import browsing
from tests.demo.pictures import FOLDER, look_at_all
from tests.demo.playing import playing


def main() -> None:
    """Play the demonstration and take pictures while its fleet is split."""
    with tempfile.TemporaryDirectory() as folder, playing(speed=2.0) as demo, browsing(Path(folder)) as browser:
        demo.read_until("TLS 1.3 split")
        with demo.held():
            for view, picture in look_at_all(browser, demo.url):
                (FOLDER / f"{view.name}.png").write_bytes(picture)
                print(f"{view.name}: {len(picture)} bytes")


if __name__ == "__main__":
    main()
