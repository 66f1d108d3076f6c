"""Frozen facts that the layers hand to each other."""
