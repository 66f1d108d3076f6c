"""The composition root: the only place that knows all the parts."""

from exporter.app.process import Start, run

__all__ = ["Start", "run"]
