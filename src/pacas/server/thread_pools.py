"""Threads for what would keep the event loop from others: large batches, the store, and sales."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, Generic, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
REST = 0.001
"""Seconds."""
SHORT = 0.005
"""Seconds that a part of a large question should take. Others wait for it: one at a time looks at what was sold."""
Parts = Generator[None, None, T]
"""Work that may pause, and what comes of it."""


class ThreadPool:
    """Some threads with one task."""

    def __init__(self, name: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"pacas-{name}")
        self.tasks = 0
        """How many are waited for."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function there. It runs to its end, even if nobody waits for it any more."""
        future = self._pool.submit(function, *args, **kwargs)
        self.tasks += 1
        try:
            return await asyncio.wrap_future(future)
        finally:
            self.tasks -= 1

    async def run_parts(self, parts: Parts[T], is_gone: Callable[[], bool]) -> T:
        """Do there what comes in parts; others come in between, and who has gone is not worked for any more."""
        while True:
            told = await self.run(_next_of, parts)
            if told is not None:
                return told[0]
            if is_gone():
                parts.close()
                raise ClientDisconnect

    def finish(self) -> None:
        """Wait for what was begun, and take nothing more."""
        self._pool.shutdown(wait=True)


def _next_of(parts: Parts[T]) -> tuple[T] | None:
    """Do the next part: what came of them all, if it was the last."""
    try:
        next(parts)
    except StopIteration as end:
        return (end.value,)
    return None


def all_parts(parts: Parts[T]) -> T:
    """Do all parts at once."""
    while (told := _next_of(parts)) is None:
        pass
    return told[0]


class Together(Generic[A, T]):
    """Calls that a thread of a pool serves together: all that wait by the time it is free, and no more than so many.

    So many calls take one wake-up of the thread, and one of the event loop.
    """

    def __init__(self, pool: ThreadPool, serve: Callable[[Sequence[A]], Sequence[T | Exception]], most: int) -> None:
        self._pool, self._serve, self._most = pool, serve, most
        self._waiting: deque[tuple[A, asyncio.Future[T]]] = deque()
        self._serving: asyncio.Task[None] | None = None

    async def ask(self, one: A) -> T:
        """Have a call served. It is, once it waits, even if nobody waits for it any more."""
        mine: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, mine))
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve_all())
        return await mine

    async def _serve_all(self) -> None:
        try:
            while self._waiting:
                some = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
                for (_, future), told in zip(some, await self._served([one for one, _ in some]), strict=True):
                    if future.done():  # its caller has gone
                        continue
                    if isinstance(told, Exception):
                        future.set_exception(told)
                    else:
                        future.set_result(told)
        finally:
            self._serving = None

    async def _served(self, some: Sequence[A]) -> Sequence[T | Exception]:
        try:
            return await self._pool.run(self._serve, some)
        except Exception as error:
            return [error] * len(some)


class Turns:
    """So many calls of an account at a time, so that many of its calls together get no more than those get."""

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, account: str) -> asyncio.Semaphore:
        return self._places.setdefault(account, asyncio.Semaphore(self._most))


class Rounds:
    """Calls that are answered at once: one of an account in a round of the event loop, and then others'.

    While threads are at work, who waits for a next round waits a little longer: they get on only when the loop rests.
    """

    def __init__(self, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._is_busy = is_busy
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By account that has had its turn in this round: who waits for the next."""

    async def turn(self, account: str) -> None:
        """Wait for the account's next turn, if one of its calls has had this round's."""
        loop, waiting = asyncio.get_running_loop(), self._waiting.get(account)
        if waiting is None:
            self._waiting[account] = deque()
            loop.call_soon(self._next, account)
            return
        waiting.append(mine := loop.create_future())
        await mine

    def _next(self, account: str, has_rested: bool = False) -> None:
        waiting = self._waiting[account]
        while waiting:
            if not has_rested and self._is_busy():
                asyncio.get_running_loop().call_later(REST, self._next, account, True)
                return
            one = waiting.popleft()
            if not one.done():  # nor has gone
                one.set_result(None)
                asyncio.get_running_loop().call_soon(self._next, account)
                return
        del self._waiting[account]


class ThreadPools:
    """The threads of a service."""

    AT_ONCE = 8 * 1024
    """Bytes of a body up to which it is faster read than handed to another thread."""

    def __init__(self) -> None:
        self.quotes = ThreadPool("quotes", 2)
        self.rounds, self.turns, self.runs, self.buyers = Rounds(self._is_busy), Turns(), Turns(), Turns(8)
        """Of small calls, large ones, runs of purchases, and single purchases: these may share a commit."""
        self.desk, self.sales = ThreadPool("desk", 1), ThreadPool("sales", 8)
        """For single purchases of all who wait, and for runs of them: the ledger is serial, and who waits for it at the
        same time shares a commit."""
        self.store = ThreadPool("store", 2)

    async def read(
        self, account: str, function: Callable[Concatenate[bytes, P], T], body: bytes, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a function with an account's body: here if it is small, or else where it keeps nobody waiting."""
        if len(body) <= self.AT_ONCE:
            return function(body, *args, **kwargs)
        async with self.turns.of(account):
            return await self.quotes.run(function, body, *args, **kwargs)

    def _is_busy(self) -> bool:
        return bool(self.desk.tasks or self.sales.tasks or self.quotes.tasks or self.store.tasks)

    def finish(self) -> None:
        for pool in (self.desk, self.sales, self.quotes, self.store):
            pool.finish()
