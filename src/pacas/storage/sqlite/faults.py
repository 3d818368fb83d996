"""What SQLite complains about, in one clear line that names the file and no value."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from pacas.errors import StorageError

_DAMAGED = "is damaged; keep it as it is, and go on with a copy from before"
_PRIMARY = 0xFF
"""SQLite's extended error codes hold the primary one in their lowest byte."""
_PLAIN = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite database, or its beginning is damaged; nothing was written to it",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_BUSY: "is in use: another process has not finished its purchase in time; try again",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; nothing was recorded",
    sqlite3.SQLITE_READONLY: "cannot be written; check the permissions of the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened for writing; check that its folder exists, and the permissions",
}


def fault(path: Path, problem: str) -> StorageError:
    """The error for a ledger's file."""
    return StorageError(f"the ledger {path.name} {problem}")


def damaged(path: Path) -> StorageError:
    """The error for a file that SQLite can open and not read as a whole."""
    return fault(path, _DAMAGED)


class faults_as_storage_errors:  # it reads as the verb it is; a class, as it is on the way of every sale
    """SQLite's errors as ours, after undoing what was begun. Their messages may quote values, so none is kept."""

    __slots__ = ("_path", "_undo")

    def __init__(self, path: Path, undo: Callable[[], None] | None = None) -> None:
        self._path, self._undo = path, undo

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            if self._undo is not None:
                self._undo()
            raise fault(self._path, problem(error)) from None


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process was in the way."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_BUSY


def problem(error: sqlite3.Error) -> str:
    """What is wrong with a statement."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return "is closed, or was used in a way that SQLite does not allow"
    name = getattr(error, "sqlite_errorname", "an unknown error")
    return _PLAIN.get(code & _PRIMARY, f"cannot be read or written ({name})")
