"""Ledgers in SQLite files.

Every purchase is a transaction of its own, synced to disk before it counts (WAL, synchronous=FULL). Several processes
may share a file: writers wait for each other, readers for nobody.

A file's descriptor must never be opened here by other means than SQLite's: closing it would release the locks that
SQLite holds on the file for the whole process.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from pacas.errors import LedgerWentBackError
from pacas.provider.ledger.chain import Records
from pacas.provider.ledger.ledger import Store
from pacas.storage.database import FORKED, PATIENCE, UNDONE, DatabaseLedger, utc_seconds
from pacas.storage.new_file import made_once
from pacas.storage.sqlite.faults import damaged, fault, faults_as_storage_errors, is_busy, problem
from pacas.storage.sqlite.tables import CREATE, SqliteTables

APPLICATION_ID = int.from_bytes(b"PACS", "big")
"""What SQLite keeps in the file's header to say whose file it is."""
SCHEMA_VERSION = 1
CHECKPOINT = 2000
"""Pages of the log after which they are copied into the file: seldom, as a sale waits for it, but not so seldom that
the log grows for long. From then on it is written over, and a sync that has no new length to record takes less."""
SOON, SELDOM, OFTEN = 0.0004, 0.004, 0.0002
"""Seconds until the second look at whether another process still writes, and between two looks after that: first
seldom, then often."""
STINT = 0.04
"""Seconds for which it is seldom. Who has just sold has all at hand for the next sale: processes that took turns sale
by sale would sell less together than one alone."""
ALONE = "&immutable=1"
"""For a file that nobody can write."""
SMALLEST = 512
"""The bytes of SQLite's smallest page: a file with fewer was cut, as a ledger is never seen before it is whole."""


class SqliteLedger(DatabaseLedger):
    """A ledger in a SQLite file that only its owner can read; the file is made if it is not there.

    One that is opened only to be read is never made, and may be where nothing can be written.
    """

    def __init__(
        self,
        path: Path,
        *,
        patience: float = PATIENCE,
        clock: Callable[[], int] = utc_seconds,
        read_only: bool = False,
    ) -> None:
        super().__init__(clock)
        self._path = path
        self._patience = patience
        self.is_read_only = read_only
        connect = _connect_to_read if read_only else connect_again
        self._connection = connect(path, patience) if read_only else open_file(path, patience)
        self._tables = SqliteTables(self._connection)
        self._second = connect(path, patience)
        self._second_tables = SqliteTables(self._second)
        with faults_as_storage_errors(path):
            self._tables.head()  # from now on there is a log beside the file
        self._places = {file: _identity(file) for file in (str(path), f"{path}-wal")}
        """Which files these are: who swaps or removes one takes away what is written to it."""

    def __repr__(self) -> str:
        return f"SqliteLedger({self._path.name!r})"

    def close(self) -> None:
        with self._lock, self._reading:
            self._places.clear()
            self._connection.close()
            self._second.close()

    def _open_tables(self, is_first: bool) -> Store:
        self._check_process()
        if not (is_first and self._depth):  # a transaction looks when it begins and when it has ended
            self._check_place()
        return self._tables if is_first else self._second_tables

    def _fault_of(self, error: BaseException | None, is_first: bool) -> Exception | None:
        if not isinstance(error, sqlite3.Error):
            return None
        if is_first:
            self._roll_back()
        return fault(self._path, problem(error))

    @contextmanager
    def _snapshot(self) -> Iterator[Records]:
        self._check_place()
        again = _connect_to_read if self.is_read_only else _connect
        with closing(again(self._path, self._patience)) as connection, faults_as_storage_errors(self._path):
            connection.execute("BEGIN")
            tables = SqliteTables(connection)
            tables.head()  # the moment is that of the first read
            yield tables

    def _begin(self) -> None:
        self._check_process()
        if self._depth == 0:
            with faults_as_storage_errors(self._path):
                if self.is_read_only:
                    self._connection.execute("BEGIN")
                else:
                    self._begin_alone()
            try:
                self._check_place()  # nobody may swap it any more, who waits for writers to end
            except BaseException:
                self._roll_back()
                raise
        elif not self._connection.in_transaction:
            raise fault(self._path, UNDONE)

    def _begin_alone(self) -> None:
        """Begin when no other process writes: let it sell several in a row, and then look often, as it leaves but short
        gaps between them.

        SQLite's own waiting comes to 0.1 s between two looks, and would miss nearly all of them. What others have sold
        meanwhile is taken in between two looks: afterwards all would wait for it.
        """
        begun, pause = monotonic(), SOON
        while not self._has_begun((waited := monotonic() - begun) < self._patience):
            self.while_waiting()
            sleep(pause)
            pause = SELDOM if waited < STINT else OFTEN

    def _has_begun(self, may_wait: bool) -> bool:
        execute = self._connection.execute
        execute("PRAGMA busy_timeout = 0")
        try:
            execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if may_wait and is_busy(error):
                return False
            raise
        finally:
            execute(f"PRAGMA busy_timeout = {int(self._patience * 1000)}")
        return True

    def _commit(self) -> None:
        if not self._connection.in_transaction:
            raise fault(self._path, UNDONE)
        with faults_as_storage_errors(self._path, self._roll_back):
            self._tables.finish()
            self._connection.execute("COMMIT")
        self._check_place()  # it is durable only where it is found again

    def _roll_back(self) -> None:
        self._tables.forget()
        with suppress(sqlite3.Error):  # after some faults SQLite has done so already
            self._connection.execute("ROLLBACK")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise fault(self._path, FORKED)

    def _check_place(self) -> None:
        """The files that are open are those that others will find."""
        for file, identity in self._places.items():
            if _identity(file) != identity:
                raise LedgerWentBackError(f"{os.path.basename(file)} was removed or replaced by another file")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def open_file(path: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    """A connection to a ledger's file, which is made if it is not there."""
    if not os.path.lexists(path):
        _create(path)
    return _connect(path, patience)


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    """A connection to a ledger's file, every commit synced to disk. Nothing is written to a file that is no ledger."""
    _check_file(path)
    connection = _open(path, patience)
    try:
        with faults_as_storage_errors(path):
            _check_ledger(connection, path)
            _sync_fully(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_again(path: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    """One more connection to a ledger's file that was found whole."""
    connection = _open(path, patience)
    try:
        with faults_as_storage_errors(path):
            _sync_fully(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path, patience: float) -> sqlite3.Connection:
    """A connection to a ledger's file that writes nothing into it.

    SQLite reads a file by a log beside it, which it makes where it can; where it cannot and there is none, nobody
    writes, and the file is read as it is.
    """
    _check_file(path)
    has_log = path.with_name(f"{path.name}-wal").exists()
    connection = _open(path, patience, "rw" if os.access(path.parent, os.W_OK) else f"ro{'' if has_log else ALONE}")
    try:
        with faults_as_storage_errors(path):
            connection.execute("PRAGMA query_only = ON")
            _check_ledger(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _open(path: Path, patience: float, mode: str = "rw") -> sqlite3.Connection:
    with faults_as_storage_errors(path):
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=patience,
            isolation_level=None,
            check_same_thread=False,
        )


def _check_file(path: Path) -> None:
    try:
        size = path.stat().st_size if path.is_file() else None
    except OSError as error:
        raise fault(path, f"cannot be opened ({error.strerror})") from None
    if size is None:
        raise fault(path, "is not a file; ledger.url names the file to keep it in")
    if size < SMALLEST:
        raise fault(path, "is cut short: what it held is lost; restore a copy, or remove it to begin a new ledger")


def _check_ledger(connection: sqlite3.Connection, path: Path) -> None:
    """The file is a whole database, and one of ours."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise fault(path, "is a SQLite database of something else; nothing was written to it")
    if version != SCHEMA_VERSION:
        raise fault(path, f"has the layout {version}, and this release reads layout {SCHEMA_VERSION}")
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(path)


def _sync_fully(connection: sqlite3.Connection) -> None:
    """A commit returns when it will outlast a crash of the machine."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: the disk's own cache, too


def _create(path: Path) -> None:
    """A new, empty ledger, which stands there whole or not at all; one that another process made first is kept."""
    try:
        with made_once(path) as made:
            _fill(made)
    except OSError as error:
        raise fault(path, f"cannot be made in its folder ({error.strerror})") from None


def _fill(path: Path) -> None:
    with faults_as_storage_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        _sync_fully(connection)
        connection.execute("BEGIN")
        for statement in CREATE:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
