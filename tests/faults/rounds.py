"""One round of buying from one server, which ends with a kill: after so many calls, or at the sight of an answer."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock, Semaphore

from .orders import OrderingClient
from .processes import Server


class Round:
    """Clients that buy, all at once, until their server is gone or it is enough."""

    def __init__(
        self, pool: ThreadPoolExecutor, clients: list[OrderingClient], server: Server, entries: int, fatal: int | None
    ) -> None:
        """`entries` are in the ledger; the server is shot at the sight of the `fatal`-th answer."""
        self._clients, self._server, self._fatal = clients, server, fatal
        self._stop, self._shot, self._lock = Event(), Event(), Lock()
        self._sent, self._answers = Semaphore(0), 0
        self._under_way: list[tuple[OrderingClient, int]] = []
        self._buying: list[Future[None]] = [
            pool.submit(client.buy, server.url, self._stop, self._sent.release, self._heard, entries)
            for client in clients
        ]

    def wait_for_calls(self, number: int) -> float:
        """Wait until so many calls were sent: the seconds that a call seems to take."""
        began = time.monotonic()
        for _ in range(number):
            while not self._sent.acquire(timeout=1) and not self._has_failed():
                pass
        return (time.monotonic() - began) / number * len(self._clients)

    def wait_for_the_shot(self) -> None:
        while not self._shot.wait(timeout=1) and not self._has_failed():
            pass
        if not self._shot.is_set():
            self.shoot()

    def shoot(self) -> None:
        """Kill the server, and note whose calls are under way."""
        self._under_way = [(client, client.seen.cut) for client in self._clients if client.is_calling]
        self._server.shoot()
        self._shot.set()

    def end(self) -> int:
        """How many calls were cut by the shot, if there was one. An error of a client is raised."""
        self._stop.set()
        for future in self._buying:
            future.result()
        if self._shot.is_set():
            self._server.bury()
        return sum(client.seen.cut > before for client, before in self._under_way)

    def _heard(self) -> None:
        """A client has an answer. The one that it is fatal to shoots at once, before anything else can happen."""
        with self._lock:
            self._answers += 1
            is_fatal = self._answers == self._fatal
        if is_fatal:
            self.shoot()

    def _has_failed(self) -> bool:
        return any(future.done() for future in self._buying)
