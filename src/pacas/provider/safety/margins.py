"""How many values a policy's X-groups still show, and how far a sale may go before one of them shows too few.

Paper: Alg. 2, the second half. For each pair of an X-group and a value (`linked.py`) it is counted how many surviving
neighbours add or drop it. A sale takes some of them away, and only the groups that these touch can get short.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacas.engine.grouping import Array, Ints, Mask
from pacas.provider.pricing.conflicts import ConflictSets, Levels
from pacas.provider.safety.linked_values import LinkedValues


class Members(NamedTuple):
    """Surviving neighbours in conflict sets: whose set, which neighbour, and below which level it is told from R."""

    request: Ints
    number: Ints
    divergence: Levels

    def where(self, chosen: Mask) -> Members:
        return Members(self.request[chosen], self.number[chosen], self.divergence[chosen])


class Margins:
    """One policy: how many surviving neighbours add or drop each pair, and how many values each group shows."""

    def __init__(self, linked: LinkedValues) -> None:
        self.linked = linked
        self.k = linked.policy.k
        self._adders = np.zeros(linked.pairs, dtype=np.int32)
        self._droppers = np.zeros(linked.pairs, dtype=np.int32)
        self.shown: Ints = linked.own_values.copy()
        """Per group: R's own values, and those that some surviving neighbour adds."""
        self._shown_is_current = False

    def copy(self) -> Margins:
        other = Margins.__new__(Margins)
        other.__dict__.update(self.__dict__)
        other._adders, other._droppers, other.shown = self._adders.copy(), self._droppers.copy(), self.shown.copy()
        return other

    def count_cells(self, attribute: str, number: Ints, rows: Ints, divergence: Levels, sign: int) -> None:
        """Cell neighbours come (+1) or go (−1)."""
        if attribute not in self.linked.added:
            return
        added = self.linked.added[attribute][number]
        self._count(added[added >= 0], self.linked.drops(rows, divergence, attribute), sign)

    def count_edits(self, edits: Ints, sign: int) -> None:
        """Edits come (+1) or go (−1)."""
        self._count(self.linked.edit_adds.some(edits)[1], self.linked.edit_drops.some(edits)[1], sign)

    def _count(self, added: Array, dropped: Ints, sign: int) -> None:
        if not len(added) and not len(dropped):
            return
        if len(added) > len(self._adders) // 4:
            self._adders += (sign * np.bincount(added, minlength=len(self._adders))).astype(np.int32)
        else:
            np.add.at(self._adders, added, np.int32(sign))
        np.add.at(self._droppers, dropped, np.int32(sign))
        if self._shown_is_current and sign < 0:
            gone = np.unique(added)
            gone = gone[self._adders[gone] == 0]
            np.subtract.at(self.shown, self.linked.group_of[gone], 1)

    def show(self) -> None:
        """Count each group's values; from here on the count follows what goes."""
        added = self.linked.group_of[self._adders > 0]
        self.shown = self.linked.own_values + np.bincount(added, minlength=self.linked.groups)
        self._shown_is_current = True

    def most_droppers(self) -> int:
        return int(self._droppers.max(initial=0))

    def holds(self, alive: int) -> bool:
        """Does every group show k values over so many neighbours?"""
        return not self.lacking(alive).any()

    def lacking(self, alive: int) -> Ints:
        """How many values each group lacks."""
        lacking: Ints = np.maximum(self.k - self.values(alive), 0)
        return lacking

    def values(self, alive: int) -> Ints:
        """How many values each group shows over so many neighbours. A pair of R's is lost if all of them drop it."""
        lost = self.linked.group_of[(self.linked.own > 0) & (self._droppers >= alive)]
        values: Ints = self.shown - np.bincount(lost, minlength=self.linked.groups)
        return values

    def shown_values(self, groups: Ints, alive: int) -> dict[int, set[int]]:
        """The Y-values, as numbers, that some groups show."""
        wanted = np.zeros(self.linked.groups, dtype=np.bool_)
        wanted[groups] = True
        is_shown = np.where(self.linked.own > 0, self._droppers < alive, self._adders > 0)
        pairs = np.flatnonzero(is_shown & wanted[self.linked.group_of])
        values: dict[int, set[int]] = {group: set() for group in groups.tolist()}
        for group, value in zip(
            self.linked.group_of[pairs].tolist(), self.linked.values_of(pairs).tolist(), strict=True
        ):
            values[group].add(value)
        return values

    def finest(self, sets: ConflictSets, cells: Members, edits: Members) -> Ints:
        """The lowest level at which each request leaves k values to every group, all of R's own among them."""
        finest = np.zeros(len(sets), dtype=np.int64)
        cells = self._tight(sets, cells)
        which, pair = self.linked.edit_adds.some(edits.number)
        added = self.linked.added[sets.attribute][cells.number] if len(cells.number) else cells.number
        adds = added >= 0
        request = np.concatenate([cells.request[adds], edits.request[which]])
        divergence = np.concatenate([cells.divergence[adds], edits.divergence[which]])
        lost_by, lost, below = self._last_adders(request, np.concatenate([added[adds], pair]), divergence)
        group = self.linked.group_of[lost]
        # Of a request's losses in one group the `spare` that come first may happen; the next one must not.
        order = np.lexsort((-below.astype(np.int64), group, lost_by))
        lost_by, group, below = lost_by[order], group[order], below[order]
        starts = np.flatnonzero((np.diff(lost_by, prepend=-1) != 0) | (np.diff(group, prepend=-1) != 0))
        sizes = np.diff(np.append(starts, len(group)))
        spare = self.shown[group[starts]] - self.k
        too_many = sizes > spare
        first_too_many = (starts + spare)[too_many]
        np.maximum.at(finest, lost_by[first_too_many], below[first_too_many])
        return finest

    def finest_of_few(
        self, attribute: str, rows: list[int], number: list[int], of_row: list[int], below: list[int]
    ) -> int:
        """The lowest safe level of one request that no edit has to do with, without arrays: faster for few neighbours.

        The surviving neighbours of its cells are `number`, each of row `rows[of_row]` and told from R `below` a level.
        """
        groups = self.linked.group[rows].tolist()
        # how many values each group can lose
        spare = {group: int(self.shown[group]) - self.k for group in groups if group >= 0}
        if not spare or min(spare.values()) >= len(below):
            return 0
        adders: dict[int, int] = {}
        lowest: dict[int, int] = {}
        in_group: dict[int, int] = {}
        for pair, level, row in zip(self.linked.added[attribute][number].tolist(), below, of_row, strict=True):
            if pair >= 0:
                adders[pair] = adders.get(pair, 0) + 1
                lowest[pair] = min(lowest.get(pair, level), level)
                in_group[pair] = groups[row]
        lost: dict[int, list[int]] = {}
        for pair, count in adders.items():
            if count == self._adders[pair]:
                lost.setdefault(in_group[pair], []).append(lowest[pair])
        return max((_the_next(levels, spare[group]) for group, levels in lost.items()), default=0)

    def _tight(self, sets: ConflictSets, cells: Members) -> Members:
        """Without the requests that cannot take enough from any group."""
        if sets.attribute not in self.linked.added:
            return cells.where(np.zeros(len(cells.number), dtype=np.bool_))
        group = self.linked.group[sets.rows]
        spare = np.full(len(group), np.iinfo(np.int64).max)
        spare[group >= 0] = self.shown[group[group >= 0]] - self.k
        least = np.full(len(sets), np.iinfo(np.int64).max)
        np.minimum.at(least, np.repeat(np.arange(len(sets)), np.diff(sets.offsets)), spare)
        together = np.bincount(cells.request, minlength=len(sets))
        edits = np.bincount(sets.edit_request, minlength=len(sets))
        tight = (least < together) | (edits > 0)
        return cells if tight.all() else cells.where(tight[cells.request])

    def _last_adders(self, request: Ints, pair: Ints, divergence: Levels) -> tuple[Ints, Ints, Levels]:
        """(request, pair, level): below this level the request takes away all that still add the pair."""
        key = request * max(self.linked.pairs, 1) + pair
        order = np.argsort(key, kind="stable")
        key, divergence = key[order], divergence[order]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        counts = np.diff(np.append(starts, len(key)))
        lowest = np.minimum.reduceat(divergence, starts) if len(starts) else divergence
        by, of = np.divmod(key[starts], max(self.linked.pairs, 1))
        last = counts == self._adders[of]
        return by[last], of[last], lowest[last]


def _the_next(levels: list[int], spare: int) -> int:
    """Of losses below these levels `spare` may happen: the level from which on no more do."""
    return sorted(levels, reverse=True)[spare] if len(levels) > spare else 0
