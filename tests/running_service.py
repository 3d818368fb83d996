"""A provider's service on a loopback port, in a thread of the test: real HTTP, nothing leaves the machine."""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest

from pacas.provider.ledger.accounts import Account, Accounts, MemoryAccounts, Role, token_hash
from pacas.provider.provider import Provider
from pacas.server.app import create_app
from pacas.server.http.connections import USUAL, ConnectionLimits, Note
from pacas.server.http.http_protocol import HttpConfig
from pacas.server.limits import QuoteLimit, ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.serving import Server, http_of
from pacas.server.signing_key import SigningKey

KEY = SigningKey.generate()


def with_account(
    accounts: Accounts, name: str, *, role: Role = Role.CLIENT, credit: int | None = None, token: str | None = None
) -> str:
    """Add an account; its token."""
    token = token or f"token-of-{name}"
    accounts.add(Account(name, role, credit, False, token_hash(token)))
    return token


def app_of(provider: Provider, accounts: Accounts, **settings: Any) -> Any:
    """The service as an application; refusals say why unless a test asks for something else."""
    allowed = ServiceSettings(**({"reasons": True} | settings))
    return create_app(provider, accounts, allowed, KEY, log=make_log(io.StringIO()))


def stop_the_clock_of_limits(patch: pytest.MonkeyPatch) -> None:
    """Let accounts not be allowed more as time goes by, however slow a test is on a busy machine."""
    patch.setattr(QuoteLimit.__init__, "__defaults__", (lambda: 0.0,))


class PromptServer(Server):
    """Ends when it is told to, not when it next looks whether it was."""

    def __init__(self, config: HttpConfig, announce: Callable[[], None]) -> None:
        super().__init__(config, announce)
        self._told = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._told.wait()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._told.set)


@contextmanager
def served(
    app: Any,
    *,
    port: int = 0,
    context: ssl.SSLContext | None = None,
    limits: ConnectionLimits = USUAL,
    note: Note = lambda *said: None,
) -> Iterator[str]:
    """An application while it listens: its URL."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    ready = Event()
    server = PromptServer(http_of(app, context, grace=5, limits=limits, note=note), ready.set)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert ready.wait(30), "the service does not start"
        yield f"http{'s' if context else ''}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.end()
        thread.join()
        listener.close()


@contextmanager
def service(provider: Provider, buyer: str = "ann", **settings: Any) -> Iterator[tuple[str, str]]:
    """A provider's service with one account: its URL, and the account's token."""
    accounts = MemoryAccounts()
    token = with_account(accounts, buyer)
    with served(app_of(provider, accounts, **settings)) as url:
        yield url, token
