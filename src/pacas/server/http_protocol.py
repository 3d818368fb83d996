"""HTTP/1.1 as uvicorn reads it, with our word for what cannot be read, and a head that must end."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pacas.server.failures import Failure
from pacas.wire.error_code import ErrorCode

LARGEST_HEAD = 64 * 1024
"""Bytes of a request's first line and headers that are taken while no end of them is in sight."""


class HttpProtocol(HttpToolsProtocol):
    """A connection. Nothing that comes before an account is known takes more than little memory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: int | None = None
        """Bytes of a head that has begun and not ended, without the piece that it began in."""

    def on_message_begin(self) -> None:
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = None
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        has_begun = self._head is not None
        super().data_received(data)
        if has_begun and self._head is not None:
            self._head += len(data)
            if self._head > LARGEST_HEAD:
                self.send_400_response("the headers are too large")

    def _unsupported_upgrade_warning(self) -> None:
        """Not a word about it: what a client would rather speak is no news, and there is nothing to install."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request of ours, in the one shape, and hang up."""
        self._head = None
        if self.transport.is_closing():
            return
        said = Failure(ErrorCode.BAD_REQUEST, "this is not HTTP that can be read, or its headers are too large")
        response = said.response()
        lines = [b"%s: %s" % header for header in (*response.raw_headers, (b"connection", b"close"))]
        self.transport.write(b"\r\n".join([b"HTTP/1.1 400 Bad Request", *lines, b"", bytes(response.body)]))
        self.transport.close()
