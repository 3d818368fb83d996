"""Calls that one thread serves together: all that wait by the time it is free."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from pacas.server.thread_pools import ThreadPool, Together


def test_calls_that_wait_are_served_together_and_each_is_told_its_own() -> None:
    served: list[list[int]] = []
    leave = threading.Event()

    def serve(some: Sequence[int]) -> list[int | Exception]:
        leave.wait(30)
        served.append(list(some))
        return [KeyError(one) if one == 3 else -one for one in some]

    async def call() -> list[int | BaseException]:
        together = Together(pool, serve, 4)
        calls = [asyncio.create_task(together.ask(one)) for one in range(1, 8)]
        await asyncio.sleep(0.01)
        calls[4].cancel()  # who is served nevertheless
        await asyncio.sleep(0)
        leave.set()
        return await asyncio.gather(*calls, return_exceptions=True)

    pool = ThreadPool("test", 1)
    told = asyncio.run(call())
    pool.finish()
    assert [one for some in served for one in some] == [1, 2, 3, 4, 5, 6, 7]
    assert max(map(len, served)) == 4 and len(served) <= 3
    assert told[:2] == [-1, -2] and isinstance(told[2], KeyError) and told[5:] == [-6, -7]
    assert isinstance(told[4], asyncio.CancelledError)


def test_what_fails_fails_for_all_who_are_served_together_and_for_nobody_after() -> None:
    def serve(some: Sequence[int]) -> list[int | Exception]:
        if 0 in some:
            raise RuntimeError("nobody is told")
        return list(some)

    async def call() -> None:
        together = Together(pool, serve, 10)
        for failed in await asyncio.gather(together.ask(0), together.ask(1), return_exceptions=True):
            assert isinstance(failed, RuntimeError)
        assert await together.ask(2) == 2

    pool = ThreadPool("test", 1)
    asyncio.run(call())
    pool.finish()


@pytest.mark.parametrize("most", [1, 3])
def test_nobody_waits_for_others_to_come(most: int) -> None:
    async def call() -> list[int]:
        together: Together[int, int] = Together(pool, lambda some: list(some), most)
        return [await together.ask(one) for one in range(3)]

    pool = ThreadPool("test", 1)
    assert asyncio.run(call()) == [0, 1, 2]
    pool.finish()
