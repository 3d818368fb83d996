"""Which columns a left side may tell, by samples of rows; those that it may are then counted in all rows.

Rows that are drawn by themselves show what large groups agree on, and whole groups, drawn by their keys, what small
ones do: what holds in all rows holds in both. Of a column that has one value but for few rows these are looked at, all
of them, since a sample may hold none. Of few rows all are looked at, and nothing is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pacas.engine.grouping import Array, Ints, Keys, Mask, combine
from pacas.provider.lint.determination import ERROR_LEFT, LEAST_OF_ALL, determination

SEED = 1
FEW = 10_000
"""Rows of a relation up to which all are looked at."""
SCREENED = 4_000
"""Rows of a sample, about."""
RARE = 0.01
"""The share of rows with other values than most, below which a sample may hold too few of them."""
LARGE = 20
"""Rows of a group in a sample that tell what all of the group would."""
LESS, WORSE = 0.03, 1.25
"""How much less a sample may show than all rows must, and how much more of the error may be left."""
DRAWS = 4
"""Draws of whole groups, of which the first is taken that has neither too many rows nor too few."""
COMPARED = 500
"""Neighbours in groups that are compared before more is counted."""
NEARLY_ALL = 1.15
"""How many more are compared at once than may disagree: nearly all do, where a left side tells nothing."""
ONE_BY_ONE = 3
"""Columns that are looked at each by itself, in all rows, since that is faster than all of them in some."""
AT_ONCE = 500
"""Rows of a product that is not worth a second thread."""
ROUNDING = 1e-6
"""Of shares; neighbours are whole."""
WORD, FACTORS = 1 << 32, (2_654_435_769, 2_246_822_519)
"""Odd numbers, one for each column of a left side, that scatter its keys over all numbers of 32 bits."""


class GroupedSample(NamedTuple):
    """Rows of a sample, those with the same left side beside each other."""

    rows: Ints
    groups: Keys
    beside: Mask
    """Of each but the last, whether the next has its left side."""

    @classmethod
    def of(cls, left: Sequence[Keys], rows: Ints | None) -> GroupedSample:
        """Of some rows, or of all."""
        groups = combine(left) if rows is None else _of(left, rows)
        sorts_fast = groups.key.astype(np.uint16) if groups.space < 1 << 16 else groups.key  # by radix; −1 comes last
        order = np.argsort(sorts_fast, kind="stable")
        key = groups.key[order]
        beside = (key[1:] == key[:-1]) & (key[1:] >= 0)
        return cls(order if rows is None else rows[order], groups._replace(key=key), beside)

    @property
    def in_groups(self) -> int:
        """How many rows have another one's left side."""
        beside = self.beside
        first = np.count_nonzero(beside[:1]) + np.count_nonzero(beside[1:] & ~beside[:-1])
        return int(np.count_nonzero(beside) + first)

    @property
    def are_large(self) -> bool:
        """Whether groups are so large that they need not be taken whole."""
        return len(self.beside) - int(self.beside.sum()) < len(self.rows) / LARGE


class Screening:
    """The columns that may be told, and samples of the rows."""

    def __init__(self, rights: Sequence[Keys], rows: int, share: float) -> None:
        self._rights, self._rows, self._share = rights, rows, share
        self._rare: dict[int, Ints] = {}
        if rows > FEW:
            self._by_themselves = np.sort(np.random.default_rng(SEED).choice(rows, SCREENED, replace=False))
            others = {right: self._others(values.key) for right, values in enumerate(rights)}
            self._rare = {right: rows for right, rows in others.items() if len(rows) < RARE * self._rows}

    @cached_property
    def _values(self) -> Array:
        """A line for each row, as narrow as can be: the rows of a sample are taken from it again and again."""
        narrow = np.int16 if all(values.space < 1 << 15 for values in self._rights) else np.int32
        return np.stack([values.key for values in self._rights], axis=1).astype(narrow)

    @cached_property
    def _has_nulls(self) -> bool:
        return any(values.partial for values in self._rights)

    @cached_property
    def _unusual(self) -> Ints:
        """Of each column, how many rows have another value than the most frequent one."""
        counts = [np.bincount(present(values)) for values in self._rights]
        return np.array([int(count.sum() - count.max(initial=0)) for count in counts])

    def _others(self, values: Array) -> Ints:
        """The rows that have another value than most."""
        usual = np.bincount(values[self._by_themselves].astype(np.int64) + 1).argmax() - 1
        return np.flatnonzero(values != usual)

    def told_by(self, left: Sequence[Keys], among: Ints) -> list[int]:
        """Of some columns, by their places, those that a left side may tell: all that it does, and a few others."""
        if not len(among):
            return []
        if self._rows <= FEW:
            return self._not_ruled_out(GroupedSample.of(left, None), among)
        seen = np.array([right for right in among.tolist() if right not in self._rare], dtype=np.int64)
        by_themselves = GroupedSample.of(left, self._by_themselves)
        found = set(self._seem(by_themselves, seen))
        if len(found) < len(seen) and not by_themselves.are_large:
            found.update(self._seem(GroupedSample.of(left, self._in_whole_groups(left)), seen))
        rare = {right for right in among.tolist() if right in self._rare and self._seems_rare(left, right)}
        return sorted(found | rare)

    def _not_ruled_out(self, every: GroupedSample, rights: Ints) -> list[int]:
        """The columns of which few neighbours in a group disagree: at most two for each row that is guessed wrong.

        Wrong is who has not what most of the group have: at most a share of those in groups, and half of all who have
        another value than the most frequent one.
        """
        in_groups = every.in_groups
        if in_groups < LEAST_OF_ALL * self._rows:
            return []
        most = 2 * np.minimum((1 - self._share) * in_groups, ERROR_LEFT * self._unusual) + ROUNDING
        if len(rights) <= ONE_BY_ONE:
            return [right for right in rights.tolist() if self._disagreeing_in(every, right) <= most[right]]
        left, disagree, places = rights, np.zeros(len(most)), np.flatnonzero(every.beside)
        step = max(COMPARED, int(NEARLY_ALL * most[rights].max(initial=0)))
        while len(places):  # what disagrees too often is not looked at to the end
            some, places, step = places[:step], places[step:], 2 * step
            disagree += self._disagreeing(every.rows[some], every.rows[some + 1])
            left = left[(disagree <= most)[left]]
            if not len(left):
                break
        return list(map(int, left))

    def _disagreeing(self, rows: Ints, others: Ints) -> Array:
        """Of each column, how many of some rows have another value than others, one by one."""
        ours, theirs = self._values.take(rows, axis=0), self._values.take(others, axis=0)
        differ = ours != theirs
        if self._has_nulls:
            differ &= (ours >= 0) & (theirs >= 0)
        return _summed(differ)

    def _disagreeing_in(self, every: GroupedSample, right: int) -> int:
        """How many neighbours in groups have different values of one column."""
        values = self._rights[right].key.take(every.rows)
        differ = (values[1:] != values[:-1]) & every.beside
        if self._rights[right].partial:
            differ &= (values[1:] >= 0) & (values[:-1] >= 0)
        return int(np.count_nonzero(differ))

    def _seem(self, sample: GroupedSample, rights: Ints) -> Iterator[int]:
        """The columns of which neighbours in a group mostly agree, and then most rows with the others of it."""
        rows, groups, beside = sample
        places = np.flatnonzero(beside)
        if not len(places) or 2 * len(places) < LEAST_OF_ALL * len(rows) / 2:
            return
        few = places[:: max(len(places) // COMPARED, 1)]
        most = (2 * (1 - self._share + LESS) + LESS) * len(few)
        at_once = int(NEARLY_ALL * most) + 1
        disagree = np.zeros(len(self._rights))
        for some in (few[:at_once], few[at_once:]):  # the first are enough to rule most columns out
            disagree += self._disagreeing(rows[some], rows[some + 1])
            rights = rights[(disagree <= most)[rights]]
            if not len(rights):
                return
        for right in rights.tolist():
            values, space, _ = self._rights[right]
            told = determination(groups, Keys(values[rows], space, True))
            is_some = 2 * told.rows >= LEAST_OF_ALL * len(rows)
            wrong, others = told.rows - told.guessed, told.rows - told.usual
            if is_some and told.share >= self._share - LESS and wrong <= WORSE * ERROR_LEFT * others:
                yield right

    def _seems_rare(self, left: Sequence[Keys], right: int) -> bool:
        """Whether it tells half of what is rare: that fewer usual rows stand beside it makes it look like more."""
        rows = np.union1d(self._by_themselves, self._rare[right])
        told = determination(_of(left, rows), Keys(self._rights[right].key[rows], self._rights[right].space, True))
        return told.rows - told.guessed <= WORSE * ERROR_LEFT * (told.rows - told.usual)

    def _in_whole_groups(self, left: Sequence[Keys]) -> Ints:
        """All rows of the groups that are drawn by a sum over their keys that wraps around, as good as at random."""
        drawn = np.zeros(self._rows, dtype=np.uint32)
        for factor, one in zip(FACTORS, left, strict=False):
            drawn += one.key.astype(np.uint32) * np.uint32(factor)
        width = WORD * SCREENED // self._rows
        for draw in range(DRAWS):
            rows = np.flatnonzero(drawn - np.uint32(draw * width) < width)
            if SCREENED <= 2 * len(rows) <= 4 * SCREENED:
                break
        return rows[: 2 * SCREENED]


def present(keys: Keys) -> Array:
    """The keys of the rows that have one."""
    return keys.key[keys.key >= 0] if keys.partial else keys.key


def _of(left: Sequence[Keys], rows: Ints) -> Keys:
    """The left sides of some rows."""
    some: list[Keys] = [Keys(key[rows], space, partial) for key, space, partial in left]
    return combine(some)


def _summed(columns: Mask) -> Array:
    """How many rows of each column are true; by products of matrices, which is fastest."""
    lines = columns.astype(np.float32)
    ones = np.ones(min(len(lines), AT_ONCE), np.float32)
    total = np.zeros(lines.shape[1], np.float32)
    for at in range(0, len(lines), AT_ONCE):
        part = lines[at : at + AT_ONCE]
        total += np.dot(ones[: len(part)], part)
    return total
