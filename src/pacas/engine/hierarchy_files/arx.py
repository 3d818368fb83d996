"""ARX hierarchies: one CSV row per ground value, column j holding its ancestor at level j.

The separator is `;` or `,`. Cells are quoted as CSV quotes them; an unquoted label may hold the other separator.
The first row is a header iff its last cell differs from the last cell of every other row; a row that is alone
in its file is a value, since there is no other to differ from.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pacas.core.hierarchies.lint import HierarchyRow
from pacas.core.hierarchy import Hierarchy
from pacas.engine.hierarchy_files.raw_hierarchy import FORMATS, RawHierarchy, at
from pacas.errors import FileError

SEPARATORS = ";,"
MARKED = '",\r\n'
"""With one of these in a label, every cell is quoted: then no reader can take the other separator for ours."""


def parse(text: str, path: Path) -> RawHierarchy:
    table = max((_split(text, separator) for separator in SEPARATORS), key=_plausibility)
    if table.error is not None:
        raise FileError(f"{at(path, table.error[0])}: not readable as CSV ({table.error[1]}); check the quotes there")
    if all(len(row.labels) == 1 for row in table.rows):
        raise FileError(f"{path}: no hierarchy, each line is a single value; {FORMATS}")
    if table.has_header:
        return RawHierarchy(table.rows[1:], header=table.rows[0].labels)
    return RawHierarchy(table.rows)


def write(hierarchy: Hierarchy) -> str:
    rows = hierarchy.level_zero_rows()
    marked = any(mark in label for row in rows for label in row for mark in MARKED)
    bom = rows and rows[0][0].startswith("\ufeff")
    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=";", lineterminator="\n", quoting=csv.QUOTE_ALL if marked or bom else csv.QUOTE_MINIMAL
    )
    writer.writerows(rows)
    return out.getvalue()


# ---- which separator? ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """A file as one separator splits it."""

    rows: tuple[HierarchyRow, ...]
    error: tuple[int, str] | None = None

    @property
    def has_header(self) -> bool:
        last = [row.labels[-1] for row in self.rows]
        return len(last) > 1 and last[0] not in last[1:]


def _split(text: str, separator: str) -> _Table:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[HierarchyRow] = []
    line = 1
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                rows.append(HierarchyRow(tuple(cells), line))
            line = reader.line_num + 1
    except csv.Error as error:
        return _Table(tuple(rows), (line, str(error)))
    return _Table(tuple(rows))


def _plausibility(table: _Table) -> tuple[float, ...]:
    """Of two ways to split a file, the likelier: rows of one width, and no separator left in the root."""
    if table.error is not None:
        return (0.5, float(len(table.rows)))
    data: Sequence[HierarchyRow] = table.rows[table.has_header :]
    width, usual = Counter(len(row.labels) for row in data).most_common(1)[0]
    if width == 1:
        return (0.0, float(len(data) - usual))
    clean = not any(separator in row.labels[-1] for row in data for separator in SEPARATORS)
    return (1.0, float(usual == len(data)), float(clean), usual / len(data))
