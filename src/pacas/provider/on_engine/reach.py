"""How many values at a level the neighbours of one cell are sure to show, whatever was drawn.

Where that is enough for a policy, no X-group can be short of values, and none has to be looked at (D7).
"""

from __future__ import annotations

import numpy as np

from pacas.core.hierarchy import Hierarchy
from pacas.engine.grouping import Ints
from pacas.provider.support.cell_neighbours import Plan, plan_of

MOST_WALKS = 20_000_000
"""Steps of walks that are followed; where there would be more, a simpler and lower number is given."""


def least_shown(hierarchy: Hierarchy, values: Ints, per_cell: int, level: int) -> int:
    """Other values at a level that the neighbours of a cell show, at least: over the ground values (nodes) it may hold.

    Neighbours that diverge at different heights differ at every level below both, so what each height shows adds up.
    """
    plan = plan_of(hierarchy)
    wanted = np.full(len(values), per_cell, dtype=np.int32)
    shown = np.zeros(len(values), dtype=np.int64)
    for below in range(level + 1, hierarchy.height + 1):
        share = plan.share(values, wanted, below)
        run = plan.run(values, below - 1)
        kinds, which = np.unique(np.stack([run, share], axis=1), axis=0, return_inverse=True)
        _, example = np.unique(which, return_index=True)
        steps = sum(plan.room(int(values[e]), below) * int(n) for e, n in zip(example, kinds[:, 1], strict=True))
        of_kind = [
            _fewest(plan, hierarchy, int(values[e]), below, int(n), level, steps <= MOST_WALKS)
            for e, n in zip(example, kinds[:, 1], strict=True)
        ]
        shown += np.array(of_kind, dtype=np.int64)[which.ravel()]
    return int(shown.min(initial=np.iinfo(np.int64).max))


def _fewest(plan: Plan, hierarchy: Hierarchy, value: int, below: int, share: int, level: int, follow: bool) -> int:
    """The fewest values at a level that a walk of `share` steps shows, from whichever place it begins."""
    room = plan.room(value, below)
    if share == 0 or room == 0:
        return 0
    if level == 0:
        return min(share, room)
    if not follow:
        largest = int(np.bincount(hierarchy.ancestors[level, plan.candidates(value, below)]).max())
        return -(-min(share, room) // largest)
    labels = hierarchy.ancestors[level, plan.candidates(value, below)]
    walks = (np.arange(room)[:, None] + np.arange(min(share, room)) * plan.stride(value, below)) % room
    seen = np.sort(labels[walks], axis=1)
    return int((1 + (np.diff(seen, axis=1) != 0).sum(axis=1)).min())
