"""Columns outside the dependencies that tell something about those in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.core.distance import Floats
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn

MOST = 3
"""Witnesses an attribute."""

DISTINCT = 0.1
"""A column with more distinct values than this share of the rows tells rows apart, not values."""

LEAST = 0.02
"""What a witness must tell, in nats a row."""

TEMPERED = 0.7
"""Witnesses repeat each other; each counts for so much."""

SMOOTHED = 3.0

LOOKED_AT = 10_000
"""Rows by which witnesses are chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A column, and how often each of its values stands beside each of the attribute's."""

    gain: float
    codes: Ints
    pairs: Ints
    count: Ints
    total: Ints


class Witnesses:
    """Per attribute: the columns that tell most about it, none for most attributes."""

    def __init__(self, columns: Mapping[str, WeighedColumn], others: Mapping[str, CodedColumn]) -> None:
        rows = len(next(iter(columns.values())).codes)
        few = {name: c for name, c in others.items() if len(c.values) <= DISTINCT * rows}
        step = -(-rows // LOOKED_AT)
        self._columns = columns
        self._found = {name: _found(column, few.values(), step) for name, column in columns.items()}

    def gain(self, attribute: str) -> float:
        """What its witnesses tell together, in nats a row."""
        return sum(witness.gain for witness in self._found[attribute])

    def tell(self, attribute: str, rows: Ints, values: Ints) -> Floats:
        """How much more likely rows' witnesses are if rows had some values, in logarithms, up to a constant a row."""
        column = self._columns[attribute]
        told = np.zeros(len(rows))
        share = _share(column)[values]
        for witness in self._found[attribute]:
            beside = witness.codes[rows].astype(np.int64)
            wanted = beside * len(column) + values
            at = np.minimum(np.searchsorted(witness.pairs, wanted), len(witness.pairs) - 1)
            seen = np.where(witness.pairs[at] == wanted, witness.count[at], 0) - (column.codes[rows] == values)
            given = (np.maximum(seen, 0) + SMOOTHED * share) / (witness.total[beside] - 1 + SMOOTHED)
            told += TEMPERED * np.log(given / share)
        return told


def _share(column: WeighedColumn) -> Floats:
    rows = len(column.codes)
    return np.asarray(np.maximum(column.frequency / rows, 0.5 / rows))


def _found(column: WeighedColumn, others: Iterable[CodedColumn], step: int) -> list[Witness]:
    """Chosen by some rows, and counted over all."""
    found = []
    share = _share(column)
    for number, other in enumerate(others):
        some = beside(other.codes[::step], column.codes[::step], len(column))
        pairs, at, count, total = some
        value = column.codes[::step]
        given = (count[at] - 1 + SMOOTHED * share[value]) / (total[other.codes[::step]] - 1 + SMOOTHED)
        gain = float(np.log(given / share[value]).mean())
        if gain > LEAST:
            found.append((-gain, number, other))
    kept = []
    for gain, _, other in sorted(found, key=lambda one: one[:2])[:MOST]:
        pairs, _, count, total = beside(other.codes, column.codes, len(column))
        kept.append(Witness(-gain, other.codes, pairs, count, total))
    return kept


def beside(codes: Ints, values: Ints, size: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The (code, value) pairs that occur, each row's, how often each does; and how often each code does."""
    key, total = codes.astype(np.int64) * size + values, np.bincount(codes)
    if len(total) * size <= ROOMY:
        counts = np.bincount(key)
        pairs = np.flatnonzero(counts)
        number = np.empty(len(counts), dtype=np.int64)
        number[pairs] = np.arange(len(pairs))
        return pairs, number[key], counts[pairs], total
    pairs, at, count = np.unique(key, return_inverse=True, return_counts=True)
    return pairs, at, count, total


ROOMY = 1 << 22
"""Pairs that are counted in an array of all that there could be."""
