"""The index: the match and X columns of the relation, as a multiset. Who is in it is public; where they stand is not.

Every number that is drawn for a row, or decides among rows, follows from the row's values here, never from its place in
the file: rows that agree in all columns are one to everybody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from pacas.engine.codes import CodedColumn
from pacas.engine.grouping import Ints, Mask


class Counted(NamedTuple):
    """Groups of rows: how many rows each has in all, and by which number it is known, if not by its place."""

    sizes: Ints
    numbers: Ints | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PublicIndex:
    """Columns of codes, row by row in any order; texts of each are sorted, a null last."""

    columns: Mapping[str, CodedColumn]

    @cached_property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())).codes) if self.columns else 0

    @property
    def in_all(self) -> int:
        """How many rows there are: all are here."""
        return self.rows

    @property
    def first_row(self) -> int:
        """The row that is first in the order of all its texts; −1 if there is none, or it is not here."""
        return int(np.argmin(self.keys(sorted(self.columns)))) if self.rows else -1

    def kept_back(self, policy: int) -> Mask | None:
        """The rows that a policy keeps back, where that has been decided elsewhere."""
        return None

    def number(self, row: int) -> int:
        """The number of a row in the file."""
        return row

    def counted(self, columns: Sequence[str], linked: bool, of_row: Ints) -> Counted:
        """The groups of rows that agree in some columns, `linked` as X-groups are; of_row numbers them, −1 is none."""
        return Counted(np.bincount(of_row + 1)[1:])

    def digest(self) -> str:
        """The SHA-256 of the multiset, in hexadecimal."""
        names = sorted(self.columns)
        order = np.argsort(self.keys(names), kind="stable")
        found = sha256()
        for name in names:
            column = self.columns[name]
            found.update(json.dumps([name, column.values]).encode())
            found.update(column.codes[order].astype("<i8").tobytes())
        return found.hexdigest()

    def keys(self, names: Sequence[str]) -> Ints:
        """Per row the number of its values in some columns, counted in the order of their texts.

        >>> index = PublicIndex({"GEN": CodedColumn(np.array([1, 0, 1]), ["female", "male"])})
        >>> index.keys(["GEN"]).tolist()
        [1, 0, 1]
        """
        key = np.zeros(self.rows, dtype=np.int64)
        for name in names:
            column = self.columns[name]
            _, key = np.unique(key * len(column.values) + column.codes, return_inverse=True)
        return key
