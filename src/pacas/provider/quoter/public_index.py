"""The index: the match and X columns of the relation, as a multiset. Who is in it is public; where they stand is not.

Every number that is drawn for a row, or decides among rows, follows from the row's values here, never from its place in
the file: rows that agree in all columns are one to everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from pacas.engine.codes import CodedColumn

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class PublicIndex:
    """Columns of codes, row by row in any order; texts of each are sorted, a null last."""

    columns: Mapping[str, CodedColumn]

    @cached_property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())).codes) if self.columns else 0

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

    def digest(self) -> str:
        """The SHA-256 of the multiset, in hexadecimal: of each row's values, the rows sorted."""
        names = sorted(self.columns)
        key = self.keys(names)
        _, first, count = np.unique(key, return_index=True, return_counts=True)
        columns = [self.columns[name] for name in names]
        texts = [[column.values[code] for code in column.codes[first].tolist()] for column in columns]
        found = sha256(repr(names).encode())
        for line in zip(*texts, count.tolist(), strict=True):
            found.update(repr(line).encode())
        return found.hexdigest()
