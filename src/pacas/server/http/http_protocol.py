"""A connection of HTTP/1.1, read by httptools: nothing that comes before an account is known takes more than little."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from hashlib import sha256
from ssl import SSLObject
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pacas.server.http.connections import Connected, Connections, counted_address
from pacas.server.http.failures import Failure
from pacas.server.http.http_call import CERTIFICATE
from pacas.wire.shapes.failures import ErrorCode

LARGEST_HEAD = 64 * 1024
"""Bytes of a request's first line, headers and trailers; and of anything in which neither these nor a body get on."""
MOST_WAITING = 16
"""Requests that may come on a connection before the one before them is answered."""
FEW_CHUNKS, SMALLEST_CHUNK = 1024, 64
"""A body may come in so many chunks, and in more if they have so many bytes each, on the average: each is work."""
VERSIONS = ("1.1", "1.0")
CHUNKED = b"chunked"
WANTED, DROPPED = 0.005, 0.01
"""Seconds between two gulps of a large body, and of one whose call is answered already: others are read meanwhile."""


class HttpConfig(uvicorn.Config):
    """uvicorn's, with the connections that a server has."""

    def __init__(self, app: ASGIApp, connections: Connections, **options: Any) -> None:
        super().__init__(app, http=HttpProtocol, **options)
        self.connections = connections


class PacedFlow(FlowControl):
    """uvicorn's control of what is read, with rests in which nothing is, whoever wants it."""

    def __init__(self, transport: Any, loop: AbstractEventLoop) -> None:
        super().__init__(transport)
        self._loop = loop
        self._rests = self._is_wanted = False

    def rest(self, seconds: float) -> None:
        """Read nothing for so long, and then go on where somebody wants it by then."""
        if not self._rests:
            self._rests, self._is_wanted = True, not self.read_paused
            super().pause_reading()
            self._loop.call_later(seconds, self._go_on)

    def pause_reading(self) -> None:
        self._is_wanted = False
        super().pause_reading()

    def resume_reading(self) -> None:
        self._is_wanted = True
        if not self._rests:
            super().resume_reading()

    def _go_on(self) -> None:
        self._rests = False
        if self._is_wanted and not self._transport.is_closing():
            self.resume_reading()


class HttpProtocol(HttpToolsProtocol):
    """One connection: strict about what a request is, and counted with the others of its address.

    Trailers are counted like headers and never obeyed: who signs or forwards a request has not seen them.
    """

    config: HttpConfig

    def __init__(self, *args: Any, handshake: Connected | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._handshake = handshake
        """What was counted until now."""
        self.address, self.since, self.unsent = "", 0.0, 0
        self.is_asking = False
        self._is_head = False
        """Whether headers come, and not trailers."""
        self._head = 0
        """Bytes of the request's head and trailers, as far as they are whole lines."""
        self._steps = 0
        """How often a request has begun, gone on with its body, or ended."""
        self._chunks = self._body = 0
        """Chunks of the request's body, and bytes of all of it."""
        self._certificate: str | None = None
        self._stalled = 0
        """Bytes in which nothing of the kind has happened."""

    # ---- as it is counted ---------------------------------------------------------------------------------------

    @property
    def is_answering(self) -> bool:
        if self.pipeline:  # what came last waits for what came before
            return True
        is_behind = self._is_head or not self.is_asking
        return is_behind and self.cycle is not None and not self.cycle.response_complete

    @property
    def is_lingering(self) -> bool:
        return self.is_asking and self.cycle is not None and self.cycle.response_complete and not self._is_head

    def left_to_send(self) -> int:
        return self.transport.get_write_buffer_size()

    def hang_up(self) -> None:
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.flow = PacedFlow(transport, self.loop)
        self.address = counted_address(self.client[0] if self.client else None)
        self.since = self.loop.time()
        self._certificate = _fingerprint(transport.get_extra_info("ssl_object"))
        if self._handshake is not None:
            self.config.connections.leave(self._handshake)
        if not self.config.connections.admit(self):
            self.hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self.config.connections.leave(self)
        super().connection_lost(exc)

    # ---- what comes ---------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        before = self._steps
        super().data_received(data)
        self._stalled = self._stalled + len(data) if self._steps == before else 0
        if self._stalled > LARGEST_HEAD:
            self.send_400_response("nothing gets on")
        elif self.is_asking and not self._is_head and len(data) > LARGEST_HEAD and isinstance(self.flow, PacedFlow):
            self.flow.rest(DROPPED if self.is_lingering else WANTED)

    def on_message_begin(self) -> None:
        self._steps += 1
        self._head, self._is_head, self.is_asking = 0, True, True
        self._chunks = self._body = 0
        self.since = self.loop.time()
        super().on_message_begin()
        self.scope[CERTIFICATE] = self._certificate  # type: ignore[literal-required]

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value) + 4
        if self._head > LARGEST_HEAD:
            raise ValueError("too large")  # httptools stops, and uvicorn answers with send_400_response
        if self._is_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._steps += 1
        self._is_head = False
        names = [name for name, _ in self.headers]
        if self.parser.get_http_version() not in VERSIONS or names.count(b"host") != 1:
            raise ValueError("not one Host, or another HTTP")
        if any(name == b"transfer-encoding" and value.lower() != CHUNKED for name, value in self.headers):
            raise ValueError("coded in a way that is not undone here")
        if len(self.url) > LARGEST_HEAD or len(self.pipeline) >= MOST_WAITING:
            raise ValueError("too much")
        super().on_headers_complete()
        if b"transfer-encoding" in names or self._claimed() > HIGH_WATER_LIMIT:
            self.flow.pause_reading()  # until it is known whose body it is, and somebody wants it

    def _claimed(self) -> int:
        return next((int(value) for name, value in self.headers if name == b"content-length"), 0)

    def on_chunk_header(self) -> None:
        if self._chunks >= FEW_CHUNKS and self._body < self._chunks * SMALLEST_CHUNK:
            raise ValueError("in crumbs")
        self._chunks += 1

    def on_body(self, body: bytes) -> None:
        self._steps += 1
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._steps += 1
        self.is_asking = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()

    # ---- what is said -------------------------------------------------------------------------------------------

    def _unsupported_upgrade_warning(self) -> None:
        """Not a word about it: what a client would rather speak is no news, and there is nothing to install."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request of ours, in the one shape, and hang up; in the middle of an answer, just that."""
        self.is_asking = self._is_head = False
        if self.transport.is_closing():
            return
        if (cycle := self.cycle) is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.abort()
                return
        said = "this is not HTTP that can be read, or its headers are too large, or its chunks too small"
        response = Failure(ErrorCode.BAD_REQUEST, said).response()
        more = ((b"connection", b"close"), (b"cache-control", b"no-store"))
        lines = [b"%s: %s" % header for header in (*response.raw_headers, *more)]
        self.transport.write(b"\r\n".join([b"HTTP/1.1 400 Bad Request", *lines, b"", bytes(response.body)]))
        self.transport.close()


def _fingerprint(secured: SSLObject | None) -> str | None:
    """The SHA-256 of the client's certificate, if TLS has asked for one."""
    shown = None if secured is None else secured.getpeercert(binary_form=True)
    return None if shown is None else sha256(shown).hexdigest()
