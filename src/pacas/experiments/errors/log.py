"""Errors in files: the dirty table, the log of its changes, and how hard each is to repair."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pacas.engine.contract import RelationFile
from pacas.errors import FileError
from pacas.experiments.errors.dirty_relation import DirtyRelation
from pacas.formats.relations.changed_csv import Change, write_changed
from pacas.formats.replacing import check_writable, replacing

LOG = ("row", "attribute", "old", "new", "kind")
REPAIRABILITY = ("row", "attribute", "fd", "before", "after", "by_majority")


def check_log(path: Path, file: RelationFile, others: Iterable[Path]) -> None:
    """Raise if a log could not be written there, or would take another file's place."""
    check_writable(path)
    for other in (file.path, *others):
        if path.resolve() == other.resolve():
            raise FileError(f"{path} is to hold two things, or is the table itself; give each file its own name")


def write_dirty(dirty: DirtyRelation, file: RelationFile, path: Path) -> None:
    """Write the dirty table of a file; what has no error stays byte for byte, if it is a text of the same kind."""
    column = {attribute: at for at, attribute in enumerate(file.columns)}
    changes = {e.row: [Change(column[e.attribute], e.old, e.new or "")] for e in dirty.errors}
    write_changed(file, len(dirty.clean), changes, lambda: dirty.relation, path)


def write_log(dirty: DirtyRelation, path: Path) -> None:
    """One line per changed cell, in row order; rows are counted from 0, and a null is empty."""
    _write(path, LOG, ([e.row, e.attribute, e.old, e.new, e.kind.value] for e in dirty.errors))


def write_repairability(dirty: DirtyRelation, path: Path) -> None:
    """One line per error with a dependency: the shares of tuples that speak for the old value, before and after."""
    told = ((e, e.repairability) for e in dirty.errors if e.repairability is not None)
    lines = (
        [e.row, e.attribute, str(e.fd), f"{r.before:.6g}", f"{r.after:.6g}", str(r.by_majority).lower()]
        for e, r in told
    )
    _write(path, REPAIRABILITY, lines)


def _write(path: Path, header: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)
