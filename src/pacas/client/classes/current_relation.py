"""The client's relation as the repairs have left it so far: a column's spellings and codes, changed in place.

This is the one mutable thing of a cleaning; it belongs to the loop, and nobody else sees it. Of a relation that is not
held in memory it has the rows that matter, those of classes, and calls each by its *place* among them; of another one
it has all rows, and a place is the row's number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.core.histogram import Ints, sum_by
from pacas.engine.codes import CodedColumn


class CurrentColumn:
    """One attribute's current values."""

    def __init__(self, coded: CodedColumn, hierarchy: Hierarchy | None, counts: Ints | None = None) -> None:
        """`counts` says how often each value stands in the whole relation, where not all of it is held."""
        self.before = coded
        """The column as it was when the cleaning's round began."""
        self._given = hierarchy
        self._counts = counts
        self._values = list(coded.values)

    @cached_property
    def spelling(self) -> NDArray[np.integer[Any]]:
        """Per row: the number of its value as it is written."""
        return self.before.codes.astype(np.int32)

    def texts(self, rows: Ints) -> list[str | None]:
        """Some rows' values as they are written, None for null."""
        values = self._values
        return [values[number] for number in self.spelling[rows].tolist()]

    def text(self, row: int) -> str | None:
        """One row's value as it is written."""
        return self._values[int(self.spelling[row])]

    @cached_property
    def _coded(self) -> tuple[Hierarchy, Codes]:
        known = (self._given or Hierarchy.flat(())).admit(self.before.values)
        return known, known.encode(self.before.values)[self.before.codes]

    def add(self, texts: Sequence[str | None]) -> None:
        """More rows, behind those that there are."""
        if new := [value for value in dict.fromkeys(texts) if value not in self.hierarchy]:
            self._admit(new)
        numbers = np.array([self._number(value) for value in texts], dtype=np.int32)
        self.spelling = np.concatenate([self.spelling, numbers])
        self.codes = np.concatenate([self.codes, self.hierarchy.encode(texts)])

    @cached_property
    def codes(self) -> Codes:
        """Each row's node in the hierarchy."""
        return self._coded[1]

    @cached_property
    def frequency(self) -> Ints:
        """Per code: in how many rows it stands."""
        if self._counts is None:
            return np.bincount(self.codes, minlength=len(self.hierarchy)).astype(np.int64)
        frequency = sum_by(
            self.hierarchy.encode(self.before.values).astype(np.int64), self._counts, len(self.hierarchy)
        )
        before = self.hierarchy.encode(self.before.values)[self.before.codes]
        moved = np.flatnonzero(before != self.codes[: len(before)])
        np.subtract.at(frequency, before[moved], 1)
        np.add.at(frequency, self.codes[moved], 1)
        return frequency

    # ---- what a code means ------------------------------------------------------------------------------------

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The attribute's hierarchy, with all that stands in the column admitted."""
        return self._coded[0]

    @property
    def known(self) -> int:
        """Codes from here on are values that the hierarchy does not know; without one, it knows all there are."""
        return len(self.hierarchy if self._given is None else self._given)

    @cached_property
    def spans(self) -> tuple[list[int], list[int]]:
        """Where each code's subtree begins and ends."""
        return self.hierarchy.enter.tolist(), self.hierarchy.leave.tolist()

    @cached_property
    def is_evidence(self) -> list[bool]:
        """Per code: is it a value that the hierarchy knows, and so may speak for itself (D11)?"""
        null = self.hierarchy.code(None) if None in self.hierarchy else -1
        return [code < self.known and code != null for code in range(len(self.hierarchy))]

    @cached_property
    def groups(self) -> NDArray[np.bool_]:
        """Per code: is it a ground value, such as those that tuples are grouped by? The null is not."""
        ground = self.hierarchy.is_ground.copy()
        if None in self.hierarchy:
            ground[self.hierarchy.code(None)] = False
        return ground

    @cached_property
    def clash_tables(self) -> dict[int, NDArray[np.bool_]]:
        """For codes that somebody has asked about, per code: is it incomparable with it?"""
        return {}

    def code(self, value: str) -> int:
        """A value's code; one that stands nowhere yet is admitted."""
        if value not in self.hierarchy:
            self._admit([value])
        return self.hierarchy.code(value)

    def _admit(self, values: Sequence[str | None]) -> None:
        self.hierarchy = self.hierarchy.admit(values)
        for derived in ("spans", "is_evidence", "groups", "frequency", "clash_tables"):
            self.__dict__.pop(derived, None)

    # ---- writing ----------------------------------------------------------------------------------------------

    def write(self, rows: Ints, code: int) -> None:
        """Put a value into rows that do not have it."""
        if "frequency" in self.__dict__:  # somebody has asked for it, and may again
            np.subtract.at(self.frequency, self.codes[rows], 1)
            self.frequency[code] += len(rows)
        self.spelling[rows] = self._number(self.hierarchy.label(code))
        self.codes[rows] = code

    @cached_property
    def _numbers(self) -> dict[str | None, int]:
        return {value: number for number, value in enumerate(self._values)}

    def _number(self, value: str | None) -> int:
        """The number of a value as it is written."""
        number = self._numbers.setdefault(value, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number


class CurrentRelation(Mapping[str, CurrentColumn]):
    """The columns that a cleaning reads or writes, by attribute."""

    def __init__(self, columns: Mapping[str, CurrentColumn], held: Ints | None, rows: int) -> None:
        """`held` are the rows that there are, in their order, or None if these are all `rows` of them."""
        self._columns = columns
        self._held = held
        self._rows = rows

    def __getitem__(self, attribute: str) -> CurrentColumn:
        return self._columns[attribute]

    def __iter__(self) -> Any:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def size(self) -> int:
        """How many rows are held."""
        return self._rows if self._held is None else len(self._held)

    def rows(self, places: Ints) -> Ints:
        """The numbers of the rows at some places."""
        return places if self._held is None else self._held[places]

    def row(self, place: int) -> int:
        return place if self._held is None else int(self._held[place])

    def add(self, rows: Ints, texts: Mapping[str, Sequence[str | None]]) -> Ints:
        """Hold more rows, with what they have in some columns; the places that they get."""
        assert self._held is not None
        first = len(self._held)
        self._held = np.concatenate([self._held, rows])
        for name, column in self._columns.items():
            column.add(texts.get(name, [None] * len(rows)))
        return np.arange(first, len(self._held))
