"""A provider behind a service, and what may stand in front of it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import Any

from pacas import example
from pacas.protocol.messages import Request
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider

CREDIT = 10**9
FIRST = Request({"GEN": "male", "AGE": "51"}, "MED", 1)
SECRET = "a-token-that-nobody-else-should-see"


def shop(ledger: Ledger | None = None, **more: Any) -> Provider:
    return Provider(
        example.provider,
        **{"match": {"MED": "GEN = GEN, AGE = AGE"}, "hierarchies": example.hierarchies, **more},
        ledger=ledger,
        total=6,
        seed=7,
    )


class Before:
    """An application in front of another: it may answer a call itself."""

    def __init__(self, app: Any, answers: Callable[[str], tuple[int, Mapping[str, str], bytes] | None]) -> None:
        self._app, self._answers = app, answers
        self.paths: list[str] = []
        self.tokens: list[bytes | None] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        own = None
        if scope["type"] == "http":
            self.paths.append(scope["path"])
            self.tokens.append(dict(scope["headers"]).get(b"authorization"))
            own = self._answers(scope["path"])
        if own is None:
            await self._app(scope, receive, send)
            return
        status, headers, body = own
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})


def passing(path: str) -> None:
    """Answer nothing oneself."""


async def nothing(scope: Any, receive: Any, send: Any) -> None:
    """An application that only comes and goes; what stands before it answers."""
    assert scope["type"] == "lifespan"
    while (message := await receive())["type"] == "lifespan.startup":
        await send({"type": "lifespan.startup.complete"})
    assert message["type"] == "lifespan.shutdown"
    await send({"type": "lifespan.shutdown.complete"})


def in_turn(*answers: tuple[int, dict[str, str]] | None) -> Callable[[str], tuple[int, dict[str, str], bytes] | None]:
    """These answers to the first calls for quotes or purchases; then those of the service."""
    left = list(answers)

    def answer(path: str) -> tuple[int, dict[str, str], bytes] | None:
        if not left or path == "/v1/catalogue":
            return None
        own = left.pop(0)
        return None if own is None else (*own, b"")

    return answer


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
