"""What speaks for a dependency and against it, counted: rows that agree, and exceptions by what they look like.

- *typo*: the value is seen twice at most in the whole column, or is the usual value of one that is nearly constant,
  misspelled; and the group has a majority. It says nothing against the dependency, so the score leaves it out.
- *block*: the value stands three times or more in a group, far more often than errors would put it there; and all
  exceptions of a larger group without a majority. A sign against the dependency.
- *scattered*: all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacas.engine.grouping import Array, Ints, Mask, count_pairs

RARE = 2
"""How often a typo is seen."""
BLOCK = 3
"""Rows of another value in one group that may be a block."""
ABOVE_CHANCE, UNLIKELY = 3.0, 1e-4
"""A block is so many times what errors would come to, and so unlikely."""
ABOVE_OTHERS = 1.5
"""A group with so many times the exceptions of others is uneven, if that is as unlikely."""
LEAST_ERRORS, MOST_ERRORS = 0.01, 0.3
"""Bounds of the share of rows that is taken for errors, when it is asked what errors would come to."""
LEAST_SHARE = 0.02
"""Of errors, the share that may have one value, however rare that is elsewhere."""
UNDECIDED = 4
"""Rows of a group that should have a majority."""
LARGE = 6
"""Rows of a group whose exceptions tell blocks from errors."""
TOLD = 5
"""Exceptions in such groups from which on they do."""
MANY_GROUPS, MANY_VALUES, MOST_HIDDEN = 50, 5, 0.25
"""A placeholder has many values, and no majority, among many groups; and at most so many of the rows."""


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DependencyEvidence:
    """What a table says of one dependency. Rows count that are not alone in their group."""

    score: float
    """μ+ without typos."""
    plain_score: float
    """μ+ of all rows."""
    rows: int
    groups: int
    agreeing_groups: int
    typo: int
    scattered: int
    blocks: int
    systematic: float
    """Of the exceptions of large groups, the share that is blocks."""
    uneven: float
    """The share of rows that are exceptions beyond what errors come to that fall on all groups alike."""
    chance: float
    """How likely two rows of the column agree, whatever their groups."""
    looked_at: int
    """All rows that were counted, alone in their group or not."""
    placeholder: int
    """The group of a value that is none; −1: there is none."""

    @property
    def exceptions(self) -> int:
        return self.typo + self.scattered + self.blocks

    @property
    def disagreement(self) -> float:
        return self.exceptions / self.rows

    @property
    def support(self) -> float:
        """The share of rows that are not alone in their group."""
        return self.rows / self.looked_at

    @property
    def has_large_groups(self) -> bool:
        return self.rows >= LARGE * self.groups

    @property
    def block_share(self) -> float:
        return self.blocks / self.rows


class PairCounts(NamedTuple):
    """How often each value occurs in each group: `n` rows of group `place` have `value`; sorted by both."""

    place: Ints
    """The group, counted from 0 among those that occur."""
    value: Ints
    n: Ints
    groups: Ints
    """The key of each group."""

    @classmethod
    def of(cls, group: Array, value: Array, values: int) -> PairCounts:
        """Of rows whose group and value are given, −1 where there is none."""
        there = (group >= 0) & (value >= 0)
        if not there.all():
            group, value = group[there], value[there]
        key, value, n = count_pairs(group, value, max(values, 1))
        is_new = np.append(True, key[1:] != key[:-1])[: len(key)]
        return cls(np.cumsum(is_new) - 1, value, n, key[is_new])


class Classified(NamedTuple):
    """Per pair of group and value: is it its group's most frequent one, a typo, a block; does its group count."""

    counts: PairCounts
    first: Mask
    typo: Mask
    block: Mask
    counted: Mask
    placeholder: int
    """The place of the group whose left side is no value; −1: there is none."""
    share: Floats
    """Of each value, the share of all rows that have it."""

    @property
    def exception(self) -> Mask:
        return self.counted & ~self.first

    @property
    def scattered(self) -> Mask:
        return self.exception & ~self.typo & ~self.block


def classify(counts: PairCounts, overall: Ints, misspelled: Mask | None = None) -> Classified:
    """Tell exceptions apart; `overall` is how often each value occurs in the whole column."""
    place, value, n, _ = counts
    share = overall / max(overall.sum(), 1)
    size, most, first = _tops(counts)
    several = size > 1
    has_majority = (most >= 2) & (2 * most > size)
    exception = several[place] & ~first
    is_typo = overall <= RARE if misspelled is None else (overall <= RARE) | misspelled
    typo = exception & has_majority[place] & is_typo[value]
    minor = exception & has_majority[place] & (5 * n <= size[place])
    errors = _error_rate(n[minor].sum(), size, np.where(several, 1 - share[_majority(counts, first)], 0.0))
    block = exception & (n >= BLOCK) & ~typo
    expected = size[place[block]] * errors * np.maximum(share[value[block]], LEAST_SHARE)
    block[block] = _is_beyond(n[block], expected, ABOVE_CHANCE)
    undecided = several & (size >= UNDECIDED) & (2 * most < size)
    block |= exception & undecided[place]
    placeholder = _placeholder(counts, block, several, undecided)
    counted = several[place] & (place != placeholder)
    return Classified(counts, first, typo & counted, block & counted, counted, placeholder, share)


def weigh(classified: Classified, rows: int) -> DependencyEvidence | None:
    """The evidence of a dependency in a table of so many rows; None if no two rows share a group."""
    counts, exception = classified.counts, classified.exception
    place, _, n, groups = counts
    told = int(n[classified.counted].sum())
    if not told:
        return None
    size = np.bincount(place, weights=n, minlength=len(groups))
    in_large = size[place] >= LARGE
    large, large_blocks = int(n[exception & in_large].sum()), int(n[classified.block & in_large].sum())
    members = np.unique(place[classified.counted])
    kept = place != classified.placeholder
    return DependencyEvidence(
        score=mu_plus(counts, kept & ~classified.typo),
        plain_score=mu_plus(counts, np.ones(len(n), dtype=np.bool_)),
        rows=told,
        groups=len(members),
        agreeing_groups=len(members) - len(np.unique(place[exception])),
        typo=int(n[classified.typo].sum()),
        scattered=int(n[classified.scattered].sum()),
        blocks=int(n[classified.block].sum()),
        systematic=large_blocks / large if large >= TOLD else 0.0,
        uneven=_excess(classified) / told,
        chance=float((classified.share**2).sum()),
        looked_at=rows,
        placeholder=-1 if classified.placeholder < 0 else int(groups[classified.placeholder]),
    )


def mu_plus(counts: PairCounts, kept: Mask) -> float:
    """μ+ over some pairs of group and value: 1 − (1 − pdep) / (1 − chance) · (N − 1) / (N − groups), 0 at least."""
    place, n = counts.place[kept], counts.n[kept].astype(np.float64)
    size = np.bincount(place, weights=n)
    groups, rows = int((size > 0).sum()), n.sum()
    by_value = np.bincount(counts.value[kept], weights=n)
    if (by_value > 0).sum() < 2 or rows <= groups:
        return 0.0
    agreeing = (n * n / size[place]).sum() / rows
    chance = (by_value * by_value).sum() / rows**2
    return max(0.0, float(1 - (1 - agreeing) / (1 - chance) * (rows - 1) / (rows - groups)))


def _tops(counts: PairCounts) -> tuple[Ints, Ints, Mask]:
    """Per group its rows and those of its most frequent value; per pair, is it that value? Of several the first."""
    place, _, n, groups = counts
    starts = np.searchsorted(place, np.arange(len(groups)))
    if not len(n):
        return n, n, np.zeros(0, dtype=np.bool_)
    size, most = np.add.reduceat(n, starts), np.maximum.reduceat(n, starts)
    first = np.zeros(len(n), dtype=np.bool_)
    first[np.minimum.reduceat(np.where(n == most[place], np.arange(len(n)), len(n)), starts)] = True
    return size, most, first


def _majority(counts: PairCounts, first: Mask) -> Ints:
    """Per group its most frequent value."""
    return counts.value[first]


def _error_rate(exceptions: int, size: Ints, visible: Floats) -> float:
    """The share of rows with an error, by the exceptions: an error shows unless it gives the group's own value."""
    return float(np.clip(exceptions / max((size * visible).sum(), 1), LEAST_ERRORS, MOST_ERRORS))


def _excess(classified: Classified) -> float:
    """Exceptions in groups that have far more of them than others, beyond what others have."""
    counts = classified.counts
    kept = classified.counted & ~classified.typo
    size = np.bincount(counts.place[kept], weights=counts.n[kept], minlength=len(counts.groups))
    wrong = kept & ~classified.first
    exceptions = np.bincount(counts.place[wrong], weights=counts.n[wrong], minlength=len(counts.groups))
    visible = size * (1 - classified.share[_majority(counts, classified.first)])
    expected = visible * (exceptions.sum() / max(visible.sum(), 1))
    odd = (size >= LARGE) & (exceptions >= BLOCK) & _is_beyond(exceptions, expected, ABOVE_OTHERS)
    return float((exceptions - expected)[odd].sum())


def _is_beyond(n: Array, expected: Floats, times: float) -> Mask:
    """Is a number so many times what is expected, and so unlikely?"""
    from scipy.special import pdtrc  # here: slow to import

    beyond: Mask = (n > times * expected) & (pdtrc(np.maximum(n - 1, 0), expected) < UNLIKELY)
    return beyond


def _placeholder(counts: PairCounts, block: Mask, several: Mask, undecided: Mask) -> int:
    """The group of a left side that stands for nothing (0, unknown): of many values and no majority, among many."""
    place, _, n, groups = counts
    if several.sum() < MANY_GROUPS or not block.any():
        return -1
    worst = int(np.bincount(place[block], weights=n[block], minlength=len(groups)).argmax())
    own = n[place == worst]
    is_small = own.sum() <= MOST_HIDDEN * n.sum()
    return worst if undecided[worst] and len(own) >= MANY_VALUES and is_small else -1
