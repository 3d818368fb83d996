"""Overwritten groups, as after a bad import: in a share of the groups of X → A, a block of rows got one other A.

Of the groups with at least two rows, so many are drawn; of each a block, which are rows that follow each other in the
table if all others are left out, of a length that is drawn uniformly up to the whole group. All its cells of A get the
same other value of the column, one that is incomparable with all that the group holds. So a vote is wrong wherever the
block is more than half of a group; and where it is all of it, the group agrees again, and no violation shows that it is
wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints
from pacas.errors import InputError
from pacas.experiments.errors.constraint_errors import CleanGroups
from pacas.experiments.errors.dirty_relation import ErrorKind
from pacas.experiments.errors.error_columns import ErrorBatch


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class OverwrittenGroups:
    """What was overwritten of one dependency's groups."""

    errors: ErrorBatch
    asked: int
    """Groups."""
    made: int
    whole: int
    """Groups of which no row was left as it was."""


def overwrite(
    groups: CleanGroups, share: float, done: ErrorBatch, rng: np.random.Generator, *, stale: bool = False
) -> OverwrittenGroups:
    """Overwrite blocks in a share of a dependency's groups; in fewer only where no more have another value to get.

    A `stale` block is more than half of a group of three rows or more, and not all of it. Cells that are overwritten
    already, by a dependency with the same right side, stay as they are.
    """
    several = groups.sizes > (2 if stale else 1)
    asked = math.floor(share * several.sum() + 0.5)
    possible = np.flatnonzero(several & groups.agrees & _has_other_values(groups))
    chosen = np.sort(rng.permutation(possible)[:asked])
    sizes = groups.sizes[chosen]
    lengths = np.ceil(rng.uniform(size=len(chosen)) * sizes).astype(np.int64).clip(1)
    if stale:
        lengths = sizes // 2 + 1 + (rng.uniform(size=len(chosen)) * (sizes - sizes // 2 - 1)).astype(np.int64)
    first = rng.integers(0, sizes - lengths + 1)
    new = np.array(groups.domain.draw(groups.top[chosen], rng), dtype=object)
    rows, rhs = _blocks(groups, chosen, first, lengths), groups.fd.rhs
    kinds = [ErrorKind.OVERWRITTEN] * len(rows)
    errors = ErrorBatch.of(rows, rhs, groups.columns.texts(rhs, rows), np.repeat(new, lengths), kinds, groups.number)
    free = ~np.isin(rows, done.row[done.attribute == rhs])
    written = np.bincount(np.repeat(np.arange(len(chosen)), lengths)[free], minlength=len(chosen))
    return OverwrittenGroups(errors[free], asked, len(chosen), int((written == sizes).sum()))


def no_groups(share: float) -> InputError:
    """A share that comes to no group at all is a mistake."""
    return InputError(f"the share of overwritten groups, {share:g}, comes to no group at all; give a higher one")


def _has_other_values(groups: CleanGroups) -> Mask:
    """Per group: is there a value to overwrite it by? A group of nulls has nothing that could be."""
    null = groups.tree.code(None) if None in groups.tree else -1
    return np.asarray((groups.domain.others(groups.top) > 0) & (groups.top != null))


def _blocks(groups: CleanGroups, chosen: Ints, first: Ints, lengths: Ints) -> Ints:
    """The rows of each chosen group's block: so many from its first one on, in the order of the table."""
    grouped = np.flatnonzero(groups.group >= 0)
    in_order = grouped[np.argsort(groups.group[grouped], kind="stable")]
    starts = (np.cumsum(groups.sizes) - groups.sizes)[chosen] + first
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    rows: Ints = in_order[np.repeat(starts, lengths) + within]
    return rows
