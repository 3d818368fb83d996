"""Support sets of several kinds of neighbours: updates of a cell, swaps of two, insertions and deletions of a row.

Paper: §5.3. Of each cell's neighbours every kind has its share. Updates stay `CellNeighbours`, whose prices are in a
table; the others are `Edits`. Updates alone are the default, as only they have the same effect on a price whatever the
column holds: a swap is told from R at levels that depend on the other rows, and a deletion at all or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import fsum

import numpy as np

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.errors import InputError, did_you_mean
from pacas.provider.support.cell_neighbours import CellNeighbours, Counts, PerCell, cell_neighbours, draws
from pacas.provider.support.edits import INSERTED, Changed, Edits, codes_of

KINDS = ("update", "swap", "insert", "delete")
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Mix:
    """The share of each kind among a cell's neighbours; shares sum to 1."""

    update: float = 1.0
    swap: float = 0.0
    insert: float = 0.0
    delete: float = 0.0

    @classmethod
    def of(cls, shares: Mapping[str, float]) -> Mix:
        """From the shares that are given; a kind that is left out has none."""
        for kind, share in shares.items():
            if kind not in KINDS:
                raise InputError(f"mix has no kind {kind!r}; {did_you_mean(kind, KINDS)}")
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1 + _TOLERANCE:
                raise InputError(f"the share of {kind} in mix must be a number from 0 to 1, not {share!r}")
        if abs(fsum(shares.values()) - 1) > _TOLERANCE:
            raise InputError(f"the shares in mix must sum to 1; they sum to {fsum(shares.values()):.12g}")
        return cls(**{kind: shares.get(kind, 0.0) for kind in KINDS})

    def split(self, per_cell: PerCell) -> dict[str, PerCell]:
        """How many of a cell's neighbours are of each kind: its share, rounded by largest remainder.

        >>> Mix.of({"update": 0.7, "swap": 0.1, "insert": 0.1, "delete": 0.1}).split(10)
        {'update': 7, 'swap': 1, 'insert': 1, 'delete': 1}
        """
        if isinstance(per_cell, int):
            return dict(zip(KINDS, self._rounded(per_cell), strict=True))
        sizes, which = np.unique(per_cell, return_inverse=True)
        table = np.array([self._rounded(size) for size in sizes.tolist()], dtype=np.int32).reshape(-1, len(KINDS))
        return {kind: table[which, column] for column, kind in enumerate(KINDS)}

    def _rounded(self, count: int) -> list[int]:
        """Exact, on the decimals as they are written; among equal remainders the first kind goes first."""
        shares = [Fraction(str(share)) for share in (self.update, self.swap, self.insert, self.delete)]
        quotas = [count * share / sum(shares) for share in shares]
        counts = [int(quota) for quota in quotas]
        for kind in sorted(range(len(KINDS)), key=lambda k: counts[k] - quotas[k])[: count - sum(counts)]:
            counts[kind] += 1
        return counts


def mixed_neighbours(
    attribute: str,
    column: Codes,
    hierarchy: Hierarchy,
    per_cell: PerCell,
    seed: bytes,
    *,
    mix: Mix,
    codes: Mapping[str, Codes],
    code_of_node: Codes,
) -> tuple[CellNeighbours, Edits]:
    """The neighbours of an attribute's cells: the updates, and the swaps, insertions and deletions in this order.

    `column` is the attribute as ground nodes of its hierarchy; `codes` is R in the provider's codes, every attribute;
    `code_of_node` leads from the one to the other. In a column of one value nothing can be swapped: its swaps are
    insertions. Insertions need a second ground value in the tree.
    """
    counts = mix.split(per_cell)
    swaps, inserts = counts["swap"], counts["insert"]
    if not len(column) or (column == column[0]).all():
        swaps, inserts = 0, inserts + swaps
    updates = cell_neighbours(attribute, column, hierarchy, counts["update"], seed)
    put_in = cell_neighbours(attribute, column, hierarchy, inserts, seed, purpose="insert")
    edits = [
        _swaps(attribute, column, codes[attribute], _per_row(swaps, column), seed),
        _insertions(put_in, codes, code_of_node),
        _deletions(_per_row(counts["delete"], column)),
    ]
    return updates, Edits.joined(edits)


def _per_row(per_cell: PerCell, column: Codes) -> Counts:
    return np.broadcast_to(np.asarray(per_cell, dtype=np.int32), column.shape)


def _swaps(attribute: str, column: Codes, codes: Codes, counts: Counts, seed: bytes) -> Edits:
    """A cell exchanges its value with one of the rows that have another, all of them as likely.

    With the rows sorted by value, those that have another are all but one run.
    """
    in_order = np.argsort(column, kind="stable")
    size = np.bincount(column)
    start = np.cumsum(size) - size
    first = np.cumsum(counts, dtype=np.int64) - counts
    row = np.repeat(np.arange(len(column)), counts)
    partner = np.empty(len(row), dtype=np.int64)
    for number in range(int(counts.max(initial=0))):
        here = np.flatnonzero(counts > number)
        run = column[here]
        random = draws(seed, ("swap", attribute, number), 0, len(column))[here]
        place = (random % (len(column) - size[run]).astype(np.uint64)).astype(np.int64)
        place += size[run] * (place >= start[run])
        partner[first[here] + number] = in_order[place]
    rows, others = np.stack([row, partner], axis=1).ravel(), np.stack([partner, row], axis=1).ravel()
    changed = Changed(np.arange(len(rows)), codes[others].astype(np.int32, copy=False))
    gone = np.zeros(len(rows), dtype=np.bool_)
    return Edits(len(row), np.repeat(np.arange(len(row)), 2), rows, gone, {attribute: changed})


def _insertions(cells: CellNeighbours, codes: Mapping[str, Codes], code_of_node: Codes) -> Edits:
    """A copy of the row with another value, spread over the levels as updates are, comes in beside it."""
    number, rows = np.arange(len(cells)), cells.rows
    values = {a: Changed(number, column[rows].astype(np.int32, copy=False)) for a, column in codes.items()}
    values[cells.attribute] = Changed(number, codes_of(cells.new, code_of_node))
    return Edits(len(cells), number, np.full(len(cells), INSERTED), np.zeros(len(cells), dtype=np.bool_), values)


def _deletions(counts: Counts) -> Edits:
    """The row is gone. It is the same neighbour each time, and weighs accordingly."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return Edits(len(rows), np.arange(len(rows)), rows, np.ones(len(rows), dtype=np.bool_))
