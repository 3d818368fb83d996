"""The neighbours that purchases have left, and whether a sale would leave enough of them.

Paper: Alg. 2, lines after the price. `S_G` is never listed. For each pair of an X-group and a value it is counted how
many surviving neighbours add or drop it (`linked.py`); a sale takes some of them away, and only the groups that these
touch can get short. All groups are looked at once at the start, and again whenever so few neighbours are left that all
of them might drop the same pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pacas.engine.grouping import NONE, Ints, spread
from pacas.provider.pricing.conflicts import ConflictSets, without_edits
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.safety.linked_values import LinkedValues
from pacas.provider.safety.margins import Margins, Members
from pacas.provider.support.cell_neighbours import CellNeighbours
from pacas.provider.support.edits import Edits
from pacas.provider.support.support_set import SupportSet

AT_A_TIME = 1 << 15
"""Rows whose neighbours are counted together: few enough that the arrays on the way stay small."""


class RelationCounts(NamedTuple):
    """What is counted over the whole relation, where only some of its rows are looked at."""

    alive: int
    """How many neighbours are left in all, or a number that is not above it."""
    most_droppers: int
    """No pair is dropped by more neighbours than these."""
    short: bool


class Surviving:
    """The neighbours that are left, and how many values each policy's X-groups still show.

    It may be about some rows of a larger relation, with whole X-groups of those that are asked about, and with what is
    counted `in_all`. Nothing is then safe that would leave so few neighbours in all that a group elsewhere could lose a
    value of its own: the groups elsewhere cannot be looked at.

    Ward A has x and y, ward B has x twice, and each is to show k = 2 values. One neighbour changes the first row to z,
    another one the third row to y. Sold at level 0, the first row leaves x and y to both wards; the third row would
    leave B only x, and is safe from level 1 on. Once the first row is sold, one neighbour is left.

    >>> from pacas.core.anonymity import Policy
    >>> from pacas.core.hierarchy import Hierarchy
    >>> from pacas.engine.codes import CodedColumn
    >>> from pacas.provider.column import Column
    >>> from pacas.provider.support.support_set import cells_of
    >>> med = Column("MED", CodedColumn(np.array([0, 1, 0, 0]), ["x", "y"]), Hierarchy.flat("xyz"), "z")
    >>> columns = {"WARD": Column("WARD", CodedColumn(np.array([0, 0, 1, 1]), ["A", "B"]), None), "MED": med}
    >>> cells = {"MED": cells_of("MED", np.array([0, 2]), med.hierarchy.encode(["z", "y"]), med)[0]}
    >>> linked = LinkedValues(Policy(["WARD"], ["MED"], {"MED": 0}, 2), columns, cells, Edits.none())
    >>> surviving = Surviving(cells, Edits.none(), [linked], {"MED": 1}, rows=4)
    >>> surviving.finest(without_edits("MED", np.array([0, 1, 2]), np.array([0, 2]))).tolist()
    [0, 1]
    >>> margins = surviving.margins[0]
    >>> margins.shown.tolist(), margins.lacking(alive=2).tolist()
    ([3, 2], [0, 0])
    >>> margins.finest_of_few("MED", [2], number=[1], of_row=[0], below=[1])
    1
    >>> surviving.apply(without_edits("MED", np.array([0, 1]), np.array([0])), np.array([0]))
    >>> surviving.alive, surviving.margins[0].shown.tolist()
    (1, [2, 2])
    """

    def __init__(
        self,
        cells: Mapping[str, CellNeighbours],
        edits: Edits,
        linked: Sequence[LinkedValues],
        heights: Mapping[str, int],
        rows: int,
        *,
        known: Knowledge | None = None,
        in_all: RelationCounts | None = None,
    ) -> None:
        self._cells, self._edits, self._heights, self._rows = cells, edits, heights, rows
        self._linked, self._in_all = linked, in_all
        self.known = known or Knowledge(heights, rows, len(edits))
        per_row = [int(np.diff(c.first).max(initial=0)) for c in cells.values()]
        self._most_of_a_cell = max(per_row, default=0)
        self.recount()

    # ---- all neighbours -------------------------------------------------------------------------------------

    def copy(self) -> Surviving:
        """What is left, to go another way from here."""
        other = Surviving.__new__(Surviving)
        other.__dict__.update(self.__dict__)
        other.known = Knowledge(self._heights, self._rows, len(self._edits))
        for attribute, revealed in self.known.revealed.items():
            other.known.revealed[attribute][:] = revealed
        other.known.ruled_out[:] = self.known.ruled_out
        other.margins = [margin.copy() for margin in self.margins]
        return other

    def recount(self) -> None:
        """Count anew, from what is known, how many neighbours are left and what they show."""
        self.alive = int((~self.known.ruled_out).sum())
        self.margins = [Margins(linked) for linked in self._linked]
        edits = np.flatnonzero(~self.known.ruled_out)
        for margin in self.margins:
            margin.count_edits(edits, 1)
        for attribute, cells in self._cells.items():
            for begin in range(0, self._rows, AT_A_TIME):
                first = cells.first[begin : begin + AT_A_TIME + 1]
                rows = np.repeat(np.arange(begin, begin + len(first) - 1), np.diff(first))
                left = np.flatnonzero(cells.divergence[first[0] : first[-1]] <= self.known.level(attribute, rows))
                number, rows = first[0] + left, rows[left]
                self.alive += len(number)
                for margin in self.margins:
                    margin.count_cells(attribute, number, rows, cells.divergence[number], 1)
        for margin in self.margins:
            margin.show()
        self._most_droppers = max((margin.most_droppers() for margin in self.margins), default=0)
        self.short = any(not margin.holds(self.alive) for margin in self.margins)
        if self._in_all is not None:
            self.alive, self._most_droppers, self.short = self._in_all

    def learn(self, learned: Sequence[tuple[ConflictSets, Ints]]) -> None:
        """Take in many purchases, conflict sets and the level of each request; `recount` when all are in."""
        for sets, levels in learned:
            self.known.learn(sets, levels)

    # ---- one attribute's requests ---------------------------------------------------------------------------

    def steady(self, rows: int) -> bool:
        """Are so many neighbours left that no sale of so many rows reaches a group that it does not touch?"""
        return self.alive > self._most_droppers + rows * self._most_of_a_cell

    def finest(self, sets: ConflictSets) -> Ints:
        """The lowest level at which each request is safe, above the root if it is at none.

        A coarser answer rules out fewer neighbours, so every higher level is safe, too.
        """
        height = self._heights[sets.attribute]
        if self.short:
            return np.full(len(sets), height + 1)
        cells, edits = self._members(sets)
        finest = np.zeros(len(sets), dtype=np.int64)
        for margin in self.margins:
            np.maximum(finest, margin.finest(sets, cells, edits), out=finest)
        removed = np.bincount(np.concatenate([cells.request, edits.request]), minlength=len(sets))
        for request in np.flatnonzero(self.alive - removed <= self._most_droppers).tolist():
            if self._in_all is None:
                finest[request] = self._finest_of_few(sets.attribute, cells, edits, request)
            else:
                finest[request] = max(finest[request], self._far_from_few(height, cells, edits, request))
        return finest

    def finest_of_few(self, attribute: str, rows: list[int]) -> int:
        """The lowest safe level of one request that few rows match and no edit has to do with: the short way."""
        cells, height = self._cells.get(attribute), self._heights[attribute]
        if self.short or cells is None:
            return height + 1 if self.short else 0
        number, of_row, below = self._few(cells, rows)
        if self.alive - len(number) <= self._most_droppers:
            return int(self.finest(without_edits(attribute, np.array([0, len(rows)]), np.array(rows)))[0])
        margins = [margin for margin in self.margins if attribute in margin.linked.added]
        return max((m.finest_of_few(attribute, rows, number, of_row, below) for m in margins), default=0)

    def _few(self, cells: CellNeighbours, rows: list[int]) -> tuple[list[int], list[int], list[int]]:
        """The surviving neighbours of a few cells: their numbers, the place of the row, and below which level."""
        height, revealed = self._heights[cells.attribute], self.known.revealed[cells.attribute]
        number: list[int] = []
        of_row: list[int] = []
        below: list[int] = []
        for place, row in enumerate(rows):
            start, end = int(cells.first[row]), int(cells.first[row + 1])
            if bought := int(revealed[row]):  # neighbours are in the order of their divergence
                end = start + int(np.searchsorted(cells.divergence[start:end], height - bought, side="right"))
            number += range(start, end)
            of_row += [place] * (end - start)
            below += cells.divergence[start:end].tolist()
        return number, of_row, below

    def touched(self, sold: str, rows: Ints, attribute: str) -> Ints:
        """The rows whose requests for an attribute a sale without edits bears on: they share a group of a policy."""
        touched = [rows] if attribute == sold else []
        for linked in self.linking(sold, attribute):
            groups = {group for group in linked.group[rows].tolist() if group >= 0}
            touched += [linked.members.one(group) for group in groups]
        return touched[0] if len(touched) == 1 else np.concatenate([NONE, *touched])

    def linking(self, attribute: str, other: str) -> list[LinkedValues]:
        """The policies that link people to both attributes."""
        return [m.linked for m in self.margins if attribute in m.linked.added and other in m.linked.added]

    def apply(self, sets: ConflictSets, levels: Ints) -> None:
        """Take away what sales have ruled out, each at its level."""
        cells = self._cells.get(sets.attribute)
        if cells is not None:
            rows, lowest = sets.lowest(levels)
            starts = cells.first[rows]
            sizes = cells.first[rows + 1] - starts
            number, bought = spread(starts, sizes), self.known.level(sets.attribute, rows)
            divergence = cells.divergence[number]
            gone = (divergence > np.repeat(lowest, sizes)) & (divergence <= np.repeat(bought, sizes))
            number, rows, divergence = number[gone], np.repeat(rows, sizes)[gone], divergence[gone]
            self.alive -= len(number)
            for margin in self.margins:
                margin.count_cells(sets.attribute, number, rows, divergence, -1)
        if len(sets.edit):
            told = sets.edit[sets.edit_divergence > levels[sets.edit_request]]
            edits = np.unique(told[~self.known.ruled_out[told]])
            self.alive -= len(edits)
            for margin in self.margins:
                margin.count_edits(edits, -1)
        self.known.learn(sets, levels)

    def safe_without(self, neighbours: Ints, support: SupportSet) -> bool:
        """Would all groups still show enough values without these neighbours? Some may be gone already."""
        first = support.first()
        margins = [margin.copy() for margin in self.margins]
        left = self.alive
        for attribute, cells in support.cells.items():
            number = neighbours - first[attribute]
            number = number[(number >= 0) & (number < len(cells))]
            rows = np.searchsorted(cells.first, number, side="right") - 1
            alive = cells.divergence[number] <= self.known.level(attribute, rows)
            number, rows = number[alive], rows[alive]
            left -= len(number)
            for margin in margins:
                margin.count_cells(attribute, number, rows, cells.divergence[number], -1)
        edits = neighbours[neighbours >= first[None]] - first[None]
        edits = edits[~self.known.ruled_out[edits]]
        for margin in margins:
            margin.count_edits(edits, -1)
        return all(margin.holds(left - len(edits)) for margin in margins)

    def _members(self, sets: ConflictSets) -> tuple[Members, Members]:
        """The surviving cell neighbours and edits of each conflict set."""
        edits = Members(sets.edit_request, sets.edit, sets.edit_divergence)
        edits = edits.where(~self.known.ruled_out[sets.edit])
        cells = self._cells.get(sets.attribute)
        if cells is None:
            nothing = np.empty(0, dtype=np.int64)
            return Members(nothing, nothing, np.empty(0, dtype=np.int8)), edits
        starts = cells.first[sets.rows]
        sizes = cells.first[sets.rows + 1] - starts
        number = spread(starts, sizes)
        request = np.repeat(np.repeat(np.arange(len(sets)), np.diff(sets.offsets)), sizes)
        members = Members(request, number, cells.divergence[number])
        return members.where(members.divergence <= np.repeat(self.known.level(sets.attribute, sets.rows), sizes)), edits

    def _finest_of_few(self, attribute: str, cells: Members, edits: Members, request: int) -> int:
        """The lowest safe level, by counting all groups: so few neighbours are left that R's own values may go, too."""
        mine, my_edits = cells.where(cells.request == request), edits.where(edits.request == request)
        for level in range(self._heights[attribute] + 1):
            gone, gone_edits = (m.where(m.divergence > level) for m in (mine, my_edits))
            left = self.alive - len(gone.number) - len(gone_edits.number)
            if all(self._holds_without(margin, attribute, gone, gone_edits, left) for margin in self.margins):
                return level
        return self._heights[attribute] + 1

    def _far_from_few(self, height: int, cells: Members, edits: Members, request: int) -> int:
        """The lowest level at which a request leaves so many neighbours, or all, that groups elsewhere lose nothing."""
        divergence = [members.divergence[members.request == request] for members in (cells, edits)]
        gone = [int((np.concatenate(divergence) > level).sum()) for level in range(height + 1)]
        return next(level for level, n in enumerate(gone) if n == 0 or self.alive - n > self._most_droppers)

    def _holds_without(self, margin: Margins, attribute: str, gone: Members, edits: Members, left: int) -> bool:
        after = margin.copy()
        if len(gone.number):
            rows = np.searchsorted(self._cells[attribute].first, gone.number, side="right") - 1
            after.count_cells(attribute, gone.number, rows, gone.divergence, -1)
        after.count_edits(edits.number, -1)
        return after.holds(left)
