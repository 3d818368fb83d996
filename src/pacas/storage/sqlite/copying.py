"""Whole copies of a ledger in SQLite files: made while it is sold from, and put in its place."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

from pacas.storage.new_file import made_once
from pacas.storage.sqlite.faults import fault, faults_as_storage_errors
from pacas.storage.sqlite.ledger import open_file

BESIDE = ("", "-wal", "-shm")
"""What SQLite keeps beside a file belongs to that file, and must not be found beside another."""


def write_copy(target: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """A new ledger's file that is filled whole, or not there; only its owner can read it."""
    if os.path.lexists(target):
        raise fault(target, "is there already, and nothing is written over; name another file")
    try:
        with made_once(target) as made:
            made.unlink()
            with faults_as_storage_errors(target), closing(open_file(made)) as connection:
                fill(connection)
    except OSError as error:
        raise fault(target, f"cannot be made in its folder ({error.strerror})") from None


def copy_of(source: Path) -> Callable[[sqlite3.Connection], None]:
    """What fills a copy: all of a ledger's file as of one moment, whoever sells from it meanwhile."""

    def fill(copy: sqlite3.Connection) -> None:
        with faults_as_storage_errors(source), closing(open_file(source)) as connection:
            connection.backup(copy)

    return fill


def put_in_place(source: Path, path: Path) -> Path | None:
    """Put a copy of `source` where a ledger is; where what was there is now, with what belonged to it.

    Who has the old file open finds another in its place, and sells nothing more from it.
    """
    new = Path(mkdtemp(prefix=f".{path.name}.", dir=path.parent)) / path.name
    try:
        write_copy(new, copy_of(source))
        away = _moved_away(path)
        os.link(new, path)
    except OSError as error:
        raise fault(path, f"cannot be replaced ({error.strerror})") from None
    finally:
        for left in new.parent.iterdir():
            left.unlink()
        new.parent.rmdir()
    return away


def _moved_away(path: Path) -> Path | None:
    """Move a ledger's file away, with what belongs to it: nothing that was in it is lost."""
    if not path.exists():
        return None
    number = 1
    while os.path.lexists(away := path.with_name(f"{path.name}.replaced-{number}")):
        number += 1
    for end in BESIDE:
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(away.with_name(away.name + end))
    return away
