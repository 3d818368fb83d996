"""A wire that loses things: a TCP proxy on loopback that cuts connections where a test says so."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from urllib.parse import urlsplit

REQUEST, ANSWER = "request", "answer"


class FlakyProxy:
    """Passes on what comes. `loses(what, data)` is asked before each piece; where it is true the connection is cut."""

    def __init__(self, url: str, loses: Callable[[str, bytes], bool]) -> None:
        self._server = (urlsplit(url).hostname, urlsplit(url).port)
        self._loses = loses
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[Thread] = []
        self._open: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for one in self._open:
            _cut(one)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = Thread(target=target, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._open += [client, server]
                self._start(self._pump, client, server, REQUEST)
                self._start(self._pump, server, client, ANSWER)

    def _pump(self, source: socket.socket, sink: socket.socket, what: str) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if self._loses(what, data):
                    break
                sink.sendall(data)
        _cut(source)
        _cut(sink)


def _cut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def flaky(url: str, loses: Callable[[str, bytes], bool]) -> Iterator[str]:
    """The URL at which a server is reached over a wire that loses things."""
    proxy = FlakyProxy(url, loses)
    try:
        yield proxy.url
    finally:
        proxy.close()
