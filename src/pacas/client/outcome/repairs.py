"""The repairs of a cleaning in their order, found by cell; and those of one with edits, taken apart when asked for.

A table may have tens of thousands of them. Numbers say which repairs a cell is in, so that an edit of all cells takes
no longer than to count them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from pacas.client.outcome.steps import Repair, Why
from pacas.core.histogram import NO_ROWS, Ints
from pacas.core.words import counted

FREE, PAID, BY_HAND = range(3)
"""What has written a cell: own evidence, what was bought, or somebody."""


class RowsOfRepairs(NamedTuple):
    """The rows of one attribute that repairs are about, ascending, a row as often as there are repairs of it."""

    rows: Ints
    repair: Ints
    """The number of each one's repair; of one row, in order."""


class ListedRepairs(Sequence[Repair]):
    """What was written, class by class."""

    def __init__(self, found: Iterable[Repair]) -> None:
        self._found = tuple(found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(len(self), 'repair')})"

    @overload
    def __getitem__(self, at: int) -> Repair: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Repair]: ...
    def __getitem__(self, at: int | slice) -> Repair | Sequence[Repair]:
        return self._found[at]

    def __iter__(self) -> Iterator[Repair]:
        return iter(self._found)

    def holding(self, attribute: str, rows: Ints) -> Ints:
        """The numbers of the repairs that have one of these rows in their class, in order."""
        held = self._held.get(attribute)
        if held is None:
            return NO_ROWS
        first, end = np.searchsorted(held.rows, rows), np.searchsorted(held.rows, rows, side="right")
        found = [held.repair[a:b] for a, b in zip(first.tolist(), end.tolist(), strict=True)]
        return np.unique(np.concatenate([NO_ROWS, *found]))

    def of_cells(self, attribute: str, rows: Ints) -> list[Repair]:
        """The repairs of the classes that these cells are in, in order."""
        return [self[number] for number in self.holding(attribute, rows).tolist()]

    def writer(self, attribute: str, rows: Ints) -> Ints:
        """Per row: the number of the last repair that wrote its cell, −1 for none."""
        found = self.written.get(attribute)
        if found is None or not len(found.rows):  # a repair may write nothing
            return np.full(len(rows), -1, dtype=np.int64)
        at = np.searchsorted(found.rows, rows, side="right") - 1
        return np.where((at >= 0) & (found.rows[at] == rows), found.repair[at], -1)

    def prices(self, numbers: Ints) -> Ints:
        """Per number of a repair: what was bought for it; nothing for −1."""
        return np.where(numbers < 0, 0, self._prices[numbers])

    @cached_property
    def by_kind(self) -> Ints:
        """How many cells own evidence has written, what was bought, and somebody by hand."""
        return sum((self._counts(found.repair) for found in self.written.values()), np.zeros(3, dtype=np.int64))

    def _counts(self, numbers: Ints) -> Ints:
        return np.bincount(self._kinds[numbers], minlength=3)

    @cached_property
    def written(self) -> Mapping[str, RowsOfRepairs]:
        """Per attribute: the rows whose cells were written."""
        return self._by_row(lambda repair: repair.written)

    @cached_property
    def _held(self) -> Mapping[str, RowsOfRepairs]:
        return self._by_row(lambda repair: repair.rows)

    def _by_row(self, rows_of: Callable[[Repair], Ints]) -> Mapping[str, RowsOfRepairs]:
        found: dict[str, tuple[list[Ints], list[int]]] = {}
        for number, repair in enumerate(self._found):
            rows, numbers = found.setdefault(repair.attribute, ([], []))
            rows.append(rows_of(repair))
            numbers.append(number)
        return {attribute: _sorted(*of_attribute) for attribute, of_attribute in found.items()}

    @cached_property
    def _kinds(self) -> Ints:
        return np.array(
            [PAID if r.purchases else BY_HAND if r.why is Why.PINNED else FREE for r in self._found], dtype=np.int64
        )

    @cached_property
    def _prices(self) -> Ints:
        """With a nothing at the end, which is what −1 finds."""
        return np.array([*(sum(p.price for p in repair.purchases) for repair in self._found), 0], dtype=np.int64)


class EditedRepairs(ListedRepairs):
    """Repairs but for the cells that were edited since, and what was written by hand as the last ones."""

    def __init__(self, base: ListedRepairs, edited: Mapping[str, Ints], pins: ListedRepairs) -> None:
        """`edited` are the rows of each attribute, ascending."""
        self._base, self._edited, self._pins = base, edited, pins

    def __len__(self) -> int:
        return len(self._base) + len(self._pins)

    @overload
    def __getitem__(self, at: int) -> Repair: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Repair]: ...
    def __getitem__(self, at: int | slice) -> Repair | Sequence[Repair]:
        number = range(len(self))[at]
        if isinstance(number, range):
            return tuple(self[one] for one in number)
        if number >= len(self._base):
            return self._pins[number - len(self._base)]
        repair = self._base[number]
        return _without(repair, self._edited[repair.attribute]) if number in self._touched else repair

    def __iter__(self) -> Iterator[Repair]:
        return (self[number] for number in range(len(self)))

    def holding(self, attribute: str, rows: Ints) -> Ints:
        pins = self._pins.holding(attribute, rows)
        return np.concatenate([self._base.holding(attribute, rows), pins + len(self._base)])

    def writer(self, attribute: str, rows: Ints) -> Ints:
        base = self._base.writer(attribute, rows)
        edited = self._edited.get(attribute)
        if edited is None:
            return base
        pins = self._pins.writer(attribute, rows)
        return np.where(among(rows, edited), np.where(pins < 0, -1, pins + len(self._base)), base)

    def prices(self, numbers: Ints) -> Ints:
        return self._base.prices(np.where(numbers < len(self._base), numbers, -1))

    @cached_property
    def by_kind(self) -> Ints:
        return self._base.by_kind - self._base._counts(self._of_edited_cells) + self._pins.by_kind

    @cached_property
    def _of_edited_cells(self) -> Ints:
        """The number of the repair of each cell that was written and is edited."""
        found = [NO_ROWS]
        for attribute, rows in self._edited.items():
            if (written := self._base.written.get(attribute)) is not None:
                found.append(written.repair[among(written.rows, rows)])
        return np.concatenate(found)

    @cached_property
    def _touched(self) -> frozenset[int]:
        return frozenset(self._of_edited_cells.tolist())


def among(rows: Ints, some: Ints) -> NDArray[np.bool_]:
    """Per row: is it one of some, which are ascending?"""
    if not len(some):
        return np.zeros(len(rows), dtype=np.bool_)
    return np.asarray(some[np.minimum(np.searchsorted(some, rows), len(some) - 1)] == rows)


def _sorted(rows: list[Ints], numbers: list[int]) -> RowsOfRepairs:
    together = np.concatenate(rows)
    order = np.argsort(together, kind="stable")
    return RowsOfRepairs(together[order], np.repeat(numbers, [len(one) for one in rows])[order])


def _without(repair: Repair, edited: Ints) -> Repair:
    # by hand: there may be many, and `replace` takes as long as all else
    return Repair(
        repair.attribute,
        repair.rows,
        repair.before,
        repair.places,
        repair.new,
        repair.why,
        repair.written[~among(repair.written, edited)],
        repair.round,
        repair.purchases,
        repair.violations,
    )
