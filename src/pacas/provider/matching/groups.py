"""Members by group, in two arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.engine.grouping import Array

Numbers = NDArray[np.int64]

NONE: Numbers = np.empty(0, dtype=np.int64)
NONE.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Groups:
    """Group g's members are `members[offsets[g] : offsets[g + 1]]`, ascending."""

    offsets: Numbers
    members: Numbers

    @classmethod
    def of(cls, group: Array, count: int) -> Groups:
        """The numbers 0, 1, … by their group; one whose group is −1 is in none."""
        order = np.argsort(group, kind="stable").astype(np.int64, copy=False)
        offsets = np.cumsum(np.bincount(group.astype(np.int64) + 1, minlength=count + 1), dtype=np.int64)
        members = order[offsets[0] :]
        members.setflags(write=False)  # what is handed out are views of it
        return cls(offsets - offsets[0], members)

    def size(self, groups: Array) -> int:
        """How many members these groups have together."""
        return int((self.offsets[groups + 1] - self.offsets[groups]).sum())

    def one(self, group: int) -> Numbers:
        return self.members[self.offsets[group] : self.offsets[group + 1]]

    def some(self, groups: Array, most: int | None = None) -> Numbers:
        """The members of several groups, ascending; of each group only the first `most`."""
        if len(groups) == 1:
            return self.one(int(groups[0]))[:most]
        starts = self.offsets[groups]
        sizes = self.offsets[groups + 1] - starts
        if most is not None:
            sizes = np.minimum(sizes, most)
        return np.sort(self.members[spread(starts, sizes)])


def spread(starts: Array, sizes: Array) -> Numbers:
    """start, start + 1, … for each start, as many as its size says, one after the other."""
    before = np.cumsum(sizes) - sizes
    index: Numbers = np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
    return index


def distinct(keys: Array) -> tuple[Numbers, Numbers]:
    """A number for each key ≥ 0, counted from 0 in order of first appearance (−1 for the others), and their keys."""
    there = np.flatnonzero(keys >= 0)
    kept = np.ascontiguousarray(keys[there], dtype=np.int64)
    # By buffers, as pa.array and to_numpy would import pandas where it is installed.
    coded = pa.Array.from_buffers(pa.int64(), len(kept), [None, pa.py_buffer(kept)]).dictionary_encode()
    number = np.full(len(keys), -1, dtype=np.int64)
    number[there] = np.frombuffer(coded.indices.buffers()[1], dtype=np.int32, count=len(kept))
    return number, np.frombuffer(coded.dictionary.buffers()[1], dtype=np.int64, count=len(coded.dictionary))
