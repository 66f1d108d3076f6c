"""Measuring what TLS costs: handshakes, requests and bytes, by a plain client against servers that tell their use."""
