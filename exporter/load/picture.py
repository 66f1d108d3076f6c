"""A picture of latency against rate, by pygal, which is an optional extra of the package."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from exporter.load.capacity import Capacity

EXTRA = "plot"


class NoPictureError(RuntimeError):
    """The library that draws is not installed."""


def find_painter() -> Any:
    """Return the library.

    Raises:
        NoPictureError: it is not installed.
    """
    try:
        return import_module("pygal")
    except ImportError:
        raise NoPictureError(
            f"a picture needs pygal, which is not installed: pip install 'tls-resumption-exporter[{EXTRA}]'"
        ) from None


def draw(painter: Any, title: str, capacities: Sequence[Capacity]) -> str:
    """Return an SVG: a line for the p50 and the p99 of each mode, in ms, both axes logarithmic.

    Args:
        painter: what `find_painter` returned.
    """
    # Without scripts the file needs nothing from elsewhere when it is shown.
    chart = painter.XY(
        title=title,
        x_title="handshakes offered a second",
        y_title="handshake, ms since it was due",
        logarithmic=True,
        js=[],
        legend_at_bottom=True,
        width=900,
        height=500,
    )
    for capacity in capacities:
        ordered = sorted((step for step, _ in capacity.steps), key=lambda step: step.offered)
        for name in ("p50", "p99"):
            points = [
                (step.offered, time * 1e3) for step in ordered if (time := getattr(step.handshake, name)) is not None
            ]
            chart.add(f"{capacity.mode} {name}", points)
    return str(chart.render(is_unicode=True))
