"""An application called in this process and thread of events: no socket, and nothing between its bytes and the test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """What an application sends: status, headers and body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class Called:
    """An application while it is called."""

    def __init__(self, app: Any) -> None:
        self._app, self._loop = app, asyncio.new_event_loop()

    def __enter__(self) -> Called:
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._life = self._loop.create_task(self._app({"type": "lifespan"}, self._said.get, self._heard.put))
        self._tell("startup")
        return self

    def __exit__(self, *_: object) -> None:
        self._tell("shutdown")
        self._loop.run_until_complete(self._life)
        self._loop.close()

    def _tell(self, what: str) -> None:
        self._said.put_nowait({"type": f"lifespan.{what}"})
        assert self._loop.run_until_complete(self._heard.get())["type"] == f"lifespan.{what}.complete"

    def call(self, method: str, path: str, token: str, body: bytes = b"", headers: Mapping[str, str] = {}) -> Reply:
        return self._loop.run_until_complete(self._call(method, path, token, body, headers))

    async def _call(self, method: str, path: str, token: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        sent = {"authorization": f"Bearer {token}", "content-length": str(len(body)), **headers}
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        }
        told: list[dict[str, Any]] = []
        bodies = [body]

        async def receive() -> dict[str, Any]:
            while not bodies:  # the caller stays until it is answered
                await asyncio.sleep(3600)
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            told.append(message)

        await self._app(scope, receive, send)
        return Reply(told[0]["status"], tuple(told[0]["headers"]), b"".join(one.get("body", b"") for one in told[1:]))
