"""A cleaning as pages show it: what is written where and why, by row; and the cells that somebody should look at.

Cells are numbers in arrays, and made for those that a page shows: after an edit of all of them the next page is soon
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.edits import edited, edited_cells
from pacas.client.outcome.repairs import BY_HAND, FREE, PAID, among
from pacas.client.outcome.steps import Edit, Repair
from pacas.client.outcome.to_look_at import LEFT, CellToLookAt
from pacas.core.histogram import NO_ROWS, Ints
from pacas.review.marks import united

STATES = ("written", "kept", "pinned", "undone", LEFT)
"""What became of a cell; `kept` if somebody has looked at it, `left` if it is in doubt, and as it was given."""
WRITTEN, KEPT, PINNED, UNDONE, IN_DOUBT = range(len(STATES))


class WrittenCell(NamedTuple):
    """A cell that is another than it was, or was once and has been put back."""

    row: int
    attribute: str
    old: str | None
    new: str | None
    repair: Repair | None
    look: CellToLookAt | None
    state: str

    @property
    def price(self) -> int:
        """What was bought for its class."""
        return 0 if self.repair is None else sum(purchase.price for purchase in self.repair.purchases)


class CellNumbers(NamedTuple):
    """All such cells in the order of the page: a number each, in every array."""

    row: Ints
    column: Ints
    place: Ints
    """Where it stands in the changes of its column: those without edits, if it is undone."""
    state: Ints
    repair: Ints
    """The number of the repair that wrote it, −1 for none."""
    look: Ints
    """The number of the cell among those to look at, −1 if it is not one."""

    def chosen(self, which: NDArray[np.bool_] | Ints | slice) -> CellNumbers:
        return CellNumbers(*(numbers[which] for numbers in self))


class LookNumbers(NamedTuple):
    """The cells of one column that somebody should look at."""

    rows: Ints
    """Ascending."""
    number: Ints


class ToLookAt:
    """The cells that a cleaning says should be looked at, as it was before edits."""

    def __init__(self, cleaning: Cleaning) -> None:
        self.cells = cleaning.to_look_at
        place = {name: at for at, name in enumerate(cleaning.columns)}
        column = np.array([place[cell.attribute] for cell in self.cells], dtype=np.int64)
        row = np.array([cell.row for cell in self.cells], dtype=np.int64)
        self.sure = np.array([cell.sure or 0.0 for cell in self.cells])
        self.by_column: dict[str, LookNumbers] = {}
        for name in dict.fromkeys(cell.attribute for cell in self.cells):
            numbers = np.flatnonzero(column == place[name])
            order = np.argsort(row[numbers], kind="stable")
            self.by_column[name] = LookNumbers(row[numbers][order], numbers[order])
        guessed = [cell.look == LEFT and cell.guess != cell.old for cell in self.cells]
        left = np.flatnonzero(np.array(guessed, dtype=np.bool_))
        left = left[np.lexsort((column[left], row[left], -self.sure[left]))]
        of_none = np.full(len(left), -1, dtype=np.int64)
        state = np.full(len(left), IN_DOUBT, dtype=np.int64)
        self.left = CellNumbers(row[left], column[left], of_none, state, of_none, left)


class Written:
    """What a cleaning has written, with edits, over what it had written by itself."""

    def __init__(self, base: Cleaning, edits: Sequence[Edit] = (), by_itself: Written | None = None) -> None:
        """`by_itself` is the same without edits, where there is that already."""
        self.base, self.cleaning = base, edited(base, edits)
        self._to_look_at: ToLookAt = ToLookAt(base) if by_itself is None else by_itself._to_look_at
        self._edited = edited_cells(base, edits)
        self._looks = {name: self._not_edited(name, found) for name, found in self._to_look_at.by_column.items()}

    def _not_edited(self, attribute: str, found: LookNumbers) -> LookNumbers:
        if attribute not in self._edited:
            return found
        still = ~among(found.rows, self._edited[attribute].rows)
        return LookNumbers(found.rows[still], found.number[still])

    @property
    def violations(self) -> int | None:
        """The violating pairs that are left; None as long as they are being counted."""
        return self.cleaning.violations_after if self.cleaning.is_counted else None

    @property
    def to_look_at(self) -> int:
        """How many cells are in doubt."""
        return len(self.cleaning.to_look_at)

    # ---- some cells of a column -------------------------------------------------------------------------------

    def states(self, attribute: str, rows: Ints) -> list[str | None]:
        """Per row: what somebody did to its cell by hand, if anything."""
        found = self._states.get(attribute)
        if found is None:
            return [None] * len(rows)
        return [None if state < 0 else STATES[state] for state in _looked_up(*found, rows).tolist()]

    @cached_property
    def _states(self) -> Mapping[str, tuple[Ints, Ints]]:
        """Per column: the rows that were edited, and what their cells are now."""
        undone = np.array([edit.value is None for edit in self.cleaning.edits], dtype=np.bool_)
        return {
            name: (cells.rows, np.where(undone[cells.edit], UNDONE, np.where(cells.kept, KEPT, PINNED)))
            for name, cells in self._edited.items()
        }

    def new(self, attribute: str, rows: Ints) -> list[str | None]:
        """Per row: what is written into its cell; None if nothing."""
        changes = self.cleaning.changes.get(attribute)
        if changes is None:
            return [None] * len(rows)
        found = _looked_up(changes.rows, np.arange(len(changes)), rows)
        return [None if place < 0 else changes.new[place] for place in found.tolist()]

    def doubtful(self, attribute: str, rows: Ints) -> list[bool]:
        """Per row: should somebody look at its cell?"""
        found: list[bool] = among(rows, self._looks[attribute].rows).tolist() if attribute in self._looks else []
        return found or [False] * len(rows)

    # ---- all cells --------------------------------------------------------------------------------------------

    @cached_property
    def cells(self) -> CellNumbers:
        """All of them: doubtful ones first, then by row and column, then what was left in doubt."""
        by_column = [part for at, name in enumerate(self.cleaning.columns) for part in self._of_column(at, name)]
        found = _together(by_column)
        found = found.chosen(np.lexsort((found.column, found.row)))
        doubtful, sure = found.chosen(found.look >= 0), found.chosen(found.look < 0)
        doubtful = doubtful.chosen(np.argsort(self._to_look_at.sure[doubtful.look], kind="stable"))
        left = self._to_look_at.left
        still = np.isin(left.look, np.concatenate([NO_ROWS, *(looks.number for looks in self._looks.values())]))
        return _together([doubtful, sure, left.chosen(still)])

    def _of_column(self, at: int, attribute: str) -> list[CellNumbers]:
        """The cells of one column that are written, and those that were and are put back."""
        none = (NO_ROWS, NO_ROWS)
        edits, looks = self._states.get(attribute, none), self._looks.get(attribute, none)
        changes, before = self.cleaning.changes.get(attribute), self.base.changes.get(attribute)
        rows = NO_ROWS if changes is None else changes.rows
        writer = self.cleaning.repairs.writer(attribute, rows)
        state = np.maximum(_looked_up(*edits, rows), WRITTEN)
        column = np.full(len(rows), at, dtype=np.int64)
        found = [CellNumbers(rows, column, np.arange(len(rows)), state, writer, _looked_up(*looks, rows))]
        if before is not None and len(edits[0]):
            undone = edits[0][edits[1] == UNDONE]
            place = _looked_up(before.rows, np.arange(len(before)), undone)
            undone, place = undone[place >= 0], place[place >= 0]
            column, none_of = (np.full(len(undone), number, dtype=np.int64) for number in (at, -1))
            found.append(CellNumbers(undone, column, place, np.full(len(undone), UNDONE), none_of, none_of))
        return found

    def listed(self, numbers: CellNumbers) -> list[WrittenCell]:
        """Some of the cells as they are."""
        return [self._cell(*cell) for cell in zip(*(array.tolist() for array in numbers), strict=True)]

    def _cell(self, row: int, column: int, place: int, state: int, repair: int, look: int) -> WrittenCell:
        attribute = self.cleaning.columns[column]
        looked = self._to_look_at.cells[look] if look >= 0 else None
        if looked is not None and state == IN_DOUBT:
            return WrittenCell(row, attribute, looked.old, looked.guess, None, looked, LEFT)
        changes = (self.base if state == UNDONE else self.cleaning).changes[attribute]
        by = self.cleaning.repairs[repair] if repair >= 0 else None
        return WrittenCell(row, attribute, changes.old[place], changes.new[place], by, looked, STATES[state])

    def cell(self, attribute: str, row: int) -> WrittenCell | None:
        column = self.cleaning.columns.index(attribute)
        found = self.listed(self.cells.chosen((self.cells.row == row) & (self.cells.column == column)))
        return found[0] if found else None

    def rows_of_class(self, attribute: str, row: int) -> Ints:
        """The cells that were written with this one, for the same reason."""
        for cleaning in (self.cleaning, self.base):
            number = int(cleaning.repairs.writer(attribute, np.array([row]))[0])
            if number >= 0:
                return cleaning.repairs[number].written
        return np.array([row])

    # ---- rows by kind -----------------------------------------------------------------------------------------

    @cached_property
    def changed_rows(self) -> Ints:
        return united([changes.rows for changes in self.cleaning.changes.values()])

    @cached_property
    def doubtful_rows(self) -> Ints:
        return united([looks.rows for looks in self._looks.values()])

    @cached_property
    def hand_rows(self) -> Ints:
        return united([cells.rows for cells in self._edited.values()])

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
        return int(self.cleaning.repairs.by_kind[FREE])

    @property
    def paid(self) -> int:
        """Cells that what was bought has repaired."""
        return int(self.cleaning.repairs.by_kind[PAID])

    @property
    def pinned(self) -> int:
        return int(self.cleaning.repairs.by_kind[BY_HAND])


def _looked_up(known: Ints, numbers: Ints, rows: Ints) -> Ints:
    """Per row: the number that is known of it, −1 for none; the known ones are ascending."""
    if not len(known):
        return np.full(len(rows), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    return np.where(known[at] == rows, numbers[at], -1)


def _together(parts: Sequence[CellNumbers]) -> CellNumbers:
    return CellNumbers(*(np.concatenate([NO_ROWS, *arrays]) for arrays in zip(*parts, strict=True)))
