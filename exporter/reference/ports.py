"""Ports of 127.0.0.1 that stay ours though nobody listens yet."""

import contextlib
import socket

from exporter.model.target import Address


def reserve(stack: contextlib.ExitStack) -> Address:
    """Take a free port of 127.0.0.1 for as long as the stack stands; raise OSError where there is none.

    The socket is bound but never listens, so the child can listen on the same port (both set SO_REUSEADDR), nobody
    else is given it, and while there is no child a client is refused at once.
    """
    holder = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return Address(*holder.getsockname())
