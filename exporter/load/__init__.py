"""Handshakes on purpose, many at once: how many a server sustains, and what a wave of clients comes to."""
