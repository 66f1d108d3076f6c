"""One backend of the fleet: a small HTTPS server whose ticket keys can be changed while it serves."""

import contextlib
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer, ThreadingTCPServer
from typing import Any, cast

from exporter.demo.keyring import Keyring

_BODY = b"This is a backend of the demonstration.\n"
_PATIENCE = 60.0  # seconds that an idle connection is kept


class Backend(ThreadingTCPServer):
    """Serves on one address.

    Attributes:
        keyring: of the connections that come from now on.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str, port: int, keyring: Keyring) -> None:
        self.keyring = keyring
        super().__init__((host, port), _Conversation)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client may go at any point."""


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "demo", ""
    timeout = _PATIENCE
    disable_nagle_algorithm = True

    def __init__(self, request: Any, client_address: Any, server: BaseServer) -> None:
        super().__init__(request, client_address, server)

    def setup(self) -> None:
        self.request.settimeout(self.timeout)
        self.request = cast("Backend", self.server).keyring.shake(self.request)
        super().setup()

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            with contextlib.suppress(OSError):
                self.request.unwrap()
            self.request.close()

    def do_GET(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(_BODY)))
        self.end_headers()
        self.wfile.write(_BODY)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- named so by the library
        """Say nothing."""
