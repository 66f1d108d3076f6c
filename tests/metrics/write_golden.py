"""Write the golden expositions anew, to be read before they are committed: `python -m tests.metrics.write_golden`."""

from pathlib import Path

from exporter.metrics.exposition import render
from exporter.metrics.faults import Faults
from tests.metrics.scenes import SCENES, Unheard

GOLDEN = Path(__file__).parent / "golden"
FORMATS = {"txt": "text/plain", "openmetrics.txt": "application/openmetrics-text"}


def main() -> None:
    """Write one file for each scene and format."""
    for name, scene in SCENES.items():
        for ending, accept in FORMATS.items():
            body, _ = render(scene(), accept, Faults(Unheard()))
            (GOLDEN / f"{name}.{ending}").write_bytes(body)


if __name__ == "__main__":
    main()
