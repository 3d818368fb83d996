"""What else a row's left side may have been: groups one attribute away whose value agrees with the row.

A row that disagrees with its group has a wrong right side, or it belongs to another group. Each option, "attribute A of
this row should be v", is scored by the odds of what it would explain against a left side that is right: how all
dependencies and witnesses of the row would then agree, how large the two groups are, and how likely v is written as
what stands there. Rows may also be supposed (`SupposedRows`): errors tried out, by which scores are calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.left_side import LeftSide
from pacas.client.weighed_groups.tuple_index import KeyPlaces
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.client.weighed_rows.slips import written_for
from pacas.client.weighed_rows.witnesses import Witnesses
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import NO_ROWS, Ints

MOST = 6
"""Groups that are looked at for a row, a dependency and an attribute: the largest."""

FITS = 0.95
"""A value that is its group's with this chance is not in conflict."""

HOPELESS = -60.0
"""Log odds below which nothing is weighed."""


@dataclass(frozen=True, slots=True, eq=False)
class SupposedRows:
    """Rows as they are, or as they would be with some cells changed."""

    row: Ints
    values: Mapping[str, Ints]
    """Per attribute of a dependency: what the rows hold."""
    group: Mapping[LeftSide, Ints]
    moved: Mask
    """Is the row not among the cells of the group that it has come to, and still among those of its own?"""

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, slots=True, eq=False)
class LeftOptions:
    """Option k: attribute number `attribute[k]` of supposed row `of[k]` should be `value[k]`; row by row."""

    of: Ints
    attribute: Ints
    value: Ints
    score: Floats
    """The log odds against a left side that is right, up to the rate of such errors."""

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, chosen: Ints) -> LeftOptions:
        return LeftOptions(self.of[chosen], self.attribute[chosen], self.value[chosen], self.score[chosen])

    def best(self, rows: int) -> Floats:
        """Per supposed row: the log odds of all its options together."""
        return together(rows, self.of, self.score)


def together(rows: int, of: Ints, score: Floats) -> Floats:
    """Per supposed row: the log odds of some options together, which are given row by row."""
    total = np.full(rows, HOPELESS)
    start = np.flatnonzero(np.diff(of, prepend=-1))
    if len(start):
        best = np.maximum.reduceat(score, start)
        rest = np.exp(score - np.repeat(best, np.diff(np.append(start, len(of)))))
        total[of[start]] = np.logaddexp(HOPELESS, best + np.log(np.add.reduceat(rest, start)))
    return total


NO_LEFT_OPTIONS = LeftOptions(NO_ROWS, NO_ROWS, NO_ROWS, np.empty(0))


class OptionFinder:
    """Finds and scores the options of rows, by what is believed about groups."""

    def __init__(self, columns: Mapping[str, WeighedColumn], beliefs: Sequence[Belief], witnesses: Witnesses) -> None:
        self.columns, self.beliefs, self.witnesses = columns, beliefs, witnesses
        self.sides = list(dict.fromkeys(belief.side for belief in beliefs))
        self.attributes = list(dict.fromkeys(a for side in self.sides for a in side.attributes))
        """The left-hand attributes; options name them by their place here."""
        self.share = dict.fromkeys(self.attributes, 1 / max(len(self.attributes), 1))
        """Which of them is wrong, where a left side is."""
        self._near: dict[tuple[Belief, str], _Near] = {}

    def suppose(self, rows: Ints, change: Mapping[str, Ints] | None = None, *, moved: bool = False) -> SupposedRows:
        values = {name: column.codes[rows] for name, column in self.columns.items()} | dict(change or {})
        group = {
            side: side.find(values) if change and any(a in change for a in side.attributes) else side.group[rows]
            for side in self.sides
        }
        return SupposedRows(rows, values, group, np.full(len(rows), moved))

    def index(self) -> None:
        """Make ready to find groups by what they are believed to hold now."""
        if not self._near:
            self._near = {(belief, a): _Near(belief, a) for belief in self.beliefs for a in belief.side.attributes}
        for near in self._near.values():
            near.renew()

    def options(self, rows: SupposedRows, conflicts: Mapping[Belief, Ints]) -> LeftOptions:
        """All options of rows, by the dependencies with which each is in conflict."""
        found = [
            self._near[belief, a].find(rows, which, self.attributes.index(a))
            for belief, which in conflicts.items()
            if len(which)
            for a in belief.side.attributes
        ]
        if not sum(len(of) for of, _, _ in found):
            return NO_LEFT_OPTIONS
        widest = max(len(column) for column in self.columns.values())
        keys = [(of * len(self.attributes) + attribute) * widest + value for of, attribute, value in found]
        key = np.sort(np.concatenate(keys))
        which_of, value = np.divmod(key[np.diff(key, prepend=-1) > 0], widest)
        of, attribute = np.divmod(which_of, len(self.attributes))
        return LeftOptions(of, attribute, value, self._scores(rows, of, attribute, value))

    def conflicts(self, rows: SupposedRows, which: Ints, belief: Belief) -> Ints:
        """Those of the rows that are in conflict with a dependency."""
        chance = belief.chance(rows.group[belief.side][which], rows.values[belief.fd.rhs][which])
        return which[chance < FITS]

    # ---- scores -----------------------------------------------------------------------------------------------

    def _scores(self, rows: SupposedRows, of: Ints, attribute: Ints, value: Ints) -> Floats:
        score = np.empty(len(of))
        stayed = {b: fit_here(b, rows.values[b.fd.rhs], rows.group[b.side]) for b in self.beliefs}
        for number in np.flatnonzero(np.bincount(attribute)).tolist():
            these = np.flatnonzero(attribute == number)
            score[these] = self._scores_of(self.attributes[number], rows, stayed, of[these], value[these])
        return score

    def _scores_of(self, name: str, rows: SupposedRows, stayed: Mapping[Belief, Floats], of: Ints, new: Ints) -> Floats:
        column, old = self.columns[name], rows.values[name][of]
        score: Floats = np.log(self.share[name]) + np.log(written_for(column, old, new))
        ways = 0
        for side in self.sides:
            if name not in side.attributes:
                continue
            there = side.find({a: new if a == name else rows.values[a][of] for a in side.attributes})
            here = rows.group[side][of]
            score += self._group_odds(side, rows, of, here, there)
            ways += 1
            for belief in self.beliefs:
                if belief.side is side:
                    score += fit_there(belief, rows.values[belief.fd.rhs][of], there) - stayed[belief][of]
                    score += self._testimony(belief, name, rows, of, old, new)
        told = {belief.fd.rhs for belief in self.beliefs if name in belief.side.attributes}
        for (
            belief
        ) in self.beliefs:  # but not by what may be the wrong one of the two: a code that tells the name it has
            if belief.fd.rhs == name and told.isdisjoint(belief.side.attributes):
                group = rows.group[belief.side][of]
                odds = np.log(belief.chance(group, new) + 1e-6) - np.log(belief.chance(group, old) + 1e-6)
                score += np.where(group >= 0, odds, 0)
                ways += 1
        if ways > 1:  # each way counts how frequent the value is
            total = len(column.codes)
            frequency = np.maximum(column.frequency / total, 0.5 / total)
            score -= (ways - 1) * (np.log(frequency[new]) - np.log(frequency[old]))
        return score

    def _group_odds(self, side: LeftSide, rows: SupposedRows, of: Ints, here: Ints, there: Ints) -> Floats:
        """By their sizes, without the row itself."""
        moved = rows.moved[of]
        at_home = moved & (side.group[rows.row[of]] == there)
        new = np.where(there >= 0, side.size[np.maximum(there, 0)] - at_home, 0) + 0.1
        old = np.where(here >= 0, side.size[np.maximum(here, 0)] - ~moved, 0) + 0.1
        return np.asarray(np.log(new) - np.log(np.maximum(old, 0.1)))

    def _testimony(
        self, belief: Belief, name: str, rows: SupposedRows, of: Ints, old: Ints, new: Ints
    ) -> Floats | float:
        """What columns outside say, about the right side if they tell more of that, else about the attribute."""
        right, left = self.witnesses.gain(belief.fd.rhs), self.witnesses.gain(name)
        if right <= 0 and left <= 0:
            return 0.0
        row = rows.row[of]
        if right >= left:
            group = rows.group[belief.side][of]
            should = np.where(group >= 0, belief.likeliest[np.maximum(group, 0)], -1)
            shown = self.witnesses.tell(belief.fd.rhs, row, rows.values[belief.fd.rhs][of])
            other = self.witnesses.tell(belief.fd.rhs, row, np.maximum(should, 0))
            return np.where(should >= 0, shown - other, 0.0)
        times = sum(name in other.side.attributes for other in self.beliefs)
        return (self.witnesses.tell(name, row, new) - self.witnesses.tell(name, row, old)) / times


def fit_there(belief: Belief, shown: Ints, there: Ints) -> Floats:
    """How well what a row shows fits a group that it may belong to, as a log chance; the other side of `fit_here`."""
    rates = belief.rates
    if not rates.holds:
        return np.zeros(len(shown))
    as_error = rates.wrong * rates.own_confusion[shown]
    fits = belief.chance(there, shown)
    return np.asarray(np.log(fits * (1 - rates.wrong) + (1 - fits) * as_error))


def fit_here(belief: Belief, shown: Ints, here: Ints) -> Floats:
    """How likely a row shows what it shows where it is, as a log chance: by an error of its own, if it is unlike."""
    rates = belief.rates
    if not rates.holds:
        return np.zeros(len(shown))
    unlike = belief.chance(here, shown) < FITS
    if rates.blocks_are_rare:
        unlike |= belief.is_outvoted(here, shown)
    return np.where(unlike, np.log(rates.wrong * rates.own_confusion[shown]), np.log(1 - rates.wrong))


class _Near:
    """The groups of a dependency by their value and all of the left side but one attribute, the largest first."""

    def __init__(self, belief: Belief, attribute: str) -> None:
        self._belief, self._attribute = belief, attribute
        self._kin = belief.side.kin(attribute)
        by_size = np.lexsort((belief.side.first, -belief.side.size))
        self._rank = np.empty(len(by_size), dtype=np.int64)
        self._rank[by_size] = np.arange(len(by_size))
        self._order = np.arange(len(by_size))

    def renew(self) -> None:
        """Take over what groups are believed to hold now; most of them hold what they held before."""
        belief = self._belief
        key = np.where(belief.sure > 0.5, self._kin.number * len(belief.column) + belief.likeliest, -1)
        place = key * len(key) + self._rank
        self._order = self._order[np.argsort(place[self._order], kind="stable")]
        ranked = key[self._order]
        begin = np.flatnonzero(np.diff(ranked, prepend=-1) > 0)  # those of no sure value, −1, are none
        self._begin = np.append(begin, len(ranked))
        self._places = KeyPlaces(ranked[begin], self._kin.count * len(belief.column))

    def find(self, rows: SupposedRows, which: Ints, number: int) -> tuple[Ints, Ints, Ints]:
        """(row, attribute, value) of the groups that some rows may belong to."""
        side, name = self._belief.side, self._attribute
        kin = self._kin.find(rows.values, which)
        wanted = np.where(kin >= 0, kin * len(self._belief.column) + rows.values[self._belief.fd.rhs][which], -1)
        at = self._places.find(wanted)
        start = self._begin[at]
        count = np.where(at >= 0, np.minimum(self._begin[at + 1] - start, MOST + 2), 0)
        of = np.repeat(which, count)
        place = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(start, count)
        group = self._order[place]
        value = side.values[name][group]
        other = value != rows.values[name][of]
        left = rows.moved[of] & (side.group[rows.row[of]] == group) & (side.size[group] < 2)  # nobody else is there
        of, value = of[other & ~left], value[other & ~left]
        each = np.arange(len(of))
        first = np.maximum.accumulate(np.where(np.diff(of, prepend=-1) > 0, each, 0))
        largest = each - first < MOST  # of others: its own group, and home, are none
        return of[largest], np.full(int(largest.sum()), number), value[largest]
