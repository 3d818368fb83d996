"""A cleaning as pages show it: what is written where and why, by row; and the cells that somebody should look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple, TypeVar

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import Repair, Why
from pacas.client.outcome.to_look_at import LEFT, CellToLookAt
from pacas.core.histogram import NO_ROWS, Ints
from pacas.review.marks import united

T = TypeVar("T")
NOTHING = (None, None)
"""From what to what a cell was written that was not."""


class WrittenCell(NamedTuple):
    """A cell that is another than it was, or was once and has been put back."""

    row: int
    attribute: str
    old: str | None
    new: str | None
    repair: Repair | None
    look: CellToLookAt | None
    state: str
    """`written`, `kept` (somebody has looked at it), `pinned`, `undone`, or `left`: in doubt, and as it was given."""

    @property
    def price(self) -> int:
        """What was bought for its class."""
        return 0 if self.repair is None else sum(purchase.price for purchase in self.repair.purchases)


class Written:
    """What a cleaning has written, with edits, over what it had written by itself."""

    def __init__(self, base: Cleaning, cleaning: Cleaning) -> None:
        self.base, self.cleaning = base, cleaning

    @property
    def violations(self) -> int | None:
        """The violating pairs that are left; None as long as they are being counted."""
        return self.cleaning.violations_after if self.cleaning.is_counted else None

    @cached_property
    def looks(self) -> Mapping[tuple[str, int], CellToLookAt]:
        return {(cell.attribute, cell.row): cell for cell in self.cleaning.to_look_at}

    @cached_property
    def _states(self) -> Mapping[tuple[str, int], str]:
        """Per cell that was edited: what it is now."""
        last = {(edit.attribute, row): edit.value for edit in self.cleaning.edits for row in edit.rows.tolist()}
        found = {}
        for (attribute, row), value in last.items():
            _, by_itself = self._by_itself[attribute].get(row, NOTHING)
            found[attribute, row] = "undone" if value is None else "kept" if value == by_itself else "pinned"
        return found

    @cached_property
    def _by_itself(self) -> Mapping[str, Mapping[int, tuple[str | None, str | None]]]:
        """Per column with edits, and row: from what to what it was written before them."""
        found: dict[str, dict[int, tuple[str | None, str | None]]] = {}
        for attribute in {edit.attribute for edit in self.cleaning.edits}:
            changes = self.base.changes.get(attribute)
            pairs = () if changes is None else zip(changes.old, changes.new, strict=True)
            rows = () if changes is None else changes.rows.tolist()
            found[attribute] = dict(zip(rows, pairs, strict=True))
        return found

    @staticmethod
    def _value(cleaning: Cleaning, attribute: str, row: int) -> str | None:
        """What a cleaning has written into a cell; None if nothing."""
        changes = cleaning.changes.get(attribute)
        if changes is None:
            return None
        at = int(np.searchsorted(changes.rows, row))
        return changes.new[at] if at < len(changes) and int(changes.rows[at]) == row else None

    def state(self, attribute: str, row: int) -> str | None:
        """What somebody did to a cell by hand, if anything."""
        return self._states.get((attribute, row))

    def new(self, attribute: str, rows: Ints) -> list[str | None]:
        """Per row: what is written into its cell; None if nothing."""
        return [self._value(self.cleaning, attribute, row) for row in rows.tolist()]

    @cached_property
    def cells(self) -> tuple[WrittenCell, ...]:
        """All of them: doubtful ones first, then by row and column, then what was left in doubt."""
        repairs: dict[str, dict[int, Repair]] = {}
        for repair in self.cleaning.repairs:
            of_column = repairs.setdefault(repair.attribute, {})
            for row in repair.written.tolist():
                of_column[row] = repair
        states, looks = _by_column(self._states), _by_column(self.looks)
        found: list[WrittenCell] = []
        for name in self.cleaning.columns:
            found += self._of_column(name, repairs.get(name, {}), states.get(name, {}), looks.get(name, {}))
        found.sort(key=itemgetter(0))  # by row: columns are in order already
        doubtful = [cell for cell in found if cell.look is not None] if self.looks else []
        sure = [cell for cell in found if cell.look is None] if doubtful else found
        left = [
            WrittenCell(cell.row, cell.attribute, cell.old, cell.guess, None, cell, LEFT)
            for cell in self.looks.values()
            if cell.look == LEFT and cell.guess != cell.old
        ]
        place = {name: at for at, name in enumerate(self.cleaning.columns)}
        left.sort(key=lambda cell: (-_sure(cell), cell.row, place[cell.attribute]))
        return (*sorted(doubtful, key=_sure), *sure, *left)

    def _of_column(
        self,
        attribute: str,
        repairs: Mapping[int, Repair],
        states: Mapping[int, str],
        looks: Mapping[int, CellToLookAt],
    ) -> list[WrittenCell]:
        """The cells of one column that are written, or were and are put back."""
        changes = self.cleaning.changes.get(attribute)
        written = () if changes is None else zip(changes.rows.tolist(), changes.old, changes.new, strict=True)
        found = [
            WrittenCell(row, attribute, old, new, repairs.get(row), looks.get(row), states.get(row, "written"))
            for row, old, new in written
        ]
        for row, state in states.items():
            if state == "undone" and (was := self._by_itself[attribute].get(row)) is not None:
                found.append(WrittenCell(row, attribute, *was, None, None, state))
        return found

    def cell(self, attribute: str, row: int) -> WrittenCell | None:
        return next((cell for cell in self.cells if cell.attribute == attribute and cell.row == row), None)

    def rows_of_class(self, attribute: str, row: int) -> Ints:
        """The cells that were written with this one, for the same reason."""
        for cleaning in (self.cleaning, self.base):
            for repair in cleaning.repairs:
                if repair.attribute == attribute and row in repair.written:
                    return repair.written
        return np.array([row])

    # ---- rows by kind -----------------------------------------------------------------------------------------

    @cached_property
    def changed_rows(self) -> Ints:
        return united([changes.rows for changes in self.cleaning.changes.values()])

    @cached_property
    def doubtful_rows(self) -> Ints:
        return _sorted(row for _, row in self.looks)

    @cached_property
    def hand_rows(self) -> Ints:
        return _sorted(row for _, row in self._states)

    @cached_property
    def by_reason(self) -> Mapping[str, Ints]:
        """The rows of classes that are left as they are, by why."""
        found: dict[str, list[Ints]] = {}
        for left in self.cleaning.unrepaired:
            found.setdefault(left.reason, []).append(left.rows)
        return {reason: united(rows) for reason, rows in sorted(found.items())}

    @cached_property
    def _written_by(self) -> Counter[str]:
        """Cells by what has written them."""
        found = Counter[str]()
        for repair in self.cleaning.repairs:
            found["paid" if repair.purchases else "pinned" if repair.why is Why.PINNED else "free"] += len(
                repair.written
            )
        return found

    @property
    def free(self) -> int:
        """Cells that own evidence has repaired."""
        return self._written_by["free"]

    @property
    def paid(self) -> int:
        """Cells that what was bought has repaired."""
        return self._written_by["paid"]

    @property
    def pinned(self) -> int:
        return self._written_by["pinned"]


def _by_column(cells: Mapping[tuple[str, int], T]) -> Mapping[str, Mapping[int, T]]:
    found: dict[str, dict[int, T]] = {}
    for (attribute, row), about in cells.items():
        found.setdefault(attribute, {})[row] = about
    return found


def _sure(cell: WrittenCell) -> float:
    """How sure it is; what was written without being sure comes first."""
    return (cell.look and cell.look.sure) or 0.0


def _sorted(rows: Iterable[int]) -> Ints:
    listed = list(rows)
    return np.unique(np.array(listed, dtype=np.int64)) if listed else NO_ROWS
