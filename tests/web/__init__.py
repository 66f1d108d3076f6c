"""The HTTP side, with real sockets."""
