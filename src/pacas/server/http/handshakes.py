"""Agreeing on TLS: a connection is counted from its first moment on, and not only when its protocol hears of it.

Else one address could have all files that the process may open, and say nothing.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from pacas.server.http.connections import LINGER, Connections, counted_address

REST = 1.0
"""Seconds until the next try where the process may open no more files."""


class Handshake:
    """A connection that has not agreed on TLS yet."""

    unsent = 0
    is_answering = is_asking = is_lingering = False

    def __init__(self, accepted: socket.socket, host: str) -> None:
        self.accepted, self.address = accepted, counted_address(host)
        self.since = asyncio.get_running_loop().time()

    def left_to_send(self) -> int:
        return 0

    def hang_up(self) -> None:
        """Let whoever waits for the client see its end."""
        with suppress(OSError):  # it has gone
            self.accepted.shutdown(socket.SHUT_RDWR)


class TlsListener:
    """Takes the connections of a socket that listens, and gives each a protocol when it has agreed on TLS."""

    def __init__(
        self,
        listener: socket.socket,
        context: ssl.SSLContext,
        connections: Connections,
        protocol: Callable[[Handshake], asyncio.Protocol],
    ) -> None:
        self._listener, self._context, self._connections, self._protocol = listener, context, connections, protocol
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._begin(self._take())

    def close(self) -> None:
        """Take no more, and give up on those that have not agreed yet."""
        for task in self._tasks:
            task.cancel()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(task := self._loop.create_task(work))
        task.add_done_callback(self._tasks.discard)

    async def _take(self) -> None:
        while True:
            await asyncio.sleep(0)  # others come in between, however many knock
            try:
                accepted, place = await self._loop.sock_accept(self._listener)
            except ConnectionAbortedError:
                continue
            except OSError:
                await asyncio.sleep(REST)
                continue
            one = Handshake(accepted, place[0])
            if self._connections.admit(one):
                self._begin(self._agree(one))
            else:
                accepted.close()

    async def _agree(self, one: Handshake) -> None:
        try:
            with suppress(OSError):  # those of TLS among them
                await self._loop.connect_accepted_socket(
                    partial(self._protocol, one), one.accepted, ssl=self._context, ssl_shutdown_timeout=LINGER
                )
        finally:
            self._connections.leave(one)
