"""Some rows of an index that stays on the engine, and what is known of them from all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pacas.engine.codes import CodedColumn
from pacas.engine.grouping import NONE, Ints, Mask
from pacas.provider.quoter.public_index import Counted, PublicIndex


@dataclass(frozen=True, eq=False, repr=False)
class IndexPart(PublicIndex):
    """Rows by their numbers in the file, among `whole` in all; `first` is the place of the one that is first of all."""

    numbers: Ints
    whole: int
    first: int = -1
    tied: Mapping[tuple[str, ...], Counted] = field(default_factory=dict)
    """By columns: of each row the number and the size of the group of rows that agree in them."""
    linked: Mapping[tuple[str, ...], Counted] = field(default_factory=dict)
    """The same of X-groups, where that is known."""
    kept: Mapping[int, Mask] = field(default_factory=dict)
    """By policy: the rows that it keeps back."""

    @classmethod
    def nothing(cls, names: Sequence[str], whole: int) -> IndexPart:
        """No row of so many."""
        return cls({name: CodedColumn(NONE, [None]) for name in names}, NONE, whole)

    @property
    def in_all(self) -> int:
        return self.whole

    @property
    def first_row(self) -> int:
        return self.first

    def number(self, row: int) -> int:
        return int(self.numbers[row])

    def kept_back(self, policy: int) -> Mask | None:
        return self.kept.get(policy, np.zeros(self.rows, dtype=np.bool_))

    def counted(self, columns: Sequence[str], linked: bool, of_row: Ints) -> Counted:
        alone = Counted(np.ones(self.rows, dtype=np.int64), self.numbers)
        known = self.linked.get(tuple(columns)) if linked else self.tied.get(tuple(columns), alone)
        if known is None or known.numbers is None:
            return super().counted(columns, linked, of_row)
        sizes, numbers = (np.zeros(int(of_row.max(initial=-1)) + 1, dtype=np.int64) for _ in range(2))
        there = np.flatnonzero(of_row >= 0)
        sizes[of_row[there]], numbers[of_row[there]] = known.sizes[there], known.numbers[there]
        return Counted(sizes, numbers)
