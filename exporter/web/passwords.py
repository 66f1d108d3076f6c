"""Basic authentication that costs an attacker more than us.

bcrypt is slow on purpose, so one password is checked at a time, in a thread, and after each check there is a pause, so
that guesses cannot take more than a share of one processor. What was right is remembered, as a hash with a key that
lives in this process alone, so that a scrape does not wait for bcrypt but once.
"""

import asyncio
import binascii
import secrets
from base64 import b64decode
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from hashlib import blake2b

from exporter.aside import aside

_LONGEST = 72  # bytes that bcrypt looks at; what follows never counted
_REMEMBERED = 100

Verify = Callable[[bytes, bytes], bool]
"""Whether a password has a bcrypt hash; slow, and called in a thread."""


class Answer(Enum):
    """What came of a password."""

    RIGHT = auto()
    WRONG = auto()
    BUSY = auto()
    """Too many others are to be checked first."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How much of us guesses may take.

    Attributes:
        share: of one processor's time.
        waiting: passwords in the queue.
        waiting_of_one: those of one client address.
        seconds: in the queue.
    """

    share: float = 0.2
    waiting: int = 16
    waiting_of_one: int = 4
    seconds: float = 8.0


class Passwords:
    """Checks passwords, one at a time.

    Args:
        verify: bcrypt's check.
        clock: seconds that never go back.
        patience: how much of us guesses may take.
        rest: sleeps for so many seconds.
    """

    def __init__(
        self,
        verify: Verify,
        clock: Callable[[], float],
        patience: Patience = Patience(),
        rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._verify = verify
        self._clock = clock
        self._patience = patience
        self._rest = rest
        self._secret = secrets.token_bytes(32)
        self._right: OrderedDict[bytes, None] = OrderedDict()
        self._waiting: Counter[str] = Counter()
        self._turn = asyncio.Lock()
        self._rested = clock()

    async def check(self, users: Mapping[bytes, bytes], user: bytes, password: bytes, client: str) -> Answer:
        """Return whether the user has this password.

        Args:
            users: bcrypt hashes by user, at least one.
            client: the address that it came from.
        """
        # An unknown user is held against somebody's hash, always the same one's, so that time does not tell.
        known = user in users
        stored = users[user] if known else sorted(users.values())[self._number(user) % len(users)]
        mark = self._hash(user, stored, password)
        if known and self._remembers(mark):
            return Answer.RIGHT
        patience = self._patience
        if self._waiting.total() >= patience.waiting or self._waiting[client] >= patience.waiting_of_one:
            return Answer.BUSY
        self._waiting[client] += 1
        try:
            async with asyncio.timeout(patience.seconds):
                await self._turn.acquire()
        except TimeoutError:
            return Answer.BUSY
        finally:
            self._waiting -= Counter((client,))  # which leaves out those at none
        try:
            if known and self._remembers(mark):  # somebody asked the same meanwhile
                return Answer.RIGHT
            await self._rest(max(0.0, self._rested - self._clock()))
            right = await self._verify_aside(password[:_LONGEST], stored) and known
        finally:
            self._turn.release()
        if right:
            self._remember(mark)
        return Answer.RIGHT if right else Answer.WRONG

    async def _verify_aside(self, password: bytes, stored: bytes) -> bool:
        """Ask bcrypt, and make up for its time with a pause before the next."""
        begun = self._clock()
        try:
            return await aside(lambda: self._verify(password, stored), "password")
        finally:
            ended = self._clock()
            self._rested = ended + (ended - begun) * (1 / self._patience.share - 1)

    def _remembers(self, mark: bytes) -> bool:
        if mark not in self._right:
            return False
        self._right.move_to_end(mark)
        return True

    def _remember(self, mark: bytes) -> None:
        self._right[mark] = None
        if len(self._right) > _REMEMBERED:
            self._right.popitem(last=False)

    def _number(self, user: bytes) -> int:
        return int.from_bytes(blake2b(user, digest_size=8, key=self._secret).digest(), "big")

    def _hash(self, *parts: bytes) -> bytes:
        joined = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return blake2b(joined, digest_size=32, key=self._secret).digest()


def parse_credentials(header: str) -> tuple[bytes, bytes] | None:
    """Return user and password of an Authorization header (RFC 7617), None where it has none."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = b64decode(encoded, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return None
    return (user, password) if colon else None


def verify_bcrypt(password: bytes, stored: bytes) -> bool:
    """Return whether a password of up to 72 bytes has this hash, in a time that does not depend on where it differs."""
    from bcrypt import checkpw  # noqa: PLC0415 -- most have no passwords, and need not carry it

    return checkpw(password, stored)
