"""A server without TLS, for those that only unwrap it to have something behind them."""

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

_BODY = b"plain\n"


class Plain:
    """HTTP/1.1 on 127.0.0.1, served by threads of this process between open() and close()."""

    def __init__(self) -> None:
        """Take a free port, which stays the same from one open() to the next."""
        self._server = _listen(0)
        self.port = self._server.server_address[1]
        self._server.server_close()
        self._thread: Thread | None = None

    def open(self) -> None:
        """Begin to serve."""
        self._server = _listen(self.port)
        # A short poll, since shutdown() waits for the next one.
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; does nothing where it has ended."""
        if self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._thread = None


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10.0  # seconds, for a connection that stays idle

    def do_GET(self) -> None:  # the library asks for this name
        """Answer with a few bytes, whatever was asked for."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", str(len(_BODY)))
        self.end_headers()
        self.wfile.write(_BODY)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - so the library calls it
        """Say nothing."""


class _Threads(ThreadingHTTPServer):
    block_on_close = False  # connections that the tunnel keeps open must not hold us up


def _listen(port: int) -> ThreadingHTTPServer:
    return _Threads(("127.0.0.1", port), _Answer)
