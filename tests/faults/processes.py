"""`pacas serve` in processes that can be killed, and other commands of the provider's owner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from pacas.core.money import credits_text

LAUNCHER = Path(__file__).with_name("launcher.py")


class Launcher:
    """The process that starts the others. Use it in a `with`: nothing that it started outlives it."""

    def __enter__(self) -> Launcher:
        self._lock = Lock()
        self._leftovers = TemporaryDirectory()  # who is killed cannot tidy up
        self._process = subprocess.Popen(
            [sys.executable, LAUNCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": self._leftovers.name},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)
        self._leftovers.cleanup()

    def command(self, folder: Path, *arguments: str) -> Any:
        """Run a command to its end: the document that it prints."""
        said, code = self.ask("reap", pid=self.ask("start", folder=str(folder), arguments=[*arguments, "--json"]))
        assert code == 0, (folder / "stderr.txt").read_text()
        return json.loads(said)

    def add_account(self, folder: Path, name: str, *, credit: int | None = None, role: str = "client") -> str:
        """Add an account to a provider: its token."""
        limit = [] if credit is None else ["--credit", credits_text(credit)]
        token: str = self.command(folder, "account", "add", name, "provider.toml", "--role", role, *limit)["token"]
        return token

    def begin(self, folder: Path) -> Server:
        """Start a server at a free port, and do not wait until it listens."""
        arguments = ["serve", "provider.toml", "--port", "0"]
        return Server(self, folder, self.ask("start", folder=str(folder), arguments=arguments))

    def serve(self, folder: Path) -> Server:
        """Start a server at a free port, and wait until it listens."""
        server = self.begin(folder)
        line = self.ask("first_line", pid=server.pid)
        assert line.startswith("listening on "), (folder / "stderr.txt").read_text()
        server.url = line.split()[-1]
        return server

    def ask(self, what: str, **more: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps({"do": what, **more}) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())


class Server:
    """A server that was started."""

    url: str

    def __init__(self, launcher: Launcher, folder: Path, pid: int) -> None:
        self._launcher, self._folder, self.pid = launcher, folder, pid

    def shoot(self) -> None:
        """End it in the middle of whatever it does."""
        os.kill(self.pid, signal.SIGKILL)

    def bury(self) -> None:
        """Wait until nothing of it is left."""
        assert self._launcher.ask("reap", pid=self.pid)[1] == -signal.SIGKILL, self._log()

    def stop(self) -> None:
        """Let it come to its end."""
        os.kill(self.pid, signal.SIGTERM)
        assert self._launcher.ask("reap", pid=self.pid)[1] == 0, self._log()

    def _log(self) -> str:
        return (self._folder / "stderr.txt").read_text()
