"""A table with some cells changed, as a file; in a text that stays one of its kind, other bytes are as they were."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pacas.core.relation import Relation
from pacas.engine.contract import RelationFile
from pacas.formats.relations.changed_csv import Change, NotAsExpected, patch
from pacas.formats.relations.relations import PARQUET, create_text, kind_to_write, write_relation
from pacas.formats.replacing import replacing


def write_changed(
    file: RelationFile,
    rows: int,
    changes: Mapping[int, Iterable[Change]],
    relation: Callable[[], Relation],
    path: Path,
) -> None:
    """Write a file's table with its changes; `path` holds all of it or is as it was.

    A text that stays one of its kind is copied, with the changed cells put in; if that cannot be, it is written anew
    with its own delimiter. `relation` makes the changed table, for what is not copied.
    """
    kind = kind_to_write(path)
    with replacing(path) as partial:
        if file.format != "csv" or kind == PARQUET:
            write_relation(relation(), partial)
        elif not (_is_same_kind(kind, file) and _copied(file, rows, changes, partial)):
            _write_text(relation(), file.delimiter if _is_same_kind(kind, file) else kind, partial)


def _is_same_kind(kind: str, file: RelationFile) -> bool:
    """Whether a text may keep its delimiter: a name that says tabs means them, any other means none."""
    return (kind == "\t") == (file.delimiter == "\t")


def _copied(file: RelationFile, rows: int, changes: Mapping[int, Iterable[Change]], partial: Path) -> bool:
    """Whether the file could be copied: not if its records are not told apart as one would think."""
    try:
        with create_text(partial) as out:
            patch(file, rows, changes, out)
    except NotAsExpected:
        return False
    return True


def _write_text(relation: Relation, delimiter: str, partial: Path) -> None:
    """A relation of texts, with quotes only where they are needed."""
    needs_quotes = re.compile(f'[{re.escape(delimiter)}"\\r\\n]').search

    def line(values: Iterable[str | None]) -> str:
        fields = ("" if value is None else value for value in values)
        return delimiter.join('"' + f.replace('"', '""') + '"' if needs_quotes(f) else f for f in fields) + "\n"

    with create_text(partial) as out:
        out.write(line(relation.columns).encode())
        for batch in relation.table.to_batches(BATCH):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            out.write("".join(map(line, rows)).encode())


BATCH = 1 << 16
"""Rows that are turned into text at once."""
