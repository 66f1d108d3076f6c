"""Bytes in, bytes out: TLS and HTTP without sockets, clocks or an event loop."""
