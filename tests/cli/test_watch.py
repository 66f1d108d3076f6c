"""What `--watch` says of a fleet that changes."""

from dataclasses import replace

from exporter.cli.watch import tell_changes
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.fingerprint import SALT, fingerprint
from exporter.model.target import Address
from exporter.model.verdicts import RoundResult
from tests.simulation.world import World, alike
from tests.verdict.fleet import Server, named

A, B = named("a"), named("b")


def short(name: bytes) -> str:
    """Return a key's name as it is shown."""
    return f"{fingerprint(name, SALT):08x}"


async def follow(world: World, rounds: int, before: RoundResult | None) -> tuple[list[str], RoundResult]:
    """Make some rounds, and return what is said of them, and the last."""
    lines: list[str] = []
    for _ in range(rounds):
        result = await world.round()
        lines += tell_changes(before, result, SALT)
        before = result
    assert before is not None
    return lines, before


async def test_steady_fleet_is_told_once() -> None:
    """All of it is told in the beginning, and then nothing as long as nothing changes."""
    world = World(alike(2, Server(keys=[A])))
    first, result = await follow(world, 2, None)
    later, _ = await follow(world, 8, result)

    assert "127.0.1.1:443 is there" in first
    assert "TLS 1.3  127.0.1.2:443 resumes" in first
    assert f"TLS 1.3  127.0.1.1:443 has ticket key {short(A.head)}" in first
    assert "TLS 1.3  consistent" in first
    assert [] == later


async def test_rotation_is_told_backend_by_backend() -> None:
    """A key that rolls over a fleet is told at each backend, and so is the verdict on its way."""
    world = World(alike(2, Server(keys=[A])))
    _, result = await follow(world, 4, None)
    for servers in world.servers.values():
        servers[0].keys = [A, B]
    _, result = await follow(world, 1, result)
    one, two = world.servers.values()
    one[0].keys = [B, A]
    lines, result = await follow(world, 2, result)
    two[0].keys = [B, A]
    after, _ = await follow(world, 2, result)

    assert f"TLS 1.3  127.0.1.1:443 changed its ticket key from {short(A.head)} to {short(B.head)}" in lines
    assert "TLS 1.3  consistent -> rotating" in lines
    assert f"TLS 1.3  127.0.1.2:443 has ticket key {short(B.head)}" in after
    assert "TLS 1.3  rotating -> consistent" in after


async def test_backends_come_and_go() -> None:
    """A backend that is gone is told, and one that is there anew."""
    world = World(alike(2, Server(keys=[A])))
    _, result = await follow(world, 2, None)
    world.servers[Address("127.0.1.9", 443)] = world.servers.pop(Address("127.0.1.1", 443))
    lines, _ = await follow(world, 1, result)

    assert {"127.0.1.1:443 is gone", "127.0.1.9:443 is there"} <= set(lines)


async def test_failure_is_told_with_its_reason() -> None:
    """A backend that fails is told with what failed, and so is its coming back."""
    world = World(alike(2, Server(keys=[A])))
    _, result = await follow(world, 2, None)
    server = world.servers[Address("127.0.1.2", 443)][0]
    server.up = False
    down, result = await follow(world, 1, result)
    server.up = True
    up, _ = await follow(world, 2, result)

    assert "TLS 1.3  127.0.1.2:443 has failed: connect: connection refused" in down
    assert "TLS 1.3  127.0.1.2:443 resumes again, had failed" in up


async def test_name_that_stands_for_nothing() -> None:
    """A failure of the whole target is told once, as long as it stays the same."""
    world = World(alike(1, Server(keys=[A])))
    result = replace(await world.round(), failures=((None, Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME)),))

    assert "resolve: no such name" in list(tell_changes(None, result, SALT))
    assert [] == list(tell_changes(result, result, SALT))
