"""Threads for what would keep the event loop from others: large batches, the store, and sales one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ThreadPool:
    """Some threads with one task."""

    def __init__(self, name: str, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"pacas-{name}")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function there. It runs to its end, even if nobody waits for it any more."""
        future = self._pool.submit(function, *args, **kwargs)
        return await asyncio.wrap_future(future)

    def finish(self) -> None:
        """Wait for what was begun, and take nothing more."""
        self._pool.shutdown(wait=True)


class ThreadPools:
    """The threads of a service."""

    AT_ONCE = 8 * 1024
    """Bytes of a body up to which it is faster read than handed to another thread."""

    def __init__(self) -> None:
        self.quotes = ThreadPool("quotes", 2)
        self.sales = ThreadPool("sales", 1)
        """The ledger is serial, and so are those who write to it."""
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
