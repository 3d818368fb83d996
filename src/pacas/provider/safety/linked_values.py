"""Which values a policy's X-groups are linked to: by the relation itself, and by each neighbour.

Paper: Alg. 2, the values of Gᵗ over all instances. A *pair* is an X-group of R with one Y-value at levels L, numbered.
A neighbour differs from R in few pairs: it *adds* one that R does not have, or *drops* one that R has. With the number
of neighbours that add or drop each pair, the values that a group shows over any set of neighbours are known without
looking at one of them: a pair of R's is shown unless all of them drop it, another one if some of them adds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Codes
from pacas.engine.grouping import Groups, Ints, combine, distinct, spread
from pacas.provider.column import Column
from pacas.provider.support.cell_neighbours import CellNeighbours
from pacas.provider.support.edits import Edits

Numbers = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class PairLists:
    """A list of pairs for each of many edits."""

    offsets: Ints
    pairs: Ints

    @classmethod
    def of(cls, edit: Ints, pair: Ints, count: int) -> PairLists:
        groups = Groups.of(edit, count)
        return cls(groups.offsets, pair[groups.members])

    def some(self, edits: Ints) -> tuple[Ints, Ints]:
        """(which of the edits, its pair), one after the other."""
        starts = self.offsets[edits]
        sizes = self.offsets[edits + 1] - starts
        return np.repeat(np.arange(len(edits)), sizes), self.pairs[spread(starts, sizes)]


class LinkedValues:
    """A policy's X-groups and pairs, and what each neighbour adds to them and drops from them."""

    def __init__(
        self, policy: Policy, columns: Mapping[str, Column], cells: Mapping[str, CellNeighbours], edits: Edits
    ) -> None:
        self.policy = policy
        self._columns = columns
        self._values = _YValues(policy, columns)
        self.group, patch_group, self.groups = _groups([columns[a] for a in policy.x], edits)
        """Per row: its X-group, −1 if it has a null in X."""
        row_y = self._values.of({a: columns[a].codes for a in policy.y})
        patch_y = self._values.of({a: edits.column(a, columns[a].codes) for a in policy.y})[edits.standing]
        all_changed = {a: np.flatnonzero(cells[a].divergence > policy.y_levels[a]) for a in policy.y if a in cells}
        keys = [self._keys(self.group, row_y), self._keys(patch_group, patch_y)]
        keys += [self._cell_keys(cells[a], row_y, changed) for a, changed in all_changed.items()]
        ends, together = np.cumsum([len(k) for k in keys])[:-1], np.concatenate(keys)
        del keys  # they take more than all that is kept
        pair, found = _numbered(together)
        self._found = found
        self.group_of: Numbers = (found // self._values.space).astype(np.int32)
        """Per pair: its X-group."""
        row_pair, patch_pair, *cell_pairs = np.split(pair, ends)
        self.row_pair: Ints = row_pair.astype(np.int64)  # a view would hold all pairs
        own = np.bincount(self.row_pair[self.row_pair >= 0], minlength=len(found))
        self.own: Numbers = own.astype(np.int32)
        """Per pair: how many of R's rows have it."""
        self.added = {
            a: self._added_by_cells(len(cells[a]), changed, pairs)
            for (a, changed), pairs in zip(all_changed.items(), cell_pairs, strict=True)
        }
        """Per attribute and cell neighbour: the pair that it adds, or −1."""
        self.edit_adds, self.edit_drops = self._edit_pairs(edits, patch_pair)

    @property
    def pairs(self) -> int:
        return len(self.own)

    def drops(self, rows: Ints, divergence: NDArray[np.int8], attribute: str) -> Ints:
        """The pairs that cell neighbours of these rows drop: R's only row with the pair gets another value."""
        if attribute not in self.added:
            return np.empty(0, dtype=np.int64)
        dropped: Ints = self._only_row[rows[divergence > self.policy.y_levels[attribute]]]
        return dropped[dropped >= 0]

    @cached_property
    def _only_row(self) -> Ints:
        """Per row: its pair, if no other row of R has it, else −1."""
        only = np.full(len(self.row_pair), -1, dtype=np.int64)
        linked = np.flatnonzero(self.row_pair >= 0)
        linked = linked[self.own[self.row_pair[linked]] == 1]
        only[linked] = self.row_pair[linked]
        return only

    @cached_property
    def own_values(self) -> Ints:
        """|V_g|: how many values R itself shows in each group."""
        return np.bincount(self.group_of[self.own > 0], minlength=self.groups)

    @cached_property
    def members(self) -> Groups:
        """The rows of each group."""
        return Groups.of(self.group, self.groups)

    def values_of(self, pairs: Ints) -> Ints:
        """The Y-value of each pair, as a number."""
        return self._found[pairs] % self._values.space

    def y_of_nodes(self, nodes: Mapping[str, int]) -> int:
        """The number of a Y-value, from each attribute's node at its level."""
        return self._values.number(nodes)

    def _keys(self, group: Ints, y: Ints) -> Ints:
        return np.where(group >= 0, group * self._values.space + y, -1)

    def _cell_keys(self, cells: CellNeighbours, row_y: Ints, changed: Ints) -> Ints:
        rows = np.repeat(np.arange(len(row_y)), np.diff(cells.first))[changed]
        y = row_y[rows] + self._values.step(
            cells.attribute, self._columns[cells.attribute].cells[rows], cells.new[changed]
        )
        return self._keys(self.group[rows], y)

    def _added_by_cells(self, count: int, changed: Ints, pairs: Numbers) -> Numbers:
        added = np.full(count, -1, dtype=np.int32)
        linked = pairs >= 0
        pairs = pairs[linked]
        added[changed[linked]] = np.where(self.own[pairs] == 0, pairs, -1)
        return added

    def _edit_pairs(self, edits: Edits, patch_pair: Numbers) -> tuple[PairLists, PairLists]:
        """What each edit adds and drops: pairs that it has and R has not, and the other way round."""
        replaces = np.flatnonzero(edits.row >= 0)
        edit = np.concatenate([edits.neighbour[replaces], edits.neighbour[edits.standing]])
        pair = np.concatenate([self.row_pair[edits.row[replaces]], patch_pair])
        sign = np.concatenate([np.full(len(replaces), -1), np.ones(len(edits.standing), dtype=np.int64)])
        linked = pair >= 0
        key, place = np.unique(edit[linked] * max(self.pairs, 1) + pair[linked], return_inverse=True)
        edit, pair = np.divmod(key, max(self.pairs, 1))
        change = np.zeros(len(key), dtype=np.int64)
        np.add.at(change, place, sign[linked])
        before, after = self.own[pair] > 0, self.own[pair] + change > 0
        adds, drops = ~before & after, before & ~after
        return (
            PairLists.of(edit[adds], pair[adds], edits.count),
            PairLists.of(edit[drops], pair[drops], edits.count),
        )


class _YValues:
    """Y-values at levels L as one number: each attribute's node at its level is a digit."""

    def __init__(self, policy: Policy, columns: Mapping[str, Column]) -> None:
        self.space = 1
        self._at_level: dict[str, Codes] = {}
        self._stride: dict[str, int] = {}
        for attribute, level in policy.y_levels.items():
            self._at_level[attribute] = columns[attribute].hierarchy.ancestors[level]
            self._stride[attribute] = self.space
            self.space *= len(columns[attribute].hierarchy)
        self._nodes = {a: columns[a].nodes for a in policy.y}

    def of(self, codes: Mapping[str, Codes]) -> Ints:
        """From the codes of each Y-attribute."""
        digits = [self._digit(a, self._nodes[a][c]) for a, c in codes.items()]
        total: Ints = np.sum(digits, axis=0)
        return total

    def number(self, nodes: Mapping[str, int]) -> int:
        """From each attribute's node at its level."""
        return sum(node * self._stride[a] for a, node in nodes.items())

    def step(self, attribute: str, old: Codes, new: Codes) -> Ints:
        """What another node of one attribute changes."""
        return self._digit(attribute, new) - self._digit(attribute, old)

    def _digit(self, attribute: str, nodes: Codes) -> Ints:
        digit: Ints = self._at_level[attribute][nodes].astype(np.int64) * self._stride[attribute]
        return digit


def _numbered(keys: Ints) -> tuple[Numbers, Ints]:
    """A number for each key ≥ 0, −1 for the others, and the keys by their numbers: by sorting, as so many differ."""
    order = np.argsort(keys)
    ordered = keys[order]
    begins = ordered >= 0
    begins[1:] &= ordered[1:] != ordered[:-1]
    number = np.empty(len(keys), dtype=np.int32)
    number[order] = np.cumsum(begins, dtype=np.int32) - 1
    return number, ordered[begins]


def _groups(x: Sequence[Column], edits: Edits) -> tuple[Ints, Ints, int]:
    """X-groups of R's rows, and those of R's that patches are in; −1 for none."""
    rows = len(x[0])
    keys = []
    for column in x:
        patches = edits.column(column.attribute, column.codes)[edits.standing]
        keys.append(column.keys(np.concatenate([column.codes, patches])))
    group, _ = distinct(combine(keys).key)
    of_rows, of_patches = group[:rows], group[rows:]
    count = int(of_rows.max(initial=-1)) + 1
    return of_rows, np.where(of_patches < count, of_patches, -1), count
