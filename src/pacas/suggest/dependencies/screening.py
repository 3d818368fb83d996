"""Screening: how a left side scores for all columns at once, by one sort of a sample of rows.

μ+ is the chance-corrected probability that two rows of one group agree. Rows that follow each other in a group, where
their order is random, are such pairs: so all right sides are scored by comparing each row with the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pacas.engine.grouping import Array, Ints, Mask
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.dependencies.evidence import Floats
from pacas.suggest.dependencies.misspelled import Misspelled

SEED = 1
MOST_ROWS = 50_000
"""Rows by which a left side of one attribute is screened."""
MOST_COMPARED = 500_000_000
"""Cells that are compared with others, over all left sides of one attribute."""
FEWEST_ROWS = 2_000
FEW_VALUES = 20
"""Groups of so many rows in a sample may be sampled themselves; smaller ones are taken whole, or left out."""
FEWEST_PAIRS = 10
"""Pairs of rows below which nothing is said."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows of a table in random order, as their codes, column by column; −1 is a null."""

    rows: Ints
    codes: Array
    chance: Floats
    """Per column, how likely two rows of the whole table agree."""
    misspelled: Misspelled
    """Values that count as nulls of a right side."""

    @cached_property
    def _with_nulls(self) -> list[int]:
        """The columns that have nulls here."""
        return sorted({*np.flatnonzero((self.codes < 0).any(axis=1)).tolist(), *self.misspelled})

    def scores(self, key: Array, least_support: float) -> Floats | None:
        """How groups of equal keys, −1 for none, score for each column; None if too few rows share a group."""
        order, same = grouped(key)
        pairs, shared = int(same.sum()), int((np.append(same, False) | np.append(False, same)).sum())
        if pairs < FEWEST_PAIRS or shared < least_support * len(key):
            return None
        codes = self.codes[:, order]
        equal = (codes[:, 1:] == codes[:, :-1]) & same
        agreeing, both = equal.sum(axis=1), np.full(len(codes), pairs)
        for column in self._with_nulls:
            there = codes[column] >= 0
            if column in self.misspelled:
                there &= ~self.misspelled[column][codes[column]]
            agreeing[column] = (equal[column] & there[1:]).sum()
            both[column] = (same & there[1:] & there[:-1]).sum()
        score: Floats = (agreeing / np.maximum(both, 1) - self.chance) / np.maximum(1 - self.chance, 1e-9)
        score[both < FEWEST_PAIRS] = 0.0
        return score


@dataclass(eq=False)
class RowSamples:
    """The samples by which left sides are screened: of whole groups, or of rows where groups are large."""

    columns: Sequence[ProfiledColumn]
    rows: int
    misspelled: Misspelled
    _kept: dict[tuple[int, int], RowSample] = field(default_factory=dict)

    def of(self, column: int, most: int) -> RowSample:
        """A sample of about so many rows for left sides that hold a column."""
        whole = self.rows <= most or len(self.columns[column].values) * FEW_VALUES <= most
        at = (-1 if whole else column, most)
        if at not in self._kept:
            chosen = self._shuffled[:most] if whole else self._in_whole_groups(column, most)
            codes = np.stack([one.codes[chosen] for one in self.columns]).astype(np.int32, copy=False)
            self._kept = {kept: s for kept, s in self._kept.items() if kept[0] < 0} | {
                at: RowSample(chosen, codes, self._chance, self.misspelled)
            }
        return self._kept[at]

    @cached_property
    def _shuffled(self) -> Ints:
        return np.random.default_rng(SEED).permutation(self.rows)

    @cached_property
    def _chance(self) -> Floats:
        counts = (
            np.where(self.misspelled[place], 0, column.counts) if place in self.misspelled else column.counts
            for place, column in enumerate(self.columns)
        )
        return np.array([agreement_by_chance(one) for one in counts])

    def _in_whole_groups(self, column: int, most: int) -> Ints:
        rng = np.random.default_rng(SEED)
        one, share = self.columns[column], most / self.rows
        is_large = one.counts * share >= FEW_VALUES
        chosen = (rng.random(len(one.counts)) < share) & ~is_large
        some = self._shuffled[:most]
        whole = np.flatnonzero(np.append(chosen, False)[one.codes])  # −1 finds the False
        large = some[np.append(is_large, False)[one.codes[some]]]
        return rng.permutation(np.concatenate([whole, large]))


def rows_to_screen(columns: int) -> int:
    """How many rows are screened, of a table with so many columns."""
    return int(np.clip(MOST_COMPARED // max(columns, 1) ** 2, FEWEST_ROWS, MOST_ROWS))


def grouped(key: Array) -> tuple[Ints, Mask]:
    """The places that have a key, group after group, and of each but the last whether the next is of its group.

    >>> order, same = grouped(np.array([2, 0, -1, 2, 0]))
    >>> order.tolist(), same.tolist()
    ([1, 4, 0, 3], [True, False, True])
    """
    there = np.flatnonzero(key >= 0)
    bits = len(key).bit_length()
    packed = (key[there].astype(np.int64) << bits) | there  # one plain sort of numbers, the fastest there is
    packed.sort()
    group = packed >> bits
    return packed & ((1 << bits) - 1), group[1:] == group[:-1]


def agreement_by_chance(counts: Ints) -> float:
    """How likely two rows agree, by how often each value occurs.

    >>> agreement_by_chance(np.array([2, 2]))
    0.3333333333333333
    """
    n = counts.astype(np.float64)
    rows = n.sum()
    return float((n * (n - 1)).sum() / (rows * (rows - 1))) if rows > 1 else 1.0
