"""Probe TLS endpoints again and again and tell Prometheus what a handshake costs and whether sessions resume."""

__version__ = "0.1.0"
