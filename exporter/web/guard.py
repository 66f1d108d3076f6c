"""Who may come in: the limit of requests first, then the password, as Prometheus's own exporters do it."""

from collections.abc import Callable, Mapping

from aiohttp import web

from exporter.web.lock import Lock
from exporter.web.passwords import Answer, Passwords, parse_credentials
from exporter.web.rate import Bucket

_RETRY_SECONDS = 5


class Guard:
    """Asks each request for what the lock demands.

    Args:
        lock: the one that holds now.
        passwords: what checks them.
        clock: seconds that never go back.
    """

    def __init__(self, lock: Callable[[], Lock], passwords: Passwords, clock: Callable[[], float]) -> None:
        self._lock = lock
        self._passwords = passwords
        self._clock = clock
        self._bucket: Bucket | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """What each answer is sent with."""
        return self._lock().headers

    async def refuse(self, request: web.Request) -> web.Response | None:
        """Return the answer for whoever may not come in, None for who may."""
        lock = self._lock()
        if not self._allows(lock):
            return _refusal(429, "Too Many Requests")
        if not lock.users:
            return None
        credentials = parse_credentials(request.headers.get("Authorization", ""))
        if credentials is None:
            return _unauthorized()
        user, password = credentials
        match await self._passwords.check(lock.users, user, password, request.remote or ""):
            case Answer.RIGHT:
                return None
            case Answer.WRONG:
                return _unauthorized()
            case Answer.BUSY:
                return _refusal(503, "Service Unavailable", {"Retry-After": str(_RETRY_SECONDS)})

    def _allows(self, lock: Lock) -> bool:
        if lock.rate is None:
            self._bucket = None
            return True
        if self._bucket is None or self._bucket.limit != lock.rate:
            self._bucket = Bucket(lock.rate, self._clock)
        return self._bucket.take()


def _unauthorized() -> web.Response:
    return _refusal(401, "Unauthorized", {"WWW-Authenticate": "Basic"})


def _refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=f"{status} {reason}\n", headers=headers)
