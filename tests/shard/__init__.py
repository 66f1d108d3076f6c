"""Targets parted among exporters."""
