"""The support set: neighbours of R that stand for what a buyer may believe.

Paper: §5.3. Differs from the paper: neighbours are made per sold cell (D6), spread over the levels at which they first
differ from it, so that a price tells little about the value.

A *cell neighbour* changes one cell to another ground value. Millions of them are two short arrays per attribute: the
new codes, row after row, and for each the number of levels below which it differs from the truth. Each follows from
a keyed hash of (seed, row, attribute, number): every process derives the same ones.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Codes, Hierarchy

Levels = NDArray[np.int8]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CellNeighbours:
    """The neighbours that change one attribute of one row.

    Those of row r are numbers `first[r]` to `first[r + 1]`. `new` is the code that takes the cell's place, and
    `divergence` the number of levels below which it differs from the old one: a request for the cell at level l tells
    the neighbour from R iff l < divergence.
    """

    attribute: str
    first: Ints
    new: Codes
    divergence: Levels

    def __len__(self) -> int:
        return len(self.new)

    @property
    def rows(self) -> Ints:
        """Per neighbour: the row that it changes."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


def cell_neighbours(attribute: str, column: Codes, hierarchy: Hierarchy, per_cell: int, seed: bytes) -> CellNeighbours:
    """`per_cell` neighbours of each cell (fewer where the tree has fewer), evenly over the levels (D6)."""
    plan = _Plan(hierarchy, per_cell)
    counts = plan.counts[:, column]
    first = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    new = np.empty(first[-1], dtype=np.int32)
    divergence = np.empty(first[-1], dtype=np.int8)
    at = first[:-1].copy()
    for below in range(1, hierarchy.height + 1):
        draws = _draw(seed, attribute, below, len(column))
        for number in range(int(counts[below - 1].max(initial=0))):
            rows = np.flatnonzero(counts[below - 1] > number)
            new[at[rows]] = plan.pick(column[rows], below, draws[rows], number)
            divergence[at[rows]] = below
            at[rows] += 1
    return CellNeighbours(attribute, first, new, divergence)


class _Plan:
    """Per ground value: how many of its neighbours diverge below each level, and where the candidates stand.

    Sorted by their ancestors from the root down, the ground values with one ancestor at a level are one run. The
    candidates that diverge below level d are the value's run at level d without its run at level d − 1.
    """

    def __init__(self, hierarchy: Hierarchy, per_cell: int) -> None:
        ground = np.flatnonzero(hierarchy.is_ground)
        self._in_order = ground[np.lexsort(hierarchy.ancestors[:, ground])].astype(np.int32)
        shape = (hierarchy.height + 1, len(hierarchy))
        self._start, self._end = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for level in range(hierarchy.height + 1):
            ancestor = hierarchy.ancestors[level, self._in_order]
            begins = np.flatnonzero(np.diff(ancestor, prepend=-1))
            lengths = np.diff(np.append(begins, len(ancestor)))
            self._start[level, self._in_order] = np.repeat(begins, lengths)
            self._end[level, self._in_order] = np.repeat(begins + lengths, lengths)
        self._room = np.diff(self._end - self._start, axis=0)
        self._stride = {int(m): _stride(int(m)) for m in np.unique(self._room)}
        self.counts = _spread(self._room, per_cell)

    def pick(self, old: Codes, below: int, draws: NDArray[np.uint64], number: int) -> Codes:
        """The number-th candidate of each cell: a walk from a random place that comes to none twice."""
        room = self._room[below - 1, old]
        stride = np.array([self._stride[m] for m in room.tolist()], dtype=np.uint64)
        place = ((draws + np.uint64(number) * stride) % room.astype(np.uint64)).astype(np.int64)
        place += self._start[below, old]
        inner = place >= self._start[below - 1, old]
        place[inner] += (self._end - self._start)[below - 1, old][inner]
        picked: Codes = self._in_order[place]
        return picked


def _spread(room: Ints, per_cell: int) -> Ints:
    """per_cell places over the levels, as evenly as there is room, the higher levels first where it does not divide."""
    counts = np.zeros_like(room)
    for _ in range(per_cell):
        open_ = counts < room
        lowest = np.where(open_, counts, np.iinfo(np.int64).max).min(axis=0)
        chosen = open_ & (counts == lowest)
        last = len(room) - 1 - np.argmax(chosen[::-1], axis=0)
        some = chosen.any(axis=0)
        counts[last[some], np.flatnonzero(some)] += 1
    return counts


def _stride(room: int) -> int:
    """A step that visits every candidate once before it repeats, and jumps about on the way."""
    step = max(round(room * 0.618), 1)
    while gcd(step, max(room, 1)) > 1:
        step += 1
    return step


def _draw(seed: bytes, attribute: str, below: int, rows: int) -> NDArray[np.uint64]:
    """63 random bits for each row: its number mixed (SplitMix64) with a key hashed from seed, attribute and level."""
    key = hashlib.blake2b(f"{attribute}\0{below}".encode(), key=seed, digest_size=8).digest()
    mixed = np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(int.from_bytes(key, "little"))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1)
