"""The client's relation as the repairs have left it so far: a column's spellings and codes, changed in place.

This is the one mutable thing of a cleaning; it belongs to the loop, and nobody else sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.engine.codes import CodedColumn


class Column:
    """One attribute's current values."""

    def __init__(self, coded: CodedColumn, hierarchy: Hierarchy | None) -> None:
        self.before = coded
        """The column as it was when the cleaning's round began."""
        self._given = hierarchy
        self._values = list(coded.values)
        self._changed: list[Ints] = []

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

    @cached_property
    def codes(self) -> Codes:
        """Each row's node in the hierarchy."""
        return self._coded[1]

    @cached_property
    def frequency(self) -> Ints:
        """Per code: in how many rows it stands."""
        return np.bincount(self.codes, minlength=len(self.hierarchy)).astype(np.int64)

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
            self.hierarchy = self.hierarchy.admit([value])
            for derived in ("spans", "is_evidence", "groups", "frequency", "clash_tables"):
                self.__dict__.pop(derived, None)
        return self.hierarchy.code(value)

    # ---- writing ----------------------------------------------------------------------------------------------

    def write(self, rows: Ints, code: int) -> None:
        """Put a value into rows that do not have it."""
        if "frequency" in self.__dict__:  # somebody has asked for it, and may again
            np.subtract.at(self.frequency, self.codes[rows], 1)
            self.frequency[code] += len(rows)
        self.spelling[rows] = self._number(self.hierarchy.label(code))
        self.codes[rows] = code
        self._changed.append(rows)

    @cached_property
    def _numbers(self) -> dict[str | None, int]:
        return {value: number for number, value in enumerate(self._values)}

    def _number(self, value: str | None) -> int:
        """The number of a value as it is written."""
        number = self._numbers.setdefault(value, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number

    @property
    def is_changed(self) -> bool:
        return bool(self._changed)

    def into(self, original: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
        """The original column with the changed rows replaced.

        It keeps its type where all new values have it; else it becomes text.
        """
        changed = np.zeros(len(self.spelling), dtype=np.bool_)
        changed[np.concatenate(self._changed)] = True
        plain = original.combine_chunks()
        texts = pa.array(self._values, pa.string()).take(pa.array(self.spelling))
        new = pc.if_else(changed, texts, None)
        try:
            if pa.types.is_dictionary(plain.type):
                plain = plain.dictionary_decode()
            return pc.if_else(changed, new.cast(plain.type), plain)
        except pa.ArrowException:
            return texts


class CurrentRelation(Mapping[str, Column]):
    """The columns that a cleaning reads or writes, by attribute."""

    def __init__(
        self, relation: Relation, columns: Mapping[str, CodedColumn], hierarchies: Mapping[str, Hierarchy]
    ) -> None:
        self._original = relation
        self._columns = {name: Column(column, hierarchies.get(name)) for name, column in columns.items()}

    def __getitem__(self, attribute: str) -> Column:
        return self._columns[attribute]

    def __iter__(self) -> Any:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        return len(self._original)

    def changed(self) -> Iterable[str]:
        return [name for name, column in self._columns.items() if column.is_changed]

    def relation(self) -> Relation:
        """All columns of the original; what was not written is as it was, byte for byte."""
        table = self._original.table
        for name in self.changed():
            at = table.column_names.index(name)
            table = table.set_column(at, name, self[name].into(table.column(at)))
        return Relation(table)
