"""A cleaning as pages show it: what is written where and why, by row; and the cells that somebody should look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import Repair, Why
from pacas.client.outcome.to_look_at import LEFT, CellToLookAt
from pacas.core.histogram import NO_ROWS, Ints
from pacas.review.marks import united


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
            by_itself = self._value(self.base, attribute, row)
            found[attribute, row] = "undone" if value is None else "kept" if value == by_itself else "pinned"
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
    def _repair_of(self) -> Mapping[tuple[str, int], Repair]:
        return {(r.attribute, row): r for r in self.cleaning.repairs for row in r.written.tolist()}

    @cached_property
    def cells(self) -> tuple[WrittenCell, ...]:
        """All of them: doubtful ones first, then by row and column, then what was left in doubt."""
        found = []
        for attribute, changes in self.cleaning.changes.items():
            for row, old, new in zip(changes.rows.tolist(), changes.old, changes.new, strict=True):
                state = self._states.get((attribute, row), "written")
                look = self.looks.get((attribute, row))
                found.append(WrittenCell(row, attribute, old, new, self._repair_of.get((attribute, row)), look, state))
        found += [
            WrittenCell(
                row, attribute, self._old(attribute, row), self._value(self.base, attribute, row), None, None, state
            )
            for (attribute, row), state in self._states.items()
            if state == "undone" and self._value(self.base, attribute, row) is not None
        ]
        found += [
            WrittenCell(cell.row, cell.attribute, cell.old, cell.guess, None, cell, LEFT)
            for cell in self.looks.values()
            if cell.look == LEFT and cell.guess != cell.old
        ]
        place = {name: at for at, name in enumerate(self.cleaning.columns)}
        return tuple(sorted(found, key=lambda cell: (_doubt(cell), cell.row, place[cell.attribute])))

    def _old(self, attribute: str, row: int) -> str | None:
        changes = self.base.changes[attribute]
        return changes.old[int(np.searchsorted(changes.rows, row))]

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

    @property
    def free(self) -> int:
        """Cells that own evidence has repaired."""
        return sum(len(r.written) for r in self.cleaning.repairs if not r.purchases and r.why is not Why.PINNED)

    @property
    def paid(self) -> int:
        """Cells that what was bought has repaired."""
        return sum(len(r.written) for r in self.cleaning.repairs if r.purchases)

    @property
    def pinned(self) -> int:
        return sum(len(r.written) for r in self.cleaning.repairs if r.why is Why.PINNED)


def _doubt(cell: WrittenCell) -> tuple[int, float]:
    """Written without being sure comes first; what was left in doubt comes last, the likeliest guesses first."""
    if cell.state == LEFT:
        return (2, -((cell.look and cell.look.sure) or 0.0))
    return (1, 0.0) if cell.look is None else (0, cell.look.sure or 0.0)


def _sorted(rows: Iterable[int]) -> Ints:
    listed = list(rows)
    return np.unique(np.array(listed, dtype=np.int64)) if listed else NO_ROWS
