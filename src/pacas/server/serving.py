"""Listening: an address, TLS, one line when it is ready, and an end that loses nothing.

An address that other machines can reach is served without TLS only if that is asked for: tokens and answers would cross
the network for everybody to read.
"""

from __future__ import annotations

import gc
import logging
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp
from structlog.typing import FilteringBoundLogger

from pacas.errors import FileError, InputError
from pacas.server.http.connections import USUAL, ConnectionLimits, Connections, Note
from pacas.server.http.handshakes import Handshake, TlsListener
from pacas.server.http.http_protocol import HttpConfig, HttpProtocol
from pacas.server.monitoring.logs import ServerLines

GRACE = 30
"""Seconds for calls to end after the service was told to stop; a purchase that was begun is finished in any case."""
BACKLOG = 2048
SWITCH = 0.0001
"""Seconds after which a thread that works on something large lets others go on: calls that are small wait no longer."""
ENOUGH_FILES = 16_384
"""Open files, connections among them, that a service asks for where it has fewer."""


@dataclass(frozen=True, slots=True)
class Tls:
    """A certificate with its key, and who signs the certificates of clients, if they need one."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Read the files; a FileError says which of them is wrong."""
        for path in (self.certificate, self.key, self.client_ca):
            _check_readable(path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except ssl.SSLError as error:
            raise FileError(self._problem(error)) from None
        if self.client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(self.client_ca)
            except ssl.SSLError:
                raise FileError(f"--client-ca: {self.client_ca} holds no certificate in PEM") from None
        return context

    def _problem(self, error: ssl.SSLError) -> str:
        if error.reason == "KEY_VALUES_MISMATCH":
            return f"--tls-key: {self.key} is not the key of the certificate {self.certificate}"
        return f"--tls-cert, --tls-key: {self.certificate} and {self.key} are not a certificate and its key in PEM"


@dataclass(frozen=True, slots=True)
class ListeningAddress:
    """Where to listen. Port 0 takes one that is free."""

    host: str
    port: int
    tls: bool
    family: socket.AddressFamily
    place: Any
    """The address as the system's calls want it."""

    @classmethod
    def of(cls, host: str, port: int, *, tls: bool, insecure: bool = False) -> ListeningAddress:
        """Find a host's address; one that other machines can reach needs TLS, or to be called insecure."""
        try:
            family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        except (OSError, UnicodeError):
            raise InputError(f"--host: there is no address {host[:100]!r}; give one of this machine's") from None
        if not (tls or insecure or ip_address(str(place[0]).partition("%")[0]).is_loopback):
            raise InputError(
                f"--host: other machines can reach {host}, and tokens would cross the network in the clear; give "
                "--tls-cert and --tls-key, or --insecure where something else encrypts"
            )
        return cls(host, port, tls, family, place)

    def bind(self) -> socket.socket:
        """Take the port."""
        listener = socket.socket(self.family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # which asyncio looks at
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with self._faults(listener):
            listener.bind(self.place)
        return listener

    def listen(self, listener: socket.socket) -> str:
        """Let clients in; returns the URL at which they find it."""
        with self._faults(listener):
            listener.listen(BACKLOG)
        return self.url(listener.getsockname()[1])

    def url(self, port: int | None = None) -> str:
        return self._url(self.host, port)

    def url_here(self, port: int | None = None) -> str:
        """The URL for a client on this machine: who listens on all addresses is reached at the loopback one."""
        if not ip_address(str(self.place[0]).partition("%")[0]).is_unspecified:
            return self.url(port)
        return self._url("::1" if self.family is socket.AF_INET6 else "127.0.0.1", port)

    def _url(self, host: str, port: int | None) -> str:
        name = f"[{host}]" if ":" in host else host
        return f"{'https' if self.tls else 'http'}://{name}:{port or self.port}"

    @contextmanager
    def _faults(self, listener: socket.socket) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            listener.close()
            said = error.strerror or type(error).__name__
            raise InputError(f"cannot listen on {self.host}, port {self.port}: {said}; give another --port") from None


def serve(
    app: Starlette,
    listener: socket.socket,
    *,
    log: FilteringBoundLogger,
    context: ssl.SSLContext | None = None,
    limits: ConnectionLimits = USUAL,
    announce: Callable[[], None] = lambda: None,
) -> None:
    """Answer calls until SIGTERM or SIGINT; then take no more, finish what was accepted, and return.

    What takes longer than the grace ends there, and says so: a call of many purchases after one of them.
    """

    def ended(address: str, why: str, count: int) -> None:
        log.warning("connections ended", client=address, why=why, count=count)

    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()  # what is there now stays, and is not searched for garbage while clients wait
    with _server_lines(log):
        config = http_of(app, context, limits=limits, note=ended)
        Server(config, announce, app.state.stop).run(sockets=[listener])


def http_of(
    app: ASGIApp,
    context: ssl.SSLContext | None = None,
    *,
    grace: int = GRACE,
    limits: ConnectionLimits = USUAL,
    note: Note = lambda *said: None,
) -> HttpConfig:
    """How an application is served: plain HTTP/1.1 or TLS, nothing logged but by the application."""
    return HttpConfig(
        app,
        Connections(limits, note),
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=grace,
        ssl_context_factory=None if context is None else lambda config, default: context,
    )


class Server(uvicorn.Server):
    """uvicorn's server, which says when it listens and ends with its work, not with the signal that ended it."""

    config: HttpConfig

    def __init__(
        self, config: HttpConfig, announce: Callable[[], None], stop: Callable[[float], None] = lambda seconds: None
    ) -> None:
        super().__init__(config)
        self._announce, self._stop = announce, stop
        self._tls: list[TlsListener] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self.config.ssl is None or sockets is None:
            await super().startup(sockets)
        else:
            await super().startup([])
            self._listen(sockets, self.config.ssl)
        if not self.should_exit:
            self._announce()

    def _listen(self, sockets: list[socket.socket], context: ssl.SSLContext) -> None:
        """Take connections that are to agree on TLS, counted from the first moment on."""

        def protocol(handshake: Handshake) -> HttpProtocol:
            return HttpProtocol(self.config, self.server_state, self.lifespan.state, handshake=handshake)

        for one in sockets:
            one.setblocking(False)
            one.listen(BACKLOG)
            self._tls.append(TlsListener(one, context, self.config.connections, protocol))
            self._tls[-1].start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop(self.config.timeout_graceful_shutdown or 0)
        for listener in self._tls:
            listener.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():  # where signals cannot be caught
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _server_lines(log: FilteringBoundLogger) -> Iterator[None]:
    """The warnings and errors of uvicorn, of the event loop and of all other libraries as lines of our log.

    Without a handler of their own they would be written to stderr as they are, with tracebacks and what they are about.
    """
    logger, handler = logging.getLogger(), ServerLines(log)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def most_connections() -> int:
    """How many connections leave enough open files for all else; as many files are asked for as may be had."""
    try:
        resource = import_module("resource")
    except ImportError:  # not on Windows
        return USUAL.in_all
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < (wanted := min(most % (1 << 63), ENOUGH_FILES)):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
            files = wanted
    return min(USUAL.in_all, files * 3 // 4) if files > 0 else USUAL.in_all


def _check_readable(path: Path | None) -> None:
    if path is None:
        return
    try:
        path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give a certificate or key in PEM") from None


def _no_password() -> NoReturn:
    raise FileError("--tls-key: the key has a password, and nobody is there to give it; take the password off")
