"""How the rows of a table are found by a match and grouped by X: all that sealed refusals follow from, beside the tree.

Nobody is sold who is not found alone. Of every X-group one row is kept back, or those sold as one that buyers miss
least, unless it has a row that nobody can buy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pacas.engine.grouping import Ints, Mask, combine, distinct
from pacas.engine.kept_rows import cost_of_units
from pacas.suggest.coded_table import CodedTable

MOST_MATCHES = 1000
"""Rows that a request may find, unless a provider says otherwise."""


@dataclass(frozen=True, slots=True)
class RowsForSale:
    """How many rows a policy leaves for sale."""

    rows: int
    matched: int
    """Rows that some request finds."""
    alone: int
    """Of these, rows that are found alone, or with none but such as they are tied to."""
    kept: int
    """Of these, rows that are kept back for the sake of X-groups."""
    groups: int
    """X-groups."""
    is_exact: bool = True
    """Whether a provider keeps back just as many: not so of a sample, nor where tied rows lie in several X-groups."""

    @classmethod
    def of(
        cls,
        table: CodedTable,
        x: Sequence[str],
        match: Sequence[str],
        *,
        tied: bool = False,
        scope: str = "group",
        most_matches: int = MOST_MATCHES,
    ) -> RowsForSale:
        """By the columns of X and of the match, which is by equality; `tied` rows are sold as one."""
        found = _groups(table, match)
        group = _groups(table, x) if x else np.full(table.rows, -1)
        sizes = np.bincount(found[found >= 0], minlength=1)
        size = np.where(found >= 0, sizes[found], 0)
        matched = (size > 0) & (size <= most_matches)
        alone = matched if tied else matched & (size == 1)
        unit = found if tied else np.arange(table.rows)
        whole = _lie_in_one_group(group, unit, alone)
        kept = int(alone.sum()) if scope == "row" else _kept(group, unit, size if tied else np.ones_like(size), alone)
        groups = int(group.max(initial=-1)) + 1
        is_exact = (whole or scope == "row") and not table.is_sample
        return cls(table.rows, int(matched.sum()), int(alone.sum()), kept, groups, is_exact)


def _groups(table: CodedTable, names: Sequence[str]) -> Ints:
    """Per row the number of its group; −1 where it has a null."""
    return distinct(combine([table[name].keys for name in names]).key)[0]


def _kept(group: Ints, unit: Ints, size: Ints, for_sale: Mask) -> int:
    """Rows of the unit that costs least, of every X-group that has none which nobody can buy, each unit once."""
    closed = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.bool_)
    closed[group[(group >= 0) & ~for_sale]] = True
    rows = np.flatnonzero((group >= 0) & for_sale)
    rows = rows[~closed[group[rows]]]
    rows = rows[np.lexsort((unit[rows], cost_of_units(size[rows]), group[rows]))]
    first = rows[np.flatnonzero(np.diff(group[rows], prepend=-1))]
    _, one_of = np.unique(unit[first], return_index=True)
    return int(size[first[one_of]].sum())


def _lie_in_one_group(group: Ints, unit: Ints, for_sale: Mask) -> bool:
    rows = for_sale & (group >= 0)
    pairs = np.unique(np.stack([unit[rows], group[rows]]), axis=1)
    return len(np.unique(pairs[0])) == len(pairs[0])
