"""How much oftener two cells of a group agree than any two do: does a left side tell its right one?

And the same of outvoted cells alone. Where a dependency does not hold, its left side may still tell much: most patients
with one diagnosis go home. But then those who do not go where others go whose diagnosis sends most of them home, too.
Where sources contradict each other about every flight, what is outvoted is that flight's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacas.core.distance import Floats
from pacas.core.histogram import Ints


class CellAgreement(NamedTuple):
    """Of cells in groups."""

    beyond_chance: float
    """How much oftener two cells of a group agree than two of others: 0 if no more often, 1 if always."""
    by_chance: float
    """How often those do."""


ALWAYS = CellAgreement(1.0, 0.0)
"""Where there is nothing to compare."""


def agreement(group: Ints, value: Ints, count: Floats) -> CellAgreement:
    """Of cells that are given by (group, value) pairs; two others are any two of the groups that have several."""
    size = np.bincount(group, weights=count, minlength=1)[group]
    several = size > 1
    value, count, size = value[several], count[several], size[several]
    if not len(count):
        return ALWAYS
    share = np.bincount(value, weights=count) / count.sum()
    alike, by_chance = float((count * (count - 1) / (size - 1)).sum() / count.sum()), float(share @ share)
    return _beyond(alike, by_chance)


def agreement_of_outvoted(group: Ints, value: Ints, count: Floats, winner: Ints) -> CellAgreement:
    """Of outvoted cells, by pairs and the values that won; two others are of groups in which the same value has won.

    A group whose winner has won nowhere else has no others: there is nothing that they agree on.
    """
    size = np.bincount(group, weights=count, minlength=1)
    several = size[group] > 1
    if not several.any():
        return ALWAYS
    groups, first = np.unique(group, return_index=True)
    won, own = winner[first], size[groups].astype(np.float64)
    keys, at = np.unique(winner * (int(value.max()) + 1) + value, return_inverse=True)
    seen = np.bincount(at, weights=count).astype(np.float64)
    pairs = _squares(keys // (int(value.max()) + 1), seen) - _squares(winner, count)
    among = np.bincount(won, weights=own) ** 2 - _squares(won, own)
    others = np.where(among > 0, pairs / np.maximum(among, 1), 0.0)[winner[several]]
    weight, size = count[several], size[group][several]
    alike = float((weight * (weight - 1) / (size - 1)).sum() / weight.sum())
    return _beyond(alike, float(weight @ others / weight.sum()))


def _squares(of: Ints, numbers: Floats) -> Floats:
    return np.asarray(np.bincount(of, weights=numbers**2))


def _beyond(alike: float, by_chance: float) -> CellAgreement:
    return CellAgreement((alike - by_chance) / max(1 - by_chance, 1e-9), by_chance)
