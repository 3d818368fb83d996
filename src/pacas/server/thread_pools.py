"""Threads for what would keep the event loop from others: large batches, the store, and sales."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect

P = ParamSpec("P")
T = TypeVar("T")
Parts = Generator[None, None, T]
"""Work that may pause, and what comes of it."""


class ThreadPool:
    """Some threads with one task."""

    def __init__(self, name: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"pacas-{name}")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function there. It runs to its end, even if nobody waits for it any more."""
        future = self._pool.submit(function, *args, **kwargs)
        return await asyncio.wrap_future(future)

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


class Turns:
    """One call of an account at a time, so that many of its calls together get no more than one of another's does."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, account: str) -> asyncio.Lock:
        return self._locks.setdefault(account, asyncio.Lock())


class ThreadPools:
    """The threads of a service."""

    AT_ONCE = 8 * 1024
    """Bytes of a body up to which it is faster read than handed to another thread."""

    def __init__(self) -> None:
        self.quotes = ThreadPool("quotes", 2)
        self.turns = Turns()
        self.sales = ThreadPool("sales", 16)
        """The ledger is serial, and those who wait for it at the same time share a commit."""
        self.store = ThreadPool("store", 2)

    async def read(
        self, function: Callable[Concatenate[bytes, P], T], body: bytes, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a function with a body: here if it is small, or else where it keeps nobody waiting."""
        if len(body) <= self.AT_ONCE:
            return function(body, *args, **kwargs)
        return await self.quotes.run(function, body, *args, **kwargs)

    def finish(self) -> None:
        for pool in (self.sales, self.quotes, self.store):
            pool.finish()
