"""Are the cells that are unlike their groups errors, or do other columns tell which they are?

An error strikes whatever the rest of its row says. Where a dependency does not hold, the cells that are outvoted in
their groups are values like others: whether a patient came through the emergency department does not follow from the
county, but goes with the kind of admission. How much a column tells is weighed as models are by their number of
parameters: by half of what it explains less df · log n (the Bayesian information criterion).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints

DISTINCT = 0.1
"""A column with more distinct values than this share of the rows tells rows apart, not values."""


def told_exceptions(belief: Belief, others: Iterable[Ints]) -> float:
    """The log odds that outvoted cells go with some column, by the one that tells most; 0 if none does.

    `others` are columns outside the dependency, a code a row. In its group each cell is as likely outvoted as any: so
    blocks, which are many in few groups, go with nothing.
    """
    group, codes = belief.side.group, belief.column.codes
    rows = np.flatnonzero((group >= 0) & belief.column.known[codes])
    unlike = belief.is_outvoted(group[rows], codes[rows])
    if not unlike.any():
        return 0.0
    size, lost = (np.bincount(group[rows], weights=w, minlength=belief.side.count) for w in (None, unlike))
    rate = (lost / np.maximum(size, 1))[group[rows]]
    return max([0.0, *(goes_with(unlike, rate, column[rows]) for column in others)])


def goes_with(unlike: Mask, rate: Floats, codes: Ints) -> float:
    """The log odds that rows which are `unlike` others, each as likely by its `rate`, go with a column.

    By the deviance of what is seen of each value from what is expected, of rare events (Poisson).
    """
    distinct = np.count_nonzero(np.bincount(codes))
    if distinct > DISTINCT * len(codes):
        return 0.0
    seen, expected = (np.bincount(codes, weights=w) for w in (unlike, rate))
    deviance = seen * np.log(np.maximum(seen, 1) / np.maximum(expected, 1e-9)) - (seen - expected)
    return float(deviance.sum()) - (distinct - 1) * float(np.log(len(codes))) / 2
