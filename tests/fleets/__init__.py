"""Fleets of real servers, probed in rounds and judged."""
