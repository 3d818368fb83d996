"""An HTTP call as ASGI brings it: its headers, parameters and body, as far as our endpoints ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from pacas.server.http.failures import Failure
from pacas.wire.shapes.failures import ErrorCode

MOST_PARAMETERS = 100
CERTIFICATE = "client_certificate"
"""Where a connection says of each call which certificate its client has."""


class HttpCall:
    """A call's headers and parameters, and its body as it comes."""

    __slots__ = ("_headers", "receive", "scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope, self.receive = scope, receive
        headers = scope["headers"]
        self._headers: dict[bytes, bytes] = dict(headers)
        if len(self._headers) < len(headers):
            self._headers = _joined(headers)

    def header(self, name: bytes) -> bytes:
        """A header by its name in lower case; empty if it is not there.

        If it came more than once, a line break stands between: no value has one, so that of two neither is believed.
        """
        return self._headers.get(name, b"")

    @property
    def certificate(self) -> str | None:
        """The SHA-256 of the certificate that the client has proved to be its own, in hex; None if it showed none."""
        found: str | None = self.scope.get(CERTIFICATE)
        return found

    def parameter(self, name: str) -> str:
        """A part of the path."""
        value: str = self.scope["path_params"][name]
        return value

    def query(self, name: str, default: str) -> str:
        """A parameter behind the question mark; of several with one name the last counts, and others do not."""
        text: str = self.scope["query_string"].decode("latin-1")
        try:
            given = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_PARAMETERS))
        except ValueError:  # too many
            raise Failure(
                ErrorCode.UNPROCESSABLE, f"more than {MOST_PARAMETERS} parameters; give those that count"
            ) from None
        return given.get(name, default)

    @contextmanager
    def waited_for(self) -> Iterator[Callable[[], bool]]:
        """Whether the caller has gone, once the body is there."""
        leaving = asyncio.ensure_future(self.receive())
        try:
            yield leaving.done
        finally:
            leaving.cancel()


async def read_body(
    call: HttpCall, media_type: bytes, most: int, counted: Callable[[int], None] = lambda size: None
) -> bytes:
    """The whole body, its bytes looked at as they come: a Content-Length may be missing.

    `counted` is told its size, before any of it is read where that is known, and may refuse it.
    """
    given = call.header(b"content-type")
    if given != media_type and given.partition(b";")[0].strip().lower() != media_type:
        raise Failure(ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"the Content-Type must be {media_type.decode()}")
    if call.header(b"content-encoding").strip().lower() not in (b"", b"identity"):
        raise Failure(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "a body must not be compressed; leave Content-Encoding out")
    claimed = call.header(b"content-length")
    if claimed.isdigit():
        if int(claimed[:20]) > most:
            raise _too_large(most)
        counted(int(claimed))
    whole = BytesIO()  # grows where it is, where to join many parts would copy all of them at once
    size = 0
    while True:
        message = await call.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            if not claimed.isdigit():
                counted(size)
            if size == len(part):
                return bytes(part)
            whole.write(part)
            return whole.getvalue()
        whole.write(part)


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b"\n" + value if name in joined else value
    return joined


def _too_large(most: int) -> Failure:
    return Failure(ErrorCode.TOO_LARGE, f"the body is larger than {most:,} bytes; send fewer requests at once")
