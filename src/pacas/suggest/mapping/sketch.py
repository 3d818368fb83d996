"""A column as another party's column is compared with it: a sample of its values by their hashes, and its shapes.

The values with the smallest hashes are the same sample on both sides, so that two sketches tell how far two columns
overlap, however many values they have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pacas.core.histogram import Ints
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.mapping.normal_value import normal_value, shape_of

KEPT = 1024
"""Distinct values in a sketch."""
BY_ROWS = 0.7
"""What the rows that hold common values count beside the values themselves."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class ValueSketch:
    """The values with the smallest hashes, and how many rows hold each."""

    hashes: Hashes
    """Ascending."""
    counts: Ints
    is_whole: bool
    """Whether these are all values."""

    @classmethod
    def of(cls, values: Iterable[str], counts: Iterable[int], kept: int = KEPT) -> ValueSketch:
        found: Counter[int] = Counter()
        for value, count in zip(values, counts, strict=True):
            if value:
                found[_hashed(value)] += count
        hashes = np.fromiter(found.keys(), dtype=np.uint64, count=len(found))
        order = np.argsort(hashes)[:kept]
        rows = np.fromiter(found.values(), dtype=np.int64, count=len(found))
        return cls(hashes[order], rows[order], len(found) <= kept)

    def below(self, limit: int) -> ValueSketch:
        """The part of the sketch that has no larger hashes."""
        end = int(np.searchsorted(self.hashes, np.uint64(limit), side="right"))
        return ValueSketch(self.hashes[:end], self.counts[:end], self.is_whole)

    def __len__(self) -> int:
        return len(self.hashes)


def _hashed(value: str) -> int:
    return int.from_bytes(blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def value_overlap(a: ValueSketch, b: ValueSketch) -> float:
    """From 0 to 1: how far the rows of two columns hold the same values as often, and the values are the same."""
    limit = min((int(one.hashes[-1]) for one in (a, b) if not one.is_whole), default=2**64 - 1)
    a, b = a.below(limit), b.below(limit)
    if not len(a) or not len(b):
        return 0.0
    _, in_a, in_b = np.intersect1d(a.hashes, b.hashes, assume_unique=True, return_indices=True)
    by_rows = np.minimum(a.counts[in_a] / a.counts.sum(), b.counts[in_b] / b.counts.sum()).sum()
    contained = len(in_a) / min(len(a), len(b))
    return float(BY_ROWS * by_rows + (1 - BY_ROWS) * contained)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnSketch:
    """A column's values as they are written and as they are compared, and what they look like."""

    name: str
    written: ValueSketch
    normal: ValueSketch
    shapes: dict[str, float]

    @classmethod
    def of(cls, column: ProfiledColumn) -> ColumnSketch:
        values, counts = column.values, column.counts.tolist()
        return cls(
            column.name,
            ValueSketch.of(map(str.strip, values), counts),
            ValueSketch.of(map(normal_value, values), counts),
            _shares(map(shape_of, values), counts),
        )


def _shares(shapes: Iterable[str], counts: Sequence[int]) -> dict[str, float]:
    found: Counter[str] = Counter()
    for shape, count in zip(shapes, counts, strict=True):
        found[shape] += count
    total = found.total() or 1
    return {shape: count / total for shape, count in found.items()}


def shape_overlap(a: ColumnSketch, b: ColumnSketch) -> float:
    """From 0 to 1: how far two columns' values look alike."""
    return sum(min(share, b.shapes.get(shape, 0.0)) for shape, share in a.shapes.items())
