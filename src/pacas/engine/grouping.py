"""Numbering groups of rows over columns of integer codes, in linear time, and the members of each group.

A column is one code per row, and a group is a number per row, −1 for a row that is in none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

NONE: Ints = np.empty(0, dtype=np.int64)
NONE.setflags(write=False)

ROW_BITS = 36
"""Enough for 68 billion rows; the rest of 64 bits is for 134 million groups."""
FEW = 1 << 12
"""Rows up to which a column is coded without Arrow's functions, which take longer to load."""


class Keys(NamedTuple):
    """One key per row, each in [0, space), or −1 where the row has none."""

    key: Array
    space: int
    partial: bool
    """Whether some row has none."""


def combine(columns: Sequence[Keys]) -> Keys:
    """One key for the combination of several columns, dense enough to index an array with.

    A row that has no key in some column has none here.

    >>> combine([Keys(np.array([0, 1, 1, -1]), 2, True), Keys(np.array([2, 0, 2, 1]), 3, False)])
    Keys(key=array([ 2,  3,  5, -1], dtype=int32), space=6, partial=True)
    """
    rows = len(columns[0].key)
    key, space, partial = columns[0]
    for column in columns[1:]:
        if space * column.space > _roomy(rows):
            key, space = _dense(key, partial)
        both: NDArray[Any] = key.astype(np.int64 if space * column.space >= 2**31 else np.int32)
        both *= column.space
        both += column.key
        if partial or column.partial:
            both[(key < 0) | (column.key < 0)] = -1
        key, space, partial = both, space * column.space, partial or column.partial
    if space > _roomy(rows):
        key, space = _dense(key, partial)
    return Keys(key, space, partial)


def connect(groupings: Sequence[Keys]) -> Keys:
    """One key for rows that share a group in any of the groupings, transitively."""
    from scipy.sparse import coo_array  # here: slow to import, rarely needed
    from scipy.sparse.csgraph import connected_components

    nodes = np.cumsum([0, *(g.space for g in groupings)])
    named = [np.where(g.key >= 0, g.key + first, -1) for g, first in zip(groupings, nodes, strict=False)]
    anchor = named[0]
    for group in named[1:]:
        anchor = np.where(anchor >= 0, anchor, group)
    graph = coo_array((int(nodes[-1]), int(nodes[-1])), dtype=np.bool_).tocsr()
    for group in named[1:]:
        linked = np.flatnonzero((group >= 0) & (group != anchor))
        ends = (anchor[linked], group[linked])
        graph = graph + coo_array((np.ones(len(linked), dtype=np.bool_), ends), shape=graph.shape).tocsr()
    count, component = connected_components(graph, directed=False)
    key = np.append(component, -1)[anchor].astype(np.int32)  # −1 finds the −1
    return Keys(key, int(count), bool((anchor < 0).any()))


def mixed(groups: Keys, values: Array) -> Array:
    """Per group: does it show more than one value?"""
    key, value = (groups.key, values) if not groups.partial else _present(groups, values)
    last = np.zeros(groups.space, dtype=values.dtype)
    last[key] = value
    several = np.zeros(groups.space, dtype=np.bool_)
    several[key[last[key] != value]] = True
    return several


def gather(groups: Keys, chosen: Array) -> tuple[Array, Array]:
    """The rows of the chosen groups, group after group in order of their first row, and where each group begins."""
    rows = np.flatnonzero(np.append(chosen, False)[groups.key])  # −1 finds the False
    key = groups.key[rows]
    first = np.zeros(groups.space, dtype=np.int64)
    first[key[::-1]] = rows[::-1]  # the last write, which is the first row, stays
    used = np.flatnonzero(chosen)
    number = np.zeros(groups.space, dtype=np.int64)
    number[used[np.argsort(first[used])]] = np.arange(len(used))
    ordered = number[key]  # from here in place: group, then row, in one number, so that one plain sort does it
    ordered <<= ROW_BITS
    ordered |= rows
    ordered.sort()
    offsets = np.searchsorted(ordered, np.arange(len(used) + 1) << ROW_BITS)
    ordered &= (1 << ROW_BITS) - 1
    return ordered, offsets


def count_pairs(group: Array, value: Array, values: int) -> tuple[Array, Array, Array]:
    """The (group, value) pairs that occur, sorted, and how often each does."""
    key = group.astype(np.int64) * values + value
    if int(key.max(initial=-1)) < _roomy(len(key)):
        counts = np.bincount(key)
        keys = np.flatnonzero(counts)
        n = counts[keys]
    else:
        keys, n = np.unique(key, return_counts=True)
    return keys // values, keys % values, n.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Groups:
    """Group g's members are `members[offsets[g] : offsets[g + 1]]`, ascending.

    Five rows: the first and the last are in group 1, two are in group 0, one is in none, and group 2 has no rows.

    >>> groups = Groups.of(np.array([1, 0, -1, 0, 1]), 3)
    >>> groups.offsets.tolist(), groups.members.tolist()
    ([0, 2, 4, 4], [1, 3, 0, 4])
    >>> groups.one(1).tolist(), groups.some(np.array([0, 1])).tolist()
    ([0, 4], [0, 1, 3, 4])
    """

    offsets: Ints
    members: Ints

    @classmethod
    def of(cls, group: Array, count: int) -> Groups:
        """The numbers 0, 1, … by their group; one whose group is −1 is in none."""
        order = np.argsort(group, kind="stable").astype(np.int64, copy=False)
        offsets = np.cumsum(np.bincount(group.astype(np.int64) + 1, minlength=count + 1), dtype=np.int64)
        members = order[offsets[0] :]
        members.setflags(write=False)  # what is handed out are views of it
        return cls(offsets - offsets[0], members)

    @classmethod
    def of_sizes(cls, sizes: Array, members: Ints) -> Groups:
        """Members that stand group after group, by how many each group has."""
        return cls(np.concatenate([[0], np.cumsum(sizes)]), members)

    def size(self, groups: Array) -> int:
        """How many members these groups have together."""
        return int((self.offsets[groups + 1] - self.offsets[groups]).sum())

    def one(self, group: int) -> Ints:
        return self.members[self.offsets[group] : self.offsets[group + 1]]

    def take(self, groups: Array) -> Groups:
        """Some groups, in this order."""
        starts, sizes = self.offsets[groups], np.diff(self.offsets)[groups]
        return Groups.of_sizes(sizes, self.members[spread(starts, sizes)])

    def some(self, groups: Array, most: int | None = None) -> Ints:
        """The members of several groups, ascending; of each group only the first `most`."""
        if len(groups) == 1:
            return self.one(int(groups[0]))[:most]
        starts = self.offsets[groups]
        sizes = self.offsets[groups + 1] - starts
        if most is not None:
            sizes = np.minimum(sizes, most)
        return np.sort(self.members[spread(starts, sizes)])


def spread(starts: Array, sizes: Array) -> Ints:
    """start, start + 1, … for each start, as many as its size says, one after the other.

    >>> spread(np.array([10, 3, 20]), np.array([2, 0, 3])).tolist()
    [10, 11, 20, 21, 22]
    """
    before = np.cumsum(sizes) - sizes
    index: Ints = np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
    return index


def distinct(keys: Array) -> tuple[Ints, Ints]:
    """A number for each key ≥ 0, counted from 0 in order of first appearance (−1 for the others), and their keys."""
    there = np.flatnonzero(keys >= 0)
    kept = np.ascontiguousarray(keys[there], dtype=np.int64)
    index, values = _encoded(kept)
    number = np.full(len(keys), -1, dtype=np.int64)
    number[there] = index
    return number, values


def _present(groups: Keys, values: Array) -> tuple[Array, Array]:
    there = np.flatnonzero(groups.key >= 0)
    return groups.key[there], values[there]


def _roomy(rows: int) -> int:
    """How large a key space may be and still be worth an array of that size."""
    return max(8 * rows, 1 << 16)


def _dense(key: Array, partial: bool) -> tuple[Array, int]:
    if partial:
        dense = np.full(len(key), -1, dtype=np.int32)
        there = np.flatnonzero(key >= 0)
        dense[there], space = _dense(key[there], False)
        return dense, space
    dense, values = _encoded(key)
    return dense, len(values)


def _encoded(keys: Array) -> tuple[Array, Array]:
    """The number of each key, counted from 0 in order of first appearance, and the keys: few of them by NumPy alone."""
    if len(keys) > FEW:
        coded = pa.array(keys).dictionary_encode()
        return coded.indices.to_numpy(), coded.dictionary.to_numpy()
    values, first, place = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    return number[place], values[order]
