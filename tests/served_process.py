"""`pacas serve` in a process of its own, on a loopback port."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

MAIN = "from pacas.cli.main import main; main()"


class ServedProcess:
    """A running server and its log."""

    def __init__(self, url: str, log: Path) -> None:
        self.url, self._log = url, log
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=60)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def call(self, method: str, path: str, token: str | None = None, **more: Any) -> httpx.Response:
        headers = ({} if token is None else {"Authorization": f"Bearer {token}"}) | more.pop("headers", {})
        return self.client.request(method, path, headers=headers, **more)

    def buy(self, token: str, key: str, request: Any, ceiling: int = 10**10) -> Any:
        body = {"request": request, "ceiling": ceiling}
        return self.call("POST", "/v1/purchases", token, headers={"Idempotency-Key": key}, json=body).json()["purchase"]

    def quote(self, token: str, request: Any) -> Any:
        (quote,) = self.call("POST", "/v1/quotes", token, json={"requests": [request]}).json()["quotes"]
        return quote


@contextmanager
def served_process(folder: Path, name: str = "server", main: str = MAIN) -> Iterator[ServedProcess]:
    """Serve the provider.toml of a folder; `main` is the program, which may alter what it runs."""
    log = folder / f"{name}.log"
    command = [sys.executable, "-c", main, "serve", "provider.toml", "--port", "0"]
    with log.open("wb") as stderr:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on "), log.read_text()
        server = ServedProcess(line.split()[-1], log)
        yield server
        server.client.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0, log.read_text()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
