"""The rows that a dependency has wrong: are they errors, or is it the dependency that errs?

Errors strike blindly: every group alike, and whatever else stands in a row. Exceptions that keep to few groups or to
some values of another column, or that another column speaks for, may well be right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from pacas.core.dependency import FunctionalDependency
from pacas.engine.grouping import Array, Ints, Mask
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.evidence import Floats, PairCounts
from pacas.suggest.dependencies.rest_of_rows import RestOfRows

LOOKED_AT = 20_000
"""Rows by which exceptions are compared with other columns: what shows in more is little."""
BY_CHANCE = 0.001
"""How likely it may be, at most, that exceptions keep that much to values of any of the other columns by chance."""
NEARLY_KEY = 0.9
"""The share of rows with a value each from which on a column tells nothing of exceptions."""
SEVERAL = 3
"""Rows of a group that speak for their value."""


@dataclass(frozen=True, eq=False)
class Exceptions:
    """Rows that have not what most with the same left side, of one attribute, have."""

    table: CodedTable
    fd: FunctionalDependency
    counts: PairCounts
    most: Ints
    """Where in the counts each group's most frequent value is."""

    @classmethod
    def of(cls, table: CodedTable, fd: FunctionalDependency) -> Exceptions:
        counts = PairCounts.of(table[fd.lhs[0]].codes, table[fd.rhs].codes, len(table[fd.rhs].values))
        order = np.lexsort((counts.n, counts.place))
        place = counts.place[order]
        return cls(table, fd, counts, order[np.append(place[1:] != place[:-1], True)[: len(place)]])

    @property
    def telling_groups(self) -> int:
        """Groups whose most frequent value is not the column's.

        Where they are few, all that speaks for the dependency are these; a cleaning takes them for overwritten ones.
        """
        return int((self.counts.value[self.most] != np.argmax(self.table[self.fd.rhs].counts)).sum())

    @property
    def unevenness(self) -> float:
        """By how many deviations exceptions differ more from group to group than if every row were one as likely."""
        size: Floats = np.bincount(self.counts.place, weights=self.counts.n).astype(np.float64)
        exceptions: Floats = size - self.counts.n[self.most]
        found = _spread(size[size > 1], exceptions[size > 1])
        if found is None:
            return 0.0
        statistic, mean, variance = found
        return (statistic - mean) / float(np.sqrt(max(variance, 1.0)))

    def are_among(self, rows: Ints) -> bool:
        """Whether one of these rows is an exception."""
        left, right = self.table[self.fd.lhs[0]].codes[rows], self.table[self.fd.rhs].codes[rows]
        return bool(((left >= 0) & (right != self._usual(1)[left])).any())

    def goes_with(self, others: Iterable[str]) -> str | None:
        """The column to whose values exceptions keep most, if chance does not explain it."""
        from scipy.special import gammaincc  # here: slow to import

        rows, are = self._rows()
        likely: dict[str, float] = {}
        for name in others:
            codes = self.table[name].codes[rows]
            size = np.bincount(codes[codes >= 0]).astype(np.float64)
            exceptions = np.bincount(codes[are & (codes >= 0)], minlength=len(size)).astype(np.float64)
            there = size > 0
            found = _spread(size[there], exceptions[there]) if there.sum() < NEARLY_KEY * size.sum() else None
            if found is not None and found[2] > 0:
                statistic, mean, variance = found
                likely[name] = float(gammaincc(mean**2 / variance, statistic * mean / variance))
        best = min(likely, key=lambda name: likely[name], default="")
        return best if best and likely[best] * len(likely) < BY_CHANCE else None

    def spoken_for(self, others: Iterable[str]) -> int:
        """How many of them, by some rows, have what most rows with the same value of another column have."""
        rows, are = self._rows()
        wrong = rows[are]
        values, spoken = self.table[self.fd.rhs].codes[wrong], np.zeros(len(wrong), dtype=np.bool_)
        for name in others:
            usual = Exceptions.of(self.table, FunctionalDependency((name,), self.fd.rhs))._usual(SEVERAL)
            spoken |= usual[self.table[name].codes[wrong]] == values
        return round(int(spoken.sum()) * self._count / max(len(wrong), 1))

    def seem_right(self, others: Iterable[str], told: Collection[str] = ()) -> float:
        """The share of them that is right, as the rest of their rows has it; `told` is what else the left side tells.

        The rest of a row may go with its own value or with what most of its group have. Those that are right look like
        other rows with their value, and errors like other rows of their group: by how often the rest of these speaks
        for the value follows how many are which. A value that no group mostly has is nobody's, and an error. A row that
        differs from its group in most other columns that the left side tells is misplaced: that speaks against its left
        side alone.
        """
        rows, are = self._rows()
        left, right = (self.table[name].codes[rows].astype(np.int64) for name in (self.fd.lhs[0], self.fd.rhs))
        usual, regular = self._usual(1)[left], np.flatnonzero(~are)
        differ = np.zeros(len(rows), dtype=np.int64)
        for name in told:
            differ += Exceptions.of(self.table, FunctionalDependency(self.fd.lhs, name))._differ(rows)
        asked = np.flatnonzero(are & (2 * differ <= len(told)) & np.isin(right, right[regular]))
        rest = RestOfRows([self.table[name].codes[rows] for name in others], right)
        share = rest.share_right(asked, right[asked], usual[asked], regular, left, left[asked])
        return (share or 0.0) * len(asked) / max(int(are.sum()), 1)

    def _differ(self, rows: Ints) -> Mask:
        """Whether no more than half of its group have what each row has."""
        values = len(self.table[self.fd.rhs].values)
        left, right = (self.table[name].codes[rows].astype(np.int64) for name in (self.fd.lhs[0], self.fd.rhs))
        place, value, n, groups = self.counts
        size = np.bincount(place, weights=n)[place]
        at = np.searchsorted(groups[place].astype(np.int64) * values + value, left * values + right)
        there = np.minimum(at, len(n) - 1)  # a row without a right side is not found, and does not count
        return np.asarray((right >= 0) & (2 * n[there] <= size[there]))

    @property
    def _count(self) -> int:
        return int(self.counts.n.sum() - self.counts.n[self.most].sum())

    def _usual(self, fewest: int) -> Array:
        """Per left side its most frequent right side, where so many rows have it; −2: none, of no left side neither."""
        usual = np.full(len(self.table[self.fd.lhs[0]].values) + 1, -2)  # −1 finds the last
        usual[self.counts.groups] = np.where(self.counts.n[self.most] >= fewest, self.counts.value[self.most], -2)
        return usual

    def _rows(self) -> tuple[Ints, Mask]:
        """Rows with both sides that share the left one, at most so many of them; and which are exceptions."""
        left, right = self.table[self.fd.lhs[0]].codes, self.table[self.fd.rhs].codes
        size = np.bincount(left[left >= 0], minlength=len(self.table[self.fd.lhs[0]].values))
        rows = np.flatnonzero((left >= 0) & (right >= 0) & (np.append(size, 0)[left] > 1))
        if len(rows) > LOOKED_AT:
            rows = np.random.default_rng(1).choice(rows, LOOKED_AT, replace=False)
        return rows, right[rows] != self._usual(1)[left[rows]]


def _spread(size: Floats, exceptions: Floats) -> tuple[float, float, float] | None:
    """Pearson's statistic of exceptions by group, its mean and its variance, for few exceptions in many groups, too."""
    total, groups = float(exceptions.sum()), len(size)
    if groups < 2 or not total:
        return None
    expected = size * total / size.sum()
    statistic = float(((exceptions - expected) ** 2 / expected).sum())
    variance = 2 * (groups - 1) + (float((size.sum() / size).sum()) - groups**2 - 2 * groups + 2) / total
    return statistic, groups - 1, variance
