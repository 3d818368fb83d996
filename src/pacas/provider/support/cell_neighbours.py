"""The support set: neighbours of R that stand for what a buyer may believe.

Paper: §5.3. Differs from the paper: neighbours are made per sold cell (D6), spread over the levels at which they first
differ from it, so that a price tells little about the value.

A *cell neighbour* changes one cell to another ground value. Millions of them are two short arrays per attribute: the
new codes, row after row, and for each the number of levels below which it differs from the truth. Each follows from
a keyed hash of (seed, row, attribute, number), and from nothing before it: every process derives the same ones, and
one that is given some of the rows derives theirs alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.engine.grouping import Ints

Levels = NDArray[np.int8]
Counts = NDArray[np.int32]
PerCell = int | Counts
"""How many neighbours each cell gets: one number for all, or one per row."""

BLOCK = 4096
"""Rows whose random numbers come from one hash."""

_AT_A_TIME = 16 * BLOCK
"""Rows that are worked on together: few enough that their intermediate arrays stay small."""


@dataclass(frozen=True, eq=False, repr=False)
class CellNeighbours:
    """The neighbours that change one attribute of one row.

    Those of row r are numbers `first[r]` to `first[r + 1]`, in the order of their divergence. `new` is the code that
    takes the cell's place, and `divergence` the number of levels below which it differs from the old one: a request
    for the cell at level l tells the neighbour from R iff l < divergence.
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


def cell_neighbours(
    attribute: str,
    column: Codes,
    hierarchy: Hierarchy,
    per_cell: PerCell,
    seed: bytes,
    *,
    rows: Ints | None = None,
    purpose: str = "update",
) -> CellNeighbours:
    """`per_cell` neighbours of each cell, evenly over the levels at which its value has candidates (D6).

    Where that does not divide, the higher levels get one more. A level with fewer candidates than its share has them
    several times: otherwise the number of neighbours at a level, and so the price that a fresh buyer is quoted, would
    tell how many siblings the value has. So it is the same for all values that have candidates at the same levels. A
    level without any leaves its share to the others; a tree with one ground value has no neighbours.

    `column` is ground codes. It may be a part of the relation's rows, those with the numbers `rows`, ascending: they
    have the same neighbours as in the whole. Another `purpose` gives other neighbours by the same rules.
    """
    candidates = candidates_of(hierarchy)
    wanted = np.where(candidates.levels[column] > 0, np.asarray(per_cell, dtype=np.int32), np.int32(0))
    first = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(wanted, out=first[1:])
    new, divergence = np.empty(first[-1], dtype=np.int32), np.empty(first[-1], dtype=np.int8)
    for begin in range(0, len(column) if len(new) else 0, _AT_A_TIME):
        old = column[begin : begin + _AT_A_TIME]
        at = first[begin : begin + len(old)].copy()
        for below in range(1, hierarchy.height + 1):
            share = candidates.share(old, wanted[begin : begin + len(old)], below)
            of = (purpose, attribute, below)
            random = (
                draws(seed, of, begin, len(old)) if rows is None else draws_of(seed, of, rows[begin : begin + len(old)])
            )
            number = _within(share)
            place = np.repeat(at, share) + number
            new[place] = candidates.pick(old, below, random, share, number)
            divergence[place] = below
            at += share
    return CellNeighbours(attribute, first, new, divergence)


def per_cell_of_size(size: int, rows: int, attributes: Sequence[str], seed: bytes) -> dict[str, Counts]:
    """`size` neighbours over the cells of some attributes: as many for each, and one more for some.

    Which cells get one more is decided by a keyed hash, so that it tells nothing about their values. With fewer
    neighbours than cells, some cells have none and cost nothing.
    """
    each, rest = divmod(size, max(rows * len(attributes), 1))
    lots = [draws(seed, ("size", attribute), 0, rows) for attribute in attributes]
    counts = np.full(rows * len(attributes), each, dtype=np.int32)
    if len(counts):
        counts[np.argsort(np.concatenate(lots), kind="stable")[:rest]] += 1
    return {attribute: counts[i * rows : (i + 1) * rows] for i, attribute in enumerate(attributes)}


@lru_cache(maxsize=64)
def candidates_of(hierarchy: Hierarchy) -> NeighbourCandidates:
    """What neighbours are picked by, made once for each tree."""
    return NeighbourCandidates(hierarchy)


class NeighbourCandidates:
    """Per ground value: at how many levels it has candidates, and where they stand.

    Sorted by their ancestors from the root down, the ground values with one ancestor at a level are one run. The
    candidates that diverge below level d are the value's run at level d without its run at level d − 1.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        ground = np.flatnonzero(hierarchy.is_ground)
        self._in_order = ground[np.lexsort(hierarchy.ancestors[:, ground])].astype(np.int32)
        shape = (hierarchy.height + 1, len(hierarchy))
        self._start, self._size = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        for level in range(hierarchy.height + 1):
            ancestor = hierarchy.ancestors[level, self._in_order]
            begins = np.flatnonzero(np.diff(ancestor, prepend=-1))
            sizes = np.diff(np.append(begins, len(ancestor)))
            self._start[level, self._in_order] = np.repeat(begins, sizes)
            self._size[level, self._in_order] = np.repeat(sizes, sizes)
        self._count = np.diff(self._size, axis=0)
        counts, which = np.unique(self._count, return_inverse=True)
        strides = np.array([_stride(count) for count in counts.tolist()], dtype=np.int32)
        self._stride = strides[which.reshape(self._count.shape)]
        has_some = self._count > 0
        self.levels: Counts = has_some.sum(axis=0, dtype=np.int32)
        self._above = self.levels - np.cumsum(has_some, axis=0, dtype=np.int32)

    def run(self, old: Codes | Ints, level: int) -> Counts:
        """Where the run of each value's ancestor at a level begins: values with the same one share the ancestor."""
        run: Counts = self._start[level, old]
        return run

    def count(self, value: int, below: int) -> int:
        """How many candidates a value has that diverge below a level."""
        return int(self._count[below - 1, value])

    def stride(self, value: int, below: int) -> int:
        """The step of the walk through them."""
        return int(self._stride[below - 1, value])

    def listed(self, value: int, below: int) -> Codes:
        """The candidates of a value that diverge below a level, in the order in which a walk counts them."""
        outer, inner = self._start[below, value], self._start[below - 1, value]
        ends = outer + self._size[below, value], inner + self._size[below - 1, value]
        return np.concatenate([self._in_order[outer:inner], self._in_order[ends[1] : ends[0]]])

    def share(self, old: Codes | Ints, wanted: Counts, below: int) -> Counts:
        """How many of a cell's neighbours diverge below a level: an even part, the higher levels first."""
        even, rest = np.divmod(wanted, np.maximum(self.levels[old], 1))
        share: Counts = (even + (self._above[below - 1, old] < rest)) * (self._count[below - 1, old] > 0)
        return share

    def pick(self, old: Codes, below: int, random: NDArray[np.uint64], share: Counts, number: Ints) -> Codes:
        """Each cell's candidates: a walk from a random place that comes to all before it comes to one again."""
        count = np.maximum(self._count[below - 1, old], 1)
        from_ = (random % count.astype(np.uint64)).astype(np.int64)
        outer, inner = self._start[below, old], self._start[below - 1, old]
        place = np.repeat(from_, share) + number * np.repeat(self._stride[below - 1, old], share)
        place %= np.repeat(count, share)
        place += np.repeat(self._size[below - 1, old], share) * (place >= np.repeat(inner - outer, share))
        place += np.repeat(outer, share)
        picked: Codes = self._in_order[place]
        return picked


def _within(counts: Counts) -> Ints:
    """0, 1, … for each count, one after the other."""
    ends = np.cumsum(counts, dtype=np.int64)
    within: Ints = np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)
    return within


def _stride(count: int) -> int:
    """A step that visits every candidate once before it repeats, and jumps about on the way."""
    step = max(round(count * 0.618), 1)
    while gcd(step, max(count, 1)) > 1:
        step += 1
    return step


def draws(seed: bytes, purpose: tuple[str | int, ...], start: int, count: int) -> NDArray[np.uint64]:
    """64 random bits for each of `count` rows from `start` on, for one purpose: a keyed stream.

    The bits of block b of 4096 rows are SHAKE128 of (seed, purpose, b), each part with its length before it. Nobody
    without the seed can tell them from chance, whichever others they have seen: a buyer who learns some neighbours
    learns nothing about the rest. And nobody needs the blocks before: each process derives those of the rows it has.
    """
    blocks = range(start // BLOCK, -(-(start + count) // BLOCK))
    hashed = [hashlib.shake_128(_encoded(seed, *purpose, block)).digest(8 * BLOCK) for block in blocks]
    stream = np.frombuffer(b"".join(hashed) or bytes(8), dtype="<u8")
    return stream[start % BLOCK :][:count].astype(np.uint64, copy=False)


def draws_of(seed: bytes, purpose: tuple[str | int, ...], rows: Ints) -> NDArray[np.uint64]:
    """64 random bits for each of any rows, as `draws` gives them: of a block only as many are made as are needed.

    The rows' numbers ascend.
    """
    block, place = np.divmod(rows, BLOCK)
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    ends = np.append(starts, len(rows))[1:]
    found = np.empty(len(rows), dtype=np.uint64)
    before = hashlib.shake_128(_encoded(seed, *purpose))
    for number, start, end in zip(block[starts].tolist(), starts.tolist(), ends.tolist(), strict=True):
        hashed = before.copy()
        hashed.update(_framed(number))
        stream = np.frombuffer(hashed.digest(8 * (int(place[end - 1]) + 1)), dtype="<u8")
        found[start:end] = stream[place[start:end]]
    return found


def _encoded(*parts: bytes | str | int) -> bytes:
    return b"".join(map(_framed, (_DOMAIN, *parts)))


def _framed(part: bytes | str | int) -> bytes:
    text = part if isinstance(part, bytes) else str(part).encode()
    return len(text).to_bytes(8, "little") + text


_DOMAIN = "pacas support set 1"
