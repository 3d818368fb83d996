"""What a cleaning has changed, a line a cell, as a table; and the cells that somebody should look at among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.to_look_at import CellToLookAt
from pacas.core.money import credits_text
from pacas.errors import SchemaError
from pacas.formats import formulas
from pacas.formats.replacing import check_writable, write_lines

DOUBTFUL = ("row", "attribute", "value", "guess", "sure", "written")


def write_doubtful(path: Path, weighing: Judgement) -> None:
    """A line a cell; `sure` is how likely the guess is right, and `written` says whether it stands there now."""
    lines = (
        (cell.row, cell.attribute, cell.value, cell.guess, f"{cell.sure:.4f}", "yes" if cell.written else "no")
        for cell in weighing.doubtful
    )
    write_lines(path, DOUBTFUL, lines)


HEADER = ("row", "key", "attribute", "old", "new", "why", "price", "receipt", "look", "guess", "sure")


def write_changes(
    path: str | PathLike[str],
    cleaning: Cleaning,
    *,
    key: Sequence[str] = (),
    receipts: Mapping[str, str] | None = None,
    neutral: bool = False,
) -> None:
    """Write every cell that was changed, and those in doubt that were left: by row, then by column.

    `key` are columns that name rows to people; `receipts` are the names of receipts by purchase. `price` is what was
    bought for the cell's whole class, in credits; `look` says why somebody should look at a cell. `neutral` makes
    cells plain that a spreadsheet would take for formulas.
    """
    SchemaError.check_there(key, cleaning.columns, cleaning.source.name)
    check_writable(Path(path))
    found = _lines(cleaning, key, receipts or {})
    write_lines(Path(path), HEADER, map(_neutral, found) if neutral else found)


def _lines(cleaning: Cleaning, key: Sequence[str], receipts: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    cells = cleaning.changed_cells
    keys = _keys(cleaning, key, sorted({cell.row for cell in cells}))
    for cell in cells:
        bought = () if cell.repair is None else cell.repair.purchases
        price = "" if cell.price is None else credits_text(cell.price)
        signed = " ".join(receipts[purchase.key] for purchase in bought if purchase.key in receipts)
        why = "" if cell.repair is None else cell.repair.why.value
        named = (cell.row, keys.get(cell.row, ""), cell.attribute)
        yield (*named, cell.old, cell.new, why, price, signed, *_doubt(cell.look))


def _neutral(line: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(formulas.neutral(cell) if isinstance(cell, str) else cell for cell in line)


def _doubt(seen: CellToLookAt | None) -> tuple[str, str, str]:
    if seen is None:
        return "", "", ""
    return seen.look, seen.guess, "" if seen.sure is None else f"{seen.sure:.4f}"


def _keys(cleaning: Cleaning, key: Sequence[str], rows: list[int]) -> dict[int, str]:
    """What names each row: the values of the key's columns."""
    if not key or not rows:
        return {}
    table = cleaning.engine.open(cleaning.source, key)
    found = cleaning.engine.rows(table, np.array(rows, dtype=np.int64), key).to_pydict()
    values = zip(*(found[column] for column in key), strict=True)
    return {row: ", ".join(value or "" for value in named) for row, named in zip(rows, values, strict=True)}
