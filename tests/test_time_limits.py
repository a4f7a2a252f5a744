"""Time limits: what becomes of a block that runs out of time, and of everybody else."""

import asyncio
import gc
import threading
import weakref
from math import inf
from typing import Any

import pytest

from gateway_core import time_limits
from gateway_core.time_limits import TimeLimit

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Everything here works on both event loops."""
    return "asyncio", {"use_uvloop": request.param}


def watch() -> Any:
    found = getattr(time_limits._thread, "watch", None)
    assert found is not None
    return found


def this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def forever() -> None:
    await asyncio.Event().wait()


async def limited(limit: TimeLimit, left_by: list[str] | None = None) -> None:
    """Wait in the block of ``limit`` for ever, and note what leaves it."""
    with limit:
        try:
            await forever()
        except BaseException as error:
            if left_by is not None:
                left_by.append(type(error).__name__)
            raise


async def until_the_timer_has_fired() -> None:
    fired = asyncio.Event()
    asyncio.get_running_loop().call_at(watch().due + 0.002, fired.set)
    await fired.wait()


async def test_a_block_that_ends_in_time_is_left_alone() -> None:
    with TimeLimit(30):
        await asyncio.sleep(0)
        assert len(watch().under_way) == 1
    assert not watch().under_way
    assert this_task().cancelling() == 0


async def test_a_block_that_runs_out_of_time_raises_a_timeout_and_not_early() -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    with pytest.raises(TimeoutError), TimeLimit(0.03):
        await forever()
    assert loop.time() >= started + 0.03
    assert this_task().cancelling() == 0
    await asyncio.sleep(0)


@pytest.mark.parametrize("seconds", [0, -1])
async def test_a_block_without_any_time_ends_at_its_first_wait(seconds: float) -> None:
    left_by: list[str] = []
    with pytest.raises(TimeoutError):
        await limited(TimeLimit(seconds), left_by)
    assert left_by == ["CancelledError"]


async def test_an_endless_limit_sets_no_timer() -> None:
    before = watch().due if hasattr(time_limits._thread, "watch") else inf
    with TimeLimit(inf):
        await asyncio.sleep(0)
        assert watch().due in (before, inf)


async def test_a_cancellation_by_somebody_else_is_no_timeout() -> None:
    task = asyncio.create_task(limited(TimeLimit(30)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    assert not watch().under_way


@pytest.mark.parametrize("first", ["limit", "caller"])
async def test_a_cancellation_as_the_time_runs_out_wins(first: str) -> None:
    seen: list[int] = []

    async def cancelled_twice() -> None:
        limit = TimeLimit(30)
        both = [lambda: run_out(limit), this_task().cancel]
        for cancel in both if first == "limit" else reversed(both):
            asyncio.get_running_loop().call_soon(cancel)
        try:
            await limited(limit)
        finally:
            seen.append(this_task().cancelling())

    task = asyncio.create_task(cancelled_twice())
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == [1]


def run_out(limit: TimeLimit) -> None:
    watch().under_way[limit] = -inf
    watch()._look()


async def test_an_inner_limit_is_told_apart_from_an_outer_one() -> None:
    with TimeLimit(30):
        with pytest.raises(TimeoutError):
            await limited(TimeLimit(0.01))
        await asyncio.sleep(0)
    assert this_task().cancelling() == 0


async def test_an_outer_limit_passes_through_an_inner_one() -> None:
    left_by: list[str] = []
    with pytest.raises(TimeoutError), TimeLimit(0.01):
        await limited(TimeLimit(30), left_by)
    assert left_by == ["CancelledError"]
    assert this_task().cancelling() == 0
    assert not watch().under_way


async def test_two_nested_limits_that_run_out_together_are_the_outer_ones_timeout() -> None:
    outer, inner = TimeLimit(30), TimeLimit(30)

    def both() -> None:
        watch().under_way[outer] = -inf
        run_out(inner)

    asyncio.get_running_loop().call_soon(both)
    left_by: list[str] = []
    with pytest.raises(TimeoutError), outer:
        await limited(inner, left_by)
    assert left_by == ["CancelledError"]
    assert this_task().cancelling() == 0


@pytest.mark.parametrize(("own_s", "asyncios_s"), [(0.01, 30), (30, 0.01)])
async def test_limits_and_those_of_asyncio_nest(own_s: float, asyncios_s: float) -> None:
    with pytest.raises(TimeoutError), TimeLimit(own_s):
        async with asyncio.timeout(asyncios_s):
            await forever()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(asyncios_s):
            await limited(TimeLimit(own_s))
    assert this_task().cancelling() == 0


async def test_time_that_runs_out_as_the_wait_ends_is_a_timeout_all_the_same() -> None:
    limit = TimeLimit(30)
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def at_once() -> None:
        done.set_result(None)
        run_out(limit)

    asyncio.get_running_loop().call_soon(at_once)
    with pytest.raises(TimeoutError), limit:
        await done
    assert this_task().cancelling() == 0
    await asyncio.sleep(0)


async def test_a_block_that_was_left_is_never_cancelled_afterwards() -> None:
    with TimeLimit(0.01):
        pass
    await until_the_timer_has_fired()
    assert this_task().cancelling() == 0


async def test_a_block_may_end_in_its_own_way_although_its_time_is_over() -> None:
    async def fail_when_cancelled() -> None:
        try:
            await forever()
        except asyncio.CancelledError:
            raise LookupError from None

    with TimeLimit(0.01), pytest.raises(asyncio.CancelledError):
        await forever()
    assert this_task().cancelling() == 0
    with pytest.raises(LookupError), TimeLimit(0.01):
        await fail_when_cancelled()
    assert this_task().cancelling() == 0


async def test_many_limits_run_out_each_in_its_own_time() -> None:
    early: list[float] = []
    loop = asyncio.get_running_loop()

    async def note(seconds: float) -> None:
        until = loop.time() + seconds
        with pytest.raises(TimeoutError):
            await limited(TimeLimit(seconds))
        if loop.time() < until:
            early.append(seconds)

    await asyncio.gather(*map(note, [0.2, 0.1, 0.05] + [0.001] * 50))
    assert early == []


async def test_a_short_limit_does_not_wait_for_a_long_one_that_began_before_it() -> None:
    long = asyncio.create_task(limited(TimeLimit(3000)))
    await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        await limited(TimeLimit(0.01))
    assert len(watch().under_way) == 1
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long


async def test_one_timer_serves_all_and_none_is_left_when_nothing_is_under_way() -> None:
    with TimeLimit(30):
        timer = watch()._timer
        for _ in range(1000):
            with TimeLimit(60):
                await asyncio.sleep(0)
            assert watch()._timer is timer
    with TimeLimit(0.01):
        assert watch()._timer is not timer
    await until_the_timer_has_fired()
    assert (watch()._timer, watch().due) == (None, inf)


async def test_nothing_is_kept_of_a_task_that_is_done() -> None:
    async def in_time() -> None:
        with TimeLimit(30):
            await asyncio.sleep(0)

    task = asyncio.create_task(in_time())
    gone = weakref.ref(task)
    await task
    del task
    # The event loop lets go of it in its next turn.
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None


async def test_there_is_no_limit_where_there_is_no_task_to_cancel() -> None:
    raised: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def callback() -> None:
        try:
            TimeLimit(1).__enter__()
        except RuntimeError as error:
            raised.set_result(str(error))

    asyncio.get_running_loop().call_soon(callback)
    assert "needs a task" in await raised


def test_event_loops_in_several_threads_and_one_after_the_other_keep_their_own_time() -> None:
    async def run_out_of_time() -> None:
        with pytest.raises(TimeoutError):
            await limited(TimeLimit(0.01))
        loops.append(watch().loop)
        assert watch().loop is asyncio.get_running_loop()

    def work() -> None:
        for _ in range(2):
            asyncio.run(run_out_of_time())

    loops: list[asyncio.AbstractEventLoop] = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len({id(loop) for loop in loops}) == len(loops) == 8
