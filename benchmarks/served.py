"""`pacas serve` in a process of its own, over the provider of the figures, and as little as possible to call it with.

A client library would take longer than the server does, and measure itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import provider

from pacas.formats.hierarchies import arx
from pacas.provider.ledger.accounts import Account, Role, new_token, token_hash
from pacas.storage.url import open_accounts
from pacas.wire.shapes import JSON

MAIN = "from pacas.cli.main import main; main()"


class Connection:
    """A connection that is kept, and as little around it as possible."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._socket.close()

    def send(self, call: bytes) -> None:
        self._socket.sendall(call)

    def receive(self) -> bytes:
        """The body of the next answer, which must be a good one."""
        answer = bytearray()
        while (end := answer.find(b"\r\n\r\n")) < 0:
            answer += self._more()
        if not answer.startswith(b"HTTP/1.1 200"):
            raise AssertionError(bytes(answer))
        start = answer.index(b"content-length: ") + 16
        length = end + 4 + int(answer[start : answer.index(b"\r", start)])
        while len(answer) < length:
            answer += self._more()
        return bytes(answer[end + 4 :])

    def ask(self, call: bytes) -> bytes:
        self.send(call)
        return self.receive()

    def _more(self) -> bytes:
        if more := self._socket.recv(2**20):
            return more
        raise AssertionError("the server hung up")


class Server:
    """A running `pacas serve`, and how to call it."""

    def __init__(self, process: subprocess.Popen[str], port: int, token: str) -> None:
        self._process, self._port, self._token = process, port, token

    def connection(self) -> Connection:
        return Connection(self._port)

    def call(self, line: str, media_type: str = JSON, body: bytes = b"", key: str = "") -> bytes:
        """The bytes of a call with our token."""
        head = [f"{line} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self._token}"]
        head += [f"Content-Type: {media_type}", f"Content-Length: {len(body)}"]
        head += [f"Idempotency-Key: {key}"] if key else []
        return "\r\n".join([*head, "", ""]).encode() + body

    def cpu(self) -> float:
        """Seconds of processor time that the server has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(path: Path, folder: Path, ledger: str, *, sealed: bool = False) -> Iterator[Server]:
    """Serve the provider's relation with its ledger at a URL, at the paper's quotes or at sealed ones."""
    token = new_token()
    (folder / "drug.csv").write_text(arx.write(provider.hierarchy()))
    (folder / "provider.toml").write_text(_provider_file(path, ledger, sealed))
    with closing(open_accounts(ledger, folder)) as accounts:
        accounts.add(Account("client", Role.CLIENT, None, False, token_hash(token)))
    command = [sys.executable, "-c", MAIN, "serve", "provider.toml", "--port", "0"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("listening on "), (folder / "server.log").read_text()
        port = urlsplit(said.split()[-1]).port
        assert port is not None
        yield Server(process, port, token)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        finally:
            process.kill()  # nothing, if it has ended


def _provider_file(path: Path, ledger: str, sealed: bool) -> str:
    """The file of the same provider as `provider.open_provider` makes, unless its quotes are sealed."""
    match = ", ".join(f"{column} = {column}" for column in provider.KEY)
    return f"""
[relation]
data = {json.dumps(str(path.absolute()))}
[hierarchies]
drug = "drug.csv"
[match]
drug = "{match}"
[[policy]]
x = {json.dumps(provider.KEY)}
y = ["drug"]
levels = {{ drug = 1 }}
k = 3
[pricing]
{"total = 1000.0" if sealed else "seed = 7"}
[ledger]
url = {json.dumps(ledger)}
[service]
quotes_per_minute = {10**12}
"""
