"""Whose turn it is."""

import asyncio

import pytest

from gateway_core.errors import RelayRefused
from gateway_core.relay.large.turns import Turns

pytestmark = pytest.mark.anyio


async def order(turns: Turns, tenants: str) -> str:
    """Return in which order tenants get their turns, each of which ends at once."""
    found: list[str] = []

    async def one(tenant: str) -> None:
        await turns.take(tenant)
        found.append(tenant)
        turns.give_back(tenant)

    await asyncio.gather(*(one(tenant) for tenant in tenants))
    return "".join(found)


async def test_a_tenant_with_many_waits_for_those_with_few() -> None:
    turns = Turns(1, 1)
    await turns.take("a")
    waiting = asyncio.create_task(order(turns, "aaaabc"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    turns.give_back("a")
    assert (await waiting)[:3] == "abc"


async def test_no_tenant_takes_every_turn() -> None:
    turns = Turns(2, 1)
    await turns.take("a")
    second = asyncio.create_task(turns.take("a"))
    await turns.take("b")
    assert not second.done()
    turns.give_back("a")
    await second


async def test_a_task_that_is_given_up_keeps_no_turn() -> None:
    turns = Turns(1, 1)
    await turns.take("a")
    waits = asyncio.create_task(turns.take("b"))
    await asyncio.sleep(0)
    turns.give_back("a")
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert await order(turns, "ab") == "ab"


async def test_a_bounded_number_of_one_tenant_waits() -> None:
    turns = Turns(1, 1)
    await turns.take("a")
    waiting = [asyncio.create_task(turns.take("a")) for _ in range(64)]
    await asyncio.sleep(0)
    with pytest.raises(RelayRefused):
        await turns.take("a")
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
