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
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import provider

from pacas.engine.hierarchy_files import arx
from pacas.provider.ledger.accounts import Account, Role, new_token, token_hash
from pacas.storage.url import open_accounts
from pacas.wire.shapes.base import JSON

MAIN = "from pacas.cli.main import main; main()"
CLIENT = {"client": Role.CLIENT}
EXACT = ", ".join(f"{column} = {column}" for column in provider.KEY)


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

    def __init__(self, process: subprocess.Popen[str], port: int, tokens: Mapping[str, str]) -> None:
        self._process, self.port, self.tokens = process, port, tokens

    def connection(self) -> Connection:
        return Connection(self.port)

    def call(self, line: str, media_type: str = JSON, body: bytes = b"", key: str = "", who: str = "client") -> bytes:
        """The bytes of a call with an account's token."""
        head = [f"{line} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.tokens[who]}"]
        head += [f"Content-Type: {media_type}", f"Content-Length: {len(body)}"]
        head += [f"Idempotency-Key: {key}"] if key else []
        return "\r\n".join([*head, "", ""]).encode() + body

    def cpu(self) -> float:
        """Seconds of processor time that the server has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(
    path: Path,
    folder: Path,
    ledger: str,
    *,
    sealed: bool = False,
    match: str = "",
    service: str = f"quotes_per_minute = {10**12}",
    accounts: Mapping[str, Role] = CLIENT,
) -> Iterator[Server]:
    """Serve the provider's relation with its ledger at a URL, at the paper's quotes or at sealed ones."""
    (folder / "drug.csv").write_text(arx.write(provider.hierarchy()))
    with serving_file(
        folder, _provider_file(path, ledger, sealed, match or EXACT, service), ledger, accounts
    ) as server:
        yield server


@contextmanager
def serving_file(folder: Path, text: str, ledger: str, accounts: Mapping[str, Role] = CLIENT) -> Iterator[Server]:
    """Serve what a provider's file says."""
    tokens = {name: new_token() for name in accounts}
    (folder / "provider.toml").write_text(text)
    with closing(open_accounts(ledger, folder)) as kept:
        for name, role in accounts.items():
            credit = provider.HIGH if role is Role.RECONCILE else None
            kept.add(Account(name, role, credit, False, token_hash(tokens[name])))
    command = [sys.executable, "-c", MAIN, "serve", "provider.toml", "--port", "0"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("listening on "), (folder / "server.log").read_text()
        port = urlsplit(said.split()[-1]).port
        assert port is not None
        yield Server(process, port, tokens)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        finally:
            process.kill()  # nothing, if it has ended


def _provider_file(path: Path, ledger: str, sealed: bool, match: str, service: str) -> str:
    """The file of the same provider as `provider.open_provider` makes, unless its quotes are sealed."""
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
{service}
"""
