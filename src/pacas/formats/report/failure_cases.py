"""Violations in the form of pandera's failure cases: a line a cell, for tools that read those, and for `--cells`."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pacas.client.classes.check import Check
from pacas.engine.contract import RelationFile, Source, Table
from pacas.errors import FileError, SchemaError
from pacas.formats.replacing import check_writable, replacing

HEADER = ("schema_context", "column", "check", "check_number", "failure_case", "index")


def write_failure_cases(path: Path, found: Check, source: Source, key: Sequence[str] = ()) -> None:
    """Write the cells of all violating groups, by dependency and row, with the columns of a key.

    The check is the dependency, the failure case the cell's value, and the index the row's number.
    """
    SchemaError.check_there(key, source.columns, source.name)
    check_writable(path)
    if isinstance(source, RelationFile) and path.exists() and path.samefile(source.path):
        raise FileError(f"{path} is the table itself; give another name")
    columns = {*key, *(dependency.fd.rhs for dependency in found.dependencies)}
    table = found.engine.open(source, [column for column in source.columns if column in columns])
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*HEADER, *key])
        lines.writerows(_lines(found, table, key))


def _lines(found: Check, table: Table, key: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for number, dependency in enumerate(found.dependencies):
        rows = dependency.violating.rows.copy()
        rows.sort()
        column = dependency.fd.rhs
        asked = list(dict.fromkeys([column, *key]))
        values = found.engine.rows(table, rows, asked).to_pydict() if len(rows) else dict.fromkeys(asked, ())
        keys = (values[name] for name in key)
        for row, value, *named in zip(rows.tolist(), values[column], *keys, strict=True):
            yield ("Column", column, str(dependency.fd), number, value, row, *named)
