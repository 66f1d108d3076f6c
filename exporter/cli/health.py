"""`tlsprobe health`: ask a running exporter whether it is well, for images and units that have no other client."""

import http.client
import sys
from urllib.parse import urlsplit

OK, FAILED = 0, 1
_PATH = "/-/healthy"
_SECONDS = 3.0  # of each wait
_MOST_BYTES = 1024
_FORMS = "http://HOST:PORT, with a path where it is not /-/healthy"


def health(url: str) -> int:
    """Print what the page says and return 0 where it says 200, else 1.

    Args:
        url: plain HTTP; without a path, the page /-/healthy is asked for.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return _fail(f"{url} is no URL; allowed: {_FORMS}")
    if parts.scheme != "http" or host is None or parts.username is not None:
        return _fail(f"{url} cannot be asked for health; allowed: {_FORMS}")
    connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request("GET", f"{parts.path.rstrip('/') or _PATH}{f'?{parts.query}' if parts.query else ''}")
        answer = connection.getresponse()
        text = answer.read(_MOST_BYTES).decode(errors="replace").strip()
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _fail(f"{url}: {str(error).strip() or type(error).__name__}")
    finally:
        connection.close()
    if answer.status != http.client.OK:
        return _fail(f"{url}: {answer.status} {text}")
    print(_printable(text))
    return OK


def _printable(text: str) -> str:
    """Return one line; whoever answers may be anybody."""
    return "".join(character if character.isprintable() else " " for character in text)


def _fail(text: str) -> int:
    print(_printable(text), file=sys.stderr)
    return FAILED
