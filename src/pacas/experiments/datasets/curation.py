"""Curation: how a raw table becomes a relation on which the dependencies hold, and what that changed.

Paper: §7, "manually curate a clean instance according to the defined FDs". Ours is done by rule, each step counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints


@dataclass(frozen=True, slots=True)
class CurationStep:
    """One step of a curation: what it did, and how many cells of an attribute it changed or rows it left out."""

    what: str
    attribute: str | None = None
    cells: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Curation:
    """What a curation did, step by step; `rows` is how many the curated relation has."""

    rows: int
    steps: tuple[CurationStep, ...] = ()

    @property
    def cells(self) -> int:
        """How many cells of the relation do not hold what the raw table holds."""
        return sum(step.cells for step in self.steps)

    @property
    def dropped(self) -> int:
        return sum(step.rows for step in self.steps)

    def by_attribute(self) -> Mapping[str, int]:
        """Per attribute the number of changed cells; attributes without any are left out."""
        changed: Counter[str] = Counter()
        for step in self.steps:
            if step.attribute is not None and step.cells:
                changed[step.attribute] += step.cells
        return dict(changed)


class CuratedTable:
    """A table while it is being curated, and the steps taken so far."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.steps: list[CurationStep] = []

    def keep(self, mask: Any, what: str) -> None:
        """Keep the rows of a mask; a null in it leaves its row out."""
        before = len(self.table)
        self.table = self.table.filter(mask)
        self.steps.append(CurationStep(what, rows=before - len(self.table)))

    def require(self, *columns: str) -> None:
        """Keep the rows that have a value in all of these columns."""
        for column in columns:
            if self.table[column].null_count:
                self.keep(pc.is_valid(self.table[column]), f"rows without {column} left out")

    def draw(self, rows: int | None, seed: int, *, whole: str | None = None) -> None:
        """Go on with a sample; what is changed is counted on it, what was left out before on the whole table."""
        self.table = sample(self.table, rows, seed, whole=whole)

    def fill(self, column: str, value: str) -> None:
        """Give the cells without a value one: a null would be in no X-group."""
        missing = self.table[column].null_count
        if missing:
            self._set(column, pc.fill_null(self.table[column], value))
            self.steps.append(CurationStep(f"no {column}: {value!r}", column, cells=missing))

    def rewrite(self, column: str, values: Any, what: str) -> None:
        """Other values for a column, counted where they differ."""
        changed = pc.sum(pc.not_equal(self.table[column], values)).as_py() or 0
        self._set(column, values)
        self.steps.append(CurationStep(what, column, cells=int(changed)))

    def add(self, column: str, values: Any) -> None:
        """A new column, derived from others; no cell is changed by it."""
        self.table = self.table.append_column(column, values)

    def hold(self, fd: FunctionalDependency) -> None:
        """Make a dependency hold: every X-group gets its most frequent value of B, the first one in case of a tie."""
        values, changed = majority(self.table, fd)
        self._set(fd.rhs, values)
        self.steps.append(CurationStep(f"majority of {', '.join(fd.lhs)}", fd.rhs, cells=changed))

    def report(self) -> Curation:
        return Curation(len(self.table), tuple(self.steps))

    def _set(self, column: str, values: Any) -> None:
        self.table = self.table.set_column(self.table.column_names.index(column), column, values)


def majority(table: pa.Table, fd: FunctionalDependency) -> tuple[pa.Array, int]:
    """The right-hand column with each X-group's most frequent value, and how many cells that changes.

    A row with a null in X is in no group and stays as it is.
    """
    encoded = table[fd.rhs].combine_chunks().dictionary_encode()
    value = _codes(encoded)
    group = groups(table, fd.lhs)
    in_group = np.flatnonzero(group >= 0)
    pair = group[in_group] * (int(value.max(initial=0)) + 2) + value[in_group] + 1
    _, first, counts = np.unique(pair, return_index=True, return_counts=True)
    of_pair = group[in_group][first]
    best = np.lexsort((first, -counts, of_pair))
    chosen = best[np.flatnonzero(np.diff(of_pair[best], prepend=-1))]
    winner = np.empty(int(group.max(initial=-1)) + 1, dtype=np.int64)
    winner[of_pair[chosen]] = value[in_group][first[chosen]]
    new = value.copy()
    new[in_group] = winner[group[in_group]]
    return encoded.dictionary.take(pa.array(new, mask=new < 0)), int((new != value).sum())


def groups(table: pa.Table, columns: tuple[str, ...]) -> Ints:
    """The number of each row's X-group, from 0 up; −1 where X has a null."""
    number = np.zeros(len(table), dtype=np.int64)
    null = np.zeros(len(table), dtype=np.bool_)
    for column in columns:
        codes = _codes(table[column].combine_chunks().dictionary_encode())
        null |= codes < 0
        number = np.unique(number * (int(codes.max(initial=0)) + 2) + codes + 1, return_inverse=True)[1]
    number[null] = -1
    return number.astype(np.int64)


def _codes(encoded: pa.DictionaryArray) -> Ints:
    """The codes of a column, −1 for a null."""
    return np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def sample(table: pa.Table, rows: int | None, seed: int, *, whole: str | None = None) -> pa.Table:
    """A sample of `rows` rows, in their order; with `whole`, all rows of some values of a column, the last one cut."""
    if rows is None or rows >= len(table):
        return table
    random = np.random.default_rng(seed)
    if whole is None:
        chosen = random.choice(len(table), rows, replace=False)
    else:
        group = groups(table, (whole,))
        turn = random.permutation(int(group.max()) + 1)
        chosen = np.argsort(turn[group], kind="stable")[:rows]
    return table.take(pa.array(np.sort(chosen)))
