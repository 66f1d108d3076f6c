"""One at a time per address."""

import asyncio

from exporter.model.target import Address
from exporter.probe.gates import Gates

HERE, THERE = Address("127.0.0.1", 1), Address("127.0.0.1", 2)


async def test_one_at_a_time() -> None:
    """Those at one address come in turn and in order, while another address is free."""
    gates = Gates()
    inside: list[str] = []
    trace: list[str] = []

    async def visit(name: str, address: Address) -> None:
        await gates.enter(address)
        inside.append(name)
        trace.append("+".join(sorted(inside)))
        await asyncio.sleep(0)
        inside.remove(name)
        gates.leave(address)

    async with asyncio.TaskGroup() as group:
        for name, address in (("a", HERE), ("b", HERE), ("x", THERE), ("c", HERE)):
            group.create_task(visit(name, address))

    assert trace in (["a", "a+x", "b", "c"], ["a", "a+x", "b+x", "c"])


async def test_cancelled_guest_keeps_nobody_out() -> None:
    """Who gives up waiting, or is given up just as its turn comes, leaves the way free."""
    gates = Gates()
    await gates.enter(HERE)
    async with asyncio.TaskGroup() as group:
        impatient = group.create_task(gates.enter(HERE))
        unlucky = group.create_task(gates.enter(HERE))
        patient = group.create_task(gates.enter(HERE))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        gates.leave(HERE)
        unlucky.cancel()
        await asyncio.wait_for(patient, 1)
    gates.leave(HERE)
    await asyncio.wait_for(gates.enter(HERE), 1)


async def test_all_give_up_at_once() -> None:
    """A holder and those who wait, all cancelled together as at the end of a round, leave the way free."""
    gates = Gates()

    async def stay() -> None:
        await gates.enter(HERE)
        try:
            await asyncio.sleep(60)
        finally:
            gates.leave(HERE)

    async with asyncio.TaskGroup() as group:
        guests = [group.create_task(stay()) for _ in range(4)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for guest in guests:
            guest.cancel()

    assert [True] * 4 == [guest.cancelled() for guest in guests]
    await asyncio.wait_for(gates.enter(HERE), 1)
