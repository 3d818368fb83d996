"""Units: rows that are sold as one. A row alone, or all that agree on public columns which determine an attribute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from pacas.engine.grouping import Groups, Ints
from pacas.engine.lots import Lots, lots, spelled
from pacas.protocol.price_list import NONE, SEVERAL
from pacas.provider.quoter.public_index import PublicIndex


class Units:
    """The units of one component, numbered in an order that the index alone decides."""

    def __init__(self, index: PublicIndex, left: Sequence[str]) -> None:
        self.told_apart_by = tuple(sorted(left or index.columns))
        """The columns by which one unit differs from the next, copies of rows aside."""
        if left:
            self.of_row: Ints = index.keys(self.told_apart_by)
        else:  # nobody tells rows apart that agree in everything public: their order among each other is no matter
            self.of_row = np.empty(index.rows, dtype=np.int64)
            self.of_row[np.argsort(index.keys(self.told_apart_by), kind="stable")] = np.arange(index.rows)
        self.sizes, self.numbers = index.counted(left, False, self.of_row)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def rows(self) -> Groups:
        return Groups.of(self.of_row, len(self))

    @property
    def first_rows(self) -> Ints:
        """Of each unit one row."""
        return self.rows.members[self.rows.offsets[:-1]]

    def found_by(self, found: Groups) -> Ints:
        """What each of many requests finds, from the rows that each matches: a unit, `SEVERAL`, or `NONE`."""
        units = self.of_row[found.members]
        sizes = np.diff(found.offsets)
        result = np.full(len(sizes), NONE, dtype=np.int64)
        some = np.flatnonzero(sizes)
        if len(some):
            starts = found.offsets[:-1][some]
            first = np.minimum.reduceat(units, starts)
            result[some] = np.where(first == np.maximum.reduceat(units, starts), first, SEVERAL)
        return result


Draw = Callable[[Ints], Lots]
"""64 random bits for each of some units."""


def public_draw(salt: bytes, index: PublicIndex, units: Units) -> Draw:
    """A lot for each unit, drawn in public: it follows from a salt and the values that the unit has in the index.

    So it is the same for every order of rows, and for some of them as for all. Those that are asked for are worked out,
    once.
    """
    drawn = np.zeros(len(units), dtype=np.uint64)
    is_drawn = np.zeros(len(units), dtype=np.bool_)
    columns = [index.columns[name] for name in units.told_apart_by]

    def draw(of: Ints) -> Lots:
        missing = of[~is_drawn[of]]
        rows = units.first_rows[missing]
        texts = [map(list(map(spelled, c.values)).__getitem__, c.codes[rows].tolist()) for c in columns]
        drawn[missing] = lots(salt.hex(), zip(*texts, strict=True))
        is_drawn[missing] = True
        return drawn[of]

    return draw
