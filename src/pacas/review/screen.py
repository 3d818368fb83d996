"""One screen of a table: its rows, what is wrong with their cells, and what is written into them.

The engine is asked for these rows alone. Rows of a kind (of an attribute's classes, doubtful ones, …) are known by
number; a text is looked for in one stretch of the table at a time, so that no request has to read all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pacas.core.histogram import Ints
from pacas.engine.contract import Engine, Table
from pacas.review.marks import Marks
from pacas.review.written import Written

ROWS = 50
"""Of a screen."""
CELLS = 1_000_000
"""That are looked through for a text in one request."""
COLOURS = 8
"""That classes are told apart by."""
LOOKS = {
    "standing_out": "unlike most of their class",
    "violating": "in a class that disagrees",
    "changed": "changed",
    "doubtful": "doubtful",
    "hand": "edited by hand",
}


class ShownCell(NamedTuple):
    """A cell of a screen."""

    attribute: str
    given: str | None
    new: str | None
    """What is written into it; None if nothing."""
    colour: int
    """Of its class, from 1; 0 if it is in none."""
    stands_out: bool
    """Is it another value than most of its class have?"""
    doubtful: bool
    by_hand: str | None


class ShownRow(NamedTuple):
    number: int
    cells: list[ShownCell]


@dataclass(frozen=True, slots=True)
class Facets:
    """Which rows are wanted: those that are of all the kinds that are named."""

    attribute: str = ""
    fd: str = ""
    size: str = ""
    look: str = ""
    reason: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Facets:
        return cls(**{name: given.get(name, "") for name in ("attribute", "fd", "size", "look", "reason")})

    def rows(self, marks: Marks | None, written: Written | None) -> Ints | None:
        """Their numbers, ascending; None for all rows."""
        wanted: list[Ints] = []
        none = np.empty(0, dtype=np.int64)
        if marks is not None:
            by_dependency = {str(fd): rows for fd, rows in marks.by_dependency.items()}
            wanted += [marks.by_attribute.get(self.attribute, none)] if self.attribute else []
            wanted += [by_dependency.get(self.fd, none)] if self.fd else []
            wanted += [marks.by_size.get(self.size, none)] if self.size else []
            wanted += [marks.violating] if self.look == "violating" else []
            wanted += [marks.standing_out] if self.look == "standing_out" else []
        if written is not None:
            kinds = {"changed": "changed_rows", "doubtful": "doubtful_rows", "hand": "hand_rows"}
            wanted += [getattr(written, kinds[self.look])] if self.look in kinds else []
            wanted += [written.by_reason.get(self.reason, none)] if self.reason else []
        if not wanted:
            return None
        rows = wanted[0]
        for others in wanted[1:]:
            rows = np.intersect1d(rows, others, assume_unique=True)
        return rows


def shown_rows(
    engine: Engine[Any],
    table: Table,
    rows: Ints,
    names: Sequence[str],
    marks: Marks | None,
    written: Written | None,
) -> list[ShownRow]:
    """Rows as a screen shows them, the columns in this order."""
    texts = engine.rows(table, rows, names)
    columns = []
    for place, name in enumerate(names):
        given: list[str | None] = texts.column(place).to_pylist()
        classes = [-1] * len(rows) if marks is None else marks.numbers(name, rows).tolist()
        out = [False] * len(rows) if marks is None else marks.stands_out(name, rows).tolist()
        new = [None] * len(rows) if written is None else written.new(name, rows)
        doubtful = [False] * len(rows) if written is None else written.doubtful(name, rows)
        by_hand = [None] * len(rows) if written is None else written.states(name, rows)
        colours = [0 if number < 0 else number % COLOURS + 1 for number in classes]
        found = zip(given, new, colours, out, doubtful, by_hand, strict=True)
        columns.append([ShownCell(name, *cell) for cell in found])
    return [ShownRow(row, list(cells)) for row, cells in zip(rows.tolist(), zip(*columns, strict=True), strict=True)]


class Found(NamedTuple):
    """The rows of a stretch that have a text, and where to look on; None at the end of the table."""

    rows: Ints
    next: int | None


def search(engine: Engine[Any], table: Table, text: str, among: Ints | None, first: int, most: int = ROWS) -> Found:
    """Look for a text from a row on: in one stretch, whose rows are as many as may be looked through in one request."""
    stretch = max(CELLS // max(len(table.columns), 1), ROWS) if engine.holdable_bytes else len(table)
    last = min(first + stretch, len(table))
    rows = engine.search(table, text, table.columns, first, last)
    if among is not None:
        rows = np.intersect1d(rows, among, assume_unique=True)
    if len(rows) > most:
        return Found(rows[:most], int(rows[most]))
    return Found(rows, last if last < len(table) else None)
