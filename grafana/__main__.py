"""Write the dashboards' JSON."""

from pathlib import Path

from grafana import fleet, itself, target, waves
from grafana.frame import Frame

FOLDER = Path(__file__).parent / "dashboards"
FRAMES: tuple[Frame, ...] = (fleet.FRAME, target.FRAME, waves.FRAME, itself.FRAME)


def main() -> None:
    """Write one file for each dashboard, named after its uid."""
    FOLDER.mkdir(exist_ok=True)
    for frame in FRAMES:
        (FOLDER / f"{frame.uid}.json").write_text(frame.json)


if __name__ == "__main__":
    main()
