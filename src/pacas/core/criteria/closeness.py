"""t-closeness (Li et al. 2007): a group's values are distributed almost as all values are.

The distance is the earth mover's: over the order of the values if all are numbers, else with equal distances between
values, where it is half the sum of the differences. All of it is in whole numbers: with n of a group's N rows and q of
all Q rows at a value, the difference of the shares times N·Q is n·Q − q·N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pacas.core.criteria.criterion import Bools, Criterion, Number, exact, fits_64_bits
from pacas.core.histogram import GroupHistogram, Ints, Whole, sum_by
from pacas.errors import InputError


@dataclass(frozen=True, slots=True)
class Closeness(Criterion):
    """A group's distance from all is at most t. A distance is convex in the group's shares."""

    name: ClassVar[str] = "closeness"
    strictest_of: ClassVar[str] = "t"
    strictest_is: ClassVar[str] = "smallest t that holds"

    t: Number

    def __post_init__(self) -> None:
        if not 0 <= exact(self.t, "t") <= 1:
            raise InputError(f"t must be between 0 and 1, not {self.t}")

    def holds(self, histogram: GroupHistogram) -> Bools:
        t = exact(self.t, "t")
        distance = _distance(histogram, t.denominator)
        return np.asarray(distance.moved * t.denominator <= distance.most * t.numerator, dtype=np.bool_)

    def strictest(self, histogram: GroupHistogram) -> float | None:
        distance = _distance(histogram)
        return float((distance.moved / distance.most).max()) if histogram.groups else None

    @property
    def fewest_values(self) -> int:
        return 1


class _Distance(NamedTuple):
    """Per group how much is moved, of how much there is to move at most."""

    moved: Whole
    most: Whole


def _distance(histogram: GroupHistogram, scale: int = 1) -> _Distance:
    """The distance of each group from all, as a fraction whose parts can be multiplied by the scale."""
    order = _numeric_order(histogram)
    steps = 2 if order is None else max(len(order) - 1, 1)
    everything = int(histogram.overall.sum())
    fits = fits_64_bits(int(histogram.sizes.max(initial=0)) * everything * 2 * (steps + 1) * scale)
    kind = np.int64 if fits else np.object_
    size, n = histogram.sizes.astype(kind), histogram.n.astype(kind)
    moved = _equally(histogram, n, size, everything) if order is None else _in_order(histogram, n, size, order)
    return _Distance(moved, size * everything * steps)


def _equally(histogram: GroupHistogram, n: Whole, size: Whole, everything: int) -> Whole:
    """Σ|n·Q − q·N|: over the values that occur in the group, plus q·N of those that do not."""
    here = histogram.overall[histogram.value] * size[histogram.group]
    off = np.abs(n * everything - here) - here
    return np.asarray(sum_by(histogram.group, off, histogram.groups) + size * everything)


def _in_order(histogram: GroupHistogram, n: Whole, size: Whole, order: Ints) -> Whole:
    """Σ|cumulated difference|, group by group: linear in the entries, not in groups × values.

    Between two values that occur in a group, the group's cumulated number stays and only the overall one grows, so each
    stretch is a sum of |C·Q − Qᵢ·N| over ascending Qᵢ, read off prefix sums.
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    overall = np.cumsum(histogram.overall[order])
    total = overall[:-1]  # after each value but the last, where both are all
    by_rank = np.lexsort((rank[histogram.value], histogram.group))
    group, at, count = histogram.group[by_rank], rank[histogram.value][by_rank], n[by_rank]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    cumulated = np.cumsum(count)
    cumulated = (cumulated - (cumulated[starts] - count[starts])[group]) * int(overall[-1])
    end = np.append(at[1:], len(total))
    end[np.append(starts[1:] - 1, len(group) - 1)] = len(total)
    stretch = _absolute(total, np.minimum(at, len(total)), end, cumulated, size[group])
    before = _absolute(total, np.zeros_like(at[starts]), at[starts], np.zeros_like(size), size)
    return np.asarray(sum_by(group, stretch, histogram.groups) + before)


def _absolute(total: Ints, start: Ints, end: Ints, level: Whole, size: Whole) -> Whole:
    """Σ |level − total[i]·size| for i from start to end, total ascending."""
    prefix = np.append(0, np.cumsum(total.astype(size.dtype)))
    turn = np.clip(np.searchsorted(total, (-(-level // size)).astype(np.int64)), start, end)
    below = level * (turn - start) - (prefix[turn] - prefix[start]) * size
    return np.asarray(below + (prefix[end] - prefix[turn]) * size - level * (end - turn))


def _numeric_order(histogram: GroupHistogram) -> Ints | None:
    """The order of the values by number, if there is one attribute and all its values are numbers."""
    try:
        numbers = [float(value) for (value,) in histogram.values if value is not None]
    except ValueError:
        return None
    if not numbers or len(numbers) < len(histogram.values) or not np.isfinite(numbers).all():
        return None
    return np.argsort(numbers, kind="stable").astype(np.int64)
