"""Passwords: what is right, and what guesses may cost."""

import asyncio
import threading

import pytest

from exporter.web.passwords import Answer, Passwords, Patience, parse_credentials, verify_bcrypt
from tests.web.client import DEADLINE, until
from tests.web.locks import HASH, PASSWORD

USERS = {b"alice": b"hash of alice", b"bob": b"hash of bob"}


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return what it shows."""
        return self.now


class Bcrypt:
    """A verification that takes the word `right`, and notes what it was asked; it takes as long as the test says."""

    def __init__(self) -> None:
        self.asked: list[tuple[bytes, bytes]] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.at_once = 0
        self.most_at_once = 0

    def __call__(self, password: bytes, stored: bytes) -> bool:
        """Verify once the test lets it go on."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.go_on.wait(DEADLINE)
        self.asked.append((password, stored))
        self.at_once -= 1
        return password == b"right"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param("Basic YWxpY2U6c2VjcmV0", (b"alice", b"secret"), id="as curl sends it"),
        pytest.param("bAsIc YWxpY2U6c2VjcmV0", (b"alice", b"secret"), id="in other letters"),
        pytest.param("Basic YTpiOmM=", (b"a", b"b:c"), id="a colon in the password"),
        pytest.param("Basic Og==", (b"", b""), id="both empty"),
        pytest.param("Basic w6Q6w7Y=", ("ä".encode(), "ö".encode()), id="UTF-8"),
        pytest.param("", None, id="nothing"),
        pytest.param("Basic", None, id="no credentials"),
        pytest.param("Bearer YWxpY2U6c2VjcmV0", None, id="another scheme"),
        pytest.param("Basic YWxpY2U=", None, id="no colon"),
        pytest.param("Basic YWxp?", None, id="not base64"),
        pytest.param("Basic YWx\udcc3", None, id="no text at all"),
    ],
)
def test_credentials(header: str, expected: tuple[bytes, bytes] | None) -> None:
    """User and password are taken from the header as Go takes them, and from nothing else."""
    assert expected == parse_credentials(header)


@pytest.mark.parametrize(
    ("user", "password", "expected"),
    [
        pytest.param(b"alice", b"right", Answer.RIGHT, id="right"),
        pytest.param(b"alice", b"wrong", Answer.WRONG, id="wrong"),
        pytest.param(b"alice", b"", Answer.WRONG, id="empty"),
        pytest.param(b"mallory", b"right", Answer.WRONG, id="somebody else's password"),
        pytest.param(b"", b"right", Answer.WRONG, id="no user"),
    ],
)
async def test_answers(user: bytes, password: bytes, expected: Answer) -> None:
    """A user is let in by the own password alone, and each first try costs one verification, known user or not."""
    bcrypt = Bcrypt()

    assert await Passwords(bcrypt, Clock()).check(USERS, user, password, "here") is expected
    assert len(bcrypt.asked) == 1


async def test_an_unknown_user_is_like_a_known_one() -> None:
    """An unknown user is held against the same hash each time, so that its cost tells nothing."""
    bcrypt = Bcrypt()
    passwords = Passwords(bcrypt, Clock())
    for _ in range(5):
        await passwords.check(USERS, b"mallory", b"guess", "here")

    assert len({stored for _, stored in bcrypt.asked}) == 1
    assert {stored for _, stored in bcrypt.asked} <= set(USERS.values())


async def test_what_was_right_is_remembered() -> None:
    """A right password is verified once, until the hash is another one; what is wrong is verified each time."""
    bcrypt = Bcrypt()
    passwords = Passwords(bcrypt, Clock())
    answers = [await passwords.check(USERS, b"alice", b"right", "here") for _ in range(3)]
    assert answers == [Answer.RIGHT] * 3
    assert len(bcrypt.asked) == 1

    await passwords.check({b"alice": b"another hash"}, b"alice", b"right", "here")
    await passwords.check(USERS, b"bob", b"right", "here")
    for _ in range(2):
        await passwords.check(USERS, b"alice", b"wrong", "here")
    assert len(bcrypt.asked) == 5


async def test_what_was_right_of_a_user_who_is_gone() -> None:
    """A password that was remembered lets nobody in once its user is gone, though another one has the same hash."""
    passwords = Passwords(Bcrypt(), Clock())
    assert await passwords.check({b"alice": b"hash"}, b"alice", b"right", "here") is Answer.RIGHT

    assert await passwords.check({b"bob": b"hash"}, b"alice", b"right", "here") is Answer.WRONG


async def test_the_memory_is_bounded() -> None:
    """Of many users the last hundred are remembered."""
    bcrypt = Bcrypt()
    passwords = Passwords(bcrypt, Clock())
    users = {f"user {number}".encode(): b"hash" for number in range(101)}
    for user in [*users, *list(users)[1:]]:
        await passwords.check(users, user, b"right", "here")
    assert len(bcrypt.asked) == 101

    await passwords.check(users, b"user 0", b"right", "here")
    assert len(bcrypt.asked) == 102


async def test_one_at_a_time_and_few_in_the_queue() -> None:
    """Guesses wait for each other, one client cannot fill the queue, and a user who is known waits for nobody."""
    bcrypt = Bcrypt()
    passwords = Passwords(bcrypt, Clock(), Patience(waiting=5, waiting_of_one=2))
    assert await passwords.check(USERS, b"alice", b"right", "scraper") is Answer.RIGHT
    bcrypt.go_on.clear()
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        guesses = [
            group.create_task(passwords.check(USERS, b"bob", f"guess {number}".encode(), client))
            for client in ("one", "two", "three", "four")
            for number in range(10)
        ]
        await until(lambda: sum(each.done() for each in guesses) >= 34)
        assert await passwords.check(USERS, b"alice", b"right", "scraper") is Answer.RIGHT
        bcrypt.go_on.set()

    answers = [each.result() for each in guesses]
    assert answers.count(Answer.WRONG) == 6  # one that was at it, and five that waited
    assert [answers[start : start + 10].count(Answer.WRONG) for start in (0, 10, 20, 30)] == [3, 2, 1, 0]
    assert bcrypt.most_at_once == 1


async def test_nobody_waits_for_ever() -> None:
    """Who has waited for too long is sent away, and his place is free again."""
    bcrypt = Bcrypt()
    passwords = Passwords(bcrypt, Clock(), Patience(waiting=1, seconds=0.05))
    bcrypt.go_on.clear()
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        first = group.create_task(passwords.check(USERS, b"alice", b"right", "one"))
        await until(lambda: bcrypt.at_once == 1)
        late = [await passwords.check(USERS, b"alice", b"right", "two") for _ in range(2)]
        bcrypt.go_on.set()

    assert late == [Answer.BUSY] * 2
    assert first.result() is Answer.RIGHT


async def test_guesses_get_a_share_of_a_processor() -> None:
    """After a verification there is a pause in proportion to what it took, less what has gone by since."""
    clock = Clock()
    pauses = []

    def slow(_password: bytes, _stored: bytes) -> bool:
        clock.now += 0.1
        return False

    async def rest(seconds: float) -> None:
        pauses.append(round(seconds, 6))
        clock.now += seconds

    passwords = Passwords(slow, clock, Patience(share=0.25), rest)
    for gone_by in (0.0, 0.2, 60.0, 0.0):
        clock.now += gone_by
        await passwords.check(USERS, b"alice", b"wrong", "here")

    assert pauses == [0.0, 0.1, 0.0, 0.3]


async def test_a_verification_with_a_bug_ends_nothing() -> None:
    """A verification that raises is an error of that one request, and the next has its turn."""
    errors = [ValueError("a bug")]

    def broken(password: bytes, _stored: bytes) -> bool:
        if errors:
            raise errors.pop()
        return password == b"right"

    passwords = Passwords(broken, Clock())
    with pytest.raises(ValueError, match="a bug"):
        await passwords.check(USERS, b"alice", b"right", "here")

    assert await passwords.check(USERS, b"alice", b"right", "here") is Answer.RIGHT


@pytest.mark.parametrize(
    ("password", "right"),
    [
        pytest.param(PASSWORD.encode(), True, id="right"),
        pytest.param(b"correct hors", False, id="too short"),
        pytest.param(b"", False, id="empty"),
        pytest.param(b"correct\0horse", False, id="a byte that ends texts in C"),
    ],
)
def test_bcrypt(password: bytes, right: bool) -> None:
    """The hash is checked by bcrypt itself."""
    assert verify_bcrypt(password, HASH.encode()) is right


async def test_long_passwords() -> None:
    """The hash looks at 72 bytes, so what follows is left out, and is no error."""
    bcrypt = Bcrypt()
    await Passwords(bcrypt, Clock()).check(USERS, b"alice", b"x" * 100, "here")

    assert [len(password) for password, _ in bcrypt.asked] == [72]
