"""What a cleaning would change of one column: how many of these cells may be right as they are.

A value that is misspelled, or that stands nowhere else in a column of values that do, is an error. Of others the rest
of their rows says how many are right, if it tells the two values apart; what nothing speaks for may be right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pacas.core.histogram import Ints
from pacas.engine.grouping import Array, Mask
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.evidence import RARE
from pacas.suggest.dependencies.rest_of_rows import RestOfRows

LOOKED_AT = 20_000
"""Cells, and rows beside them, that are looked at."""
BY_CHANCE = 0.05
"""How likely it may be, at most, that rows with right values have so many rare ones."""
SELDOM = 0.1
"""The share of other rows with a rare value beyond which that is no sign of an error."""
FEW = 10
"""Rare values of another kind than slips from which on they tell anything: fewer may be right, and rare."""
SEVERAL, UNLIKELY = 3, 0.01
"""Pairs of cells with the same two values that may be no errors, if so many are so unlikely."""
LETTERS, OF_THEM, RARER = 3, 3, 4
"""By how many letters a slip differs from what is meant, and one in how many letters; and how much rarer it is."""

_DIGIT = re.compile(r"\d")


class MayBeRight(NamedTuple):
    """Shares of changed cells that may be right."""

    spoken: float
    """The rest of their rows speaks for them."""
    untold: float
    """Their values are known, and nothing tells whether they are right."""
    rare: float
    """They are empty, or their values stand hardly anywhere else."""


@dataclass(frozen=True, eq=False)
class PlannedChanges:
    """Cells of one attribute that would get other values."""

    table: CodedTable
    attribute: str
    rows: Ints
    new: Sequence[str]
    """What each would get."""

    def may_be_right(self, used: Collection[str]) -> MayBeRight:
        """The share of them that may be right; by columns that were not `used` to find what is wrong."""
        column, rng = self.table[self.attribute], np.random.default_rng(1)
        some = np.sort(rng.permutation(len(self.rows))[:LOOKED_AT])
        rows, codes = self.rows[some], column.codes.astype(np.int64)
        others = codes >= 0
        others[self.rows] = False
        regular = rng.permutation(np.flatnonzero(others))[:LOOKED_AT]
        places = {value: code for code, value in enumerate(column.values)}
        old, new = codes[rows], np.array([places.get(self.new[i], -1) for i in some.tolist()], dtype=np.int64)
        rare = np.append(column.counts <= RARE, False)  # −1, a null, finds the last
        counts = np.append(column.counts, 0)
        slips = self._are_slips(some) & (old >= 0) & (rare[old] | (RARER * counts[old] <= counts[new]))
        known, odd = (old >= 0) & ~rare[old] & ~slips, rare[old] & ~slips
        beside = np.concatenate([rows[known], regular])
        rest = [one.codes[beside] for name, one in self.table.columns.items() if name not in used]
        is_told = not self._recur(old[~slips], new[~slips])
        spoken, untold = _right(codes[beside], new[known], rest) if is_told else (0.0, float(known.sum()))
        usual = float(rare[codes[regular]].mean()) if len(regular) else 1.0
        are_told = (
            odd.sum() >= FEW
            and usual <= SELDOM
            and _tail(int(rare[old].sum()), int((old >= 0).sum()), usual) < BY_CHANCE
        )
        odd_right = min(float(odd.sum()), usual / (1 - usual) * (spoken + untold)) if are_told else float(odd.sum())
        return MayBeRight(spoken / len(rows), untold / len(rows), (odd_right + float((old < 0).sum())) / len(rows))

    def _recur(self, old: Ints, new: Ints) -> bool:
        """Whether one value stands for one other more often than errors would put it there, which strike blindly."""
        from scipy.special import pdtrc  # here: slow to import

        counts = self.table[self.attribute].counts
        share = counts / counts.sum()
        old, new = (codes[(old >= 0) & (new >= 0)] for codes in (old, new))
        again = _pairs(np.unique(np.stack([old, new]), axis=1, return_counts=True)[1])
        meant, n = np.unique(new, return_counts=True)
        alike = ((share**2).sum() - share[meant] ** 2) / np.maximum(1 - share[meant], 1e-9) ** 2
        by_chance = float((n * (n - 1) / 2) @ alike)
        return again >= SEVERAL and float(pdtrc(again - 1, by_chance)) < UNLIKELY

    def _are_slips(self, some: Ints) -> Mask:
        """Whether what stands there is what it would get, misspelled; another number is none."""
        from rapidfuzz.distance import OSA  # here: slow to import

        column = self.table[self.attribute]
        codes = column.codes[self.rows[some]].tolist()
        old = ("" if code < 0 else column.values[code] for code in codes)
        pairs = list(zip(old, (self.new[i] for i in some.tolist()), strict=True))
        apart = [OSA.distance(old, new) for old, new in pairs]
        return np.array(
            [
                d <= LETTERS and OF_THEM * d <= max(len(old), len(new)) and _DIGIT.sub("0", old) != _DIGIT.sub("0", new)
                for d, (old, new) in zip(apart, pairs, strict=True)
            ],
            dtype=np.bool_,
        )


def _right(codes: Ints, new: Ints, rest: Sequence[Array]) -> tuple[float, float]:
    """How many of the first rows, before regular ones, seem right; and of how many nothing is told."""
    regular = np.arange(len(new), len(codes))
    asked = np.flatnonzero(np.isin(codes[: len(new)], codes[regular]) & np.isin(new, codes[regular]))
    share = RestOfRows(rest, codes).share_right(asked, codes[asked], new[asked], regular, codes, new[asked])
    return (0.0, float(len(new))) if share is None else (share * len(asked), float(len(new) - len(asked)))


def _pairs(n: Ints) -> int:
    return int((n * (n - 1) // 2).sum())


def _tail(least: int, n: int, share: float) -> float:
    """How likely so many of n, or more, have something that a share of all has."""
    from scipy.special import bdtrc  # here: slow to import

    return float(bdtrc(least - 1, n, share))
