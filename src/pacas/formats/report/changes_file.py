"""What a cleaning has changed, a line a cell, as a table; and the cells that somebody should look at among them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.to_look_at import CellToLookAt
from pacas.core.money import credits_text
from pacas.errors import SchemaError
from pacas.formats.replacing import check_writable, replacing

HEADER = ("row", "key", "attribute", "old", "new", "why", "price", "receipt", "look", "guess", "sure")

Cell = tuple[int, str]
"""A row and an attribute."""


def write_changes(
    path: str | PathLike[str], cleaning: Cleaning, *, key: Sequence[str] = (), receipts: Mapping[str, str] | None = None
) -> None:
    """Write every cell that was changed, and those in doubt that were left: by row, then by column.

    `key` are columns that name rows to people; `receipts` are the names of receipts by purchase. `price` is what was
    bought for the cell's whole class, in credits; `look` says why somebody should look at a cell.
    """
    SchemaError.check_there(key, cleaning.columns, cleaning.source.name)
    check_writable(Path(path))
    with replacing(Path(path)) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(HEADER)
        lines.writerows(_lines(cleaning, key, receipts or {}))


def _lines(cleaning: Cleaning, key: Sequence[str], receipts: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    look = {(cell.row, cell.attribute): cell for cell in cleaning.to_look_at}
    changed = {
        (row, attribute): values
        for attribute, changes in cleaning.changes.items()
        for row, *values in zip(changes.rows.tolist(), changes.old, changes.new, strict=True)
    }
    repairs = {(row, repair.attribute): repair for repair in cleaning.repairs for row in repair.written.tolist()}
    place = {attribute: at for at, attribute in enumerate(cleaning.columns)}
    cells = sorted({*changed, *look}, key=lambda cell: (cell[0], place[cell[1]]))
    keys = _keys(cleaning, key, sorted({row for row, _ in cells}))
    for row, attribute in cells:
        seen, repair = look.get((row, attribute)), repairs.get((row, attribute))
        old, new = changed[row, attribute] if (row, attribute) in changed else _left(seen)
        bought = () if repair is None else repair.purchases
        price = credits_text(sum(purchase.price for purchase in bought)) if bought else ""
        signed = " ".join(receipts[purchase.key] for purchase in bought if purchase.key in receipts)
        why = "" if repair is None else repair.why.value
        yield (row, keys.get(row, ""), attribute, old, new, why, price, signed, *_doubt(seen))


def _left(seen: CellToLookAt | None) -> tuple[str | None, str | None]:
    assert seen is not None  # what was not changed is there to be looked at
    return seen.old, seen.new


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
