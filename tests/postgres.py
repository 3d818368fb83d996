"""A PostgreSQL for the tests: the one that PACAS_POSTGRES names, or a private cluster on a loopback port.

The cluster is started when a test first asks for it, as a user that is not root, in a temporary folder, and is stopped
by its process number at the end.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypedDict

import pytest

NEEDED = ("initdb", "postgres")
UNPRIVILEGED = ("postgres", "nobody")
PASSWORD = "hunter2-is-secret"
MISSING = "no PostgreSQL here; install Debian's postgresql, or name a running one with PACAS_POSTGRES=postgresql://…"
POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)
"""For a fixture that is parametrized by stores."""
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "max_wal_size": "256MB",
    "fsync": "off",  # processes are killed here, and no machine
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}


def programs() -> Path | None:
    """The folder that holds initdb and postgres."""
    folders = [Path(found).parent for found in (shutil.which("postgres"),) if found]
    if asked := shutil.which("pg_config"):
        told = subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=False)
        folders.append(Path(told.stdout.strip()))
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if all((folder / name).is_file() for name in NEEDED)), None)


class Somebody(TypedDict, total=False):
    """Whom to start a process as; nobody else, if empty."""

    user: int
    group: int
    extra_groups: list[str | int]


class Cluster:
    """A private PostgreSQL with one superuser, `pacas`, and a password."""

    def __init__(self, bin_folder: Path, folder: Path, **settings: str) -> None:
        self._bin, self._folder, self._settings = bin_folder, folder, SETTINGS | settings
        self.port = _free_port()
        self._server: subprocess.Popen[bytes] | None = None
        self._as = _unprivileged()
        if self._as:
            os.chown(folder, self._as["user"], self._as["group"])
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._make("-A", "scram-sha-256", "--pwfile", str(secret))
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://pacas:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        settings = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._bin / "postgres"), "-D", str(self._folder / "data"), "-p", str(self.port), *settings]
        with open(self._folder / "log", "ab") as log:
            self._server = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, **self._as)
        self._wait()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends its connections, SIGQUIT is a crash that it recovers from."""
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait(timeout=60)
            self._server = None

    def _make(self, *options: str) -> None:
        program, data = str(self._bin / "initdb"), str(self._folder / "data")
        command = [program, "-D", data, "-U", "pacas", "-E", "UTF8", "--locale=C"]
        done = subprocess.run(
            [*command, "--no-sync", *options], capture_output=True, cwd=self._folder, check=False, **self._as
        )
        assert done.returncode == 0, done.stderr.decode()

    def _wait(self) -> None:
        import psycopg

        for _ in range(600):
            assert self._server is not None and self._server.poll() is None, (self._folder / "log").read_text()
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise AssertionError("PostgreSQL did not start")


@contextmanager
def running_cluster(**settings: str) -> Iterator[Cluster]:
    """A private cluster for as long as this lasts."""
    found = programs()
    if found is None:
        pytest.skip(MISSING)
    with tempfile.TemporaryDirectory(prefix="pacas-postgres-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(found, Path(folder), **settings)
        try:
            yield cluster
        finally:
            cluster.stop(signal.SIGQUIT)  # at once: nothing of it is needed any more


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[str]:
    """The URL of a database to test in."""
    pytest.importorskip("psycopg", reason="psycopg is not installed; pip install 'pacas[postgres]'")
    if given := os.environ.get("PACAS_POSTGRES"):
        yield given
        return
    with running_cluster() as cluster:
        yield cluster.url


_numbers = count(1)


@pytest.fixture
def postgres_url(postgres_cluster: str) -> Iterator[str]:
    """The URL of a ledger that is not there yet; it is taken away after the test."""
    ledger = f"test_{os.getpid()}_{next(_numbers)}"
    yield f"{postgres_cluster}{'&' if '?' in postgres_cluster else '?'}ledger={ledger}"
    run(postgres_cluster, f"DROP SCHEMA IF EXISTS {ledger} CASCADE")


def run(url: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Run a statement in the schema of a ledger, as somebody without scruples does."""
    import psycopg

    address, _, ledger = url.partition("ledger=")
    with closing(psycopg.connect(address.rstrip("?&"), autocommit=True)) as connection:
        if ledger:
            connection.execute(f"SET search_path = {ledger}".encode())
        connection.execute("SET synchronous_commit = off")
        cursor = connection.execute(statement.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


def _unprivileged() -> Somebody:
    """How to start a process as somebody who is not root: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in UNPRIVILEGED:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no other user here")


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
