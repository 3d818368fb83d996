"""What may be written in one row, taken together: changes of which one makes the other needless.

A code and a name that contradict each other are one error. Each dependency by itself may be sure that it is the cell on
its right which is wrong: together they are not, and written both, the row has the other's code and the other's name.
So where either of two changes is enough, at most one is right, and how likely they are adds up to one at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pacas.client.weighed_rows.row_options import fit_there
from pacas.client.weighed_rows.slips import written_for
from pacas.client.weighing.model import Model
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints


class RowChanges(NamedTuple):
    """Cells of an attribute that could be written."""

    rows: Ints
    """Ascending."""
    node: Ints
    sure: Floats
    """How likely each is right, taken by itself."""


class SharedOdds(NamedTuple):
    """Changes of an attribute, beside others of their rows that would do instead."""

    sure: Floats
    """How likely each is right."""
    first: Mask
    """Is none of the others likelier?"""
    either: Floats
    """How likely one of those is right that the change itself would explain: a name and its code tell each other."""


def shared(model: Model, name: str, changes: RowChanges, others: Mapping[str, RowChanges]) -> SharedOdds:
    """Changes of one attribute, beside those of all others."""
    total, (most, odds, either) = changes.sure.copy(), np.zeros((3, len(changes.rows)))
    for other, instead in others.items():
        if other == name or not any({name, other} <= set(belief.fd.attributes) for belief in model.beliefs):
            continue
        _, at, there = np.intersect1d(changes.rows, instead.rows, assume_unique=True, return_indices=True)
        enough = _gain(model, name, changes.rows[at], changes.node[at], other, instead.node[there]) < 0
        at, sure = at[enough], instead.sure[there[enough]]
        total[at] += sure
        odds[at] += sure / np.maximum(1 - sure, 1e-9)
        most[at] = np.maximum(most[at], sure)
        if other in model.exchangeable(name):
            either[at] = np.maximum(either[at], sure)
    mine = changes.sure / np.maximum(1 - changes.sure, 1e-9)
    sure = np.where(total > 1, mine / (1 + mine + odds), changes.sure)
    return SharedOdds(sure, np.asarray(changes.sure >= most), either)


def _gain(model: Model, name: str, rows: Ints, node: Ints, other: str, instead: Ints) -> Floats:
    """How much likelier a change makes rows in which another one is made, in logarithms: or is it an error too many?"""
    column = model.columns[name]
    told = [belief for belief in model.beliefs if name in belief.fd.attributes and belief.rates.holds]
    values = {a: c.codes[rows] for a, c in model.columns.items()} | {other: instead}
    old = column.codes[rows]
    gain = np.log(max((belief.rates.unlike for belief in told), default=1.0) * written_for(column, old, node))
    for belief in told:
        for sign, held in ((1, node), (-1, old)):
            row = values | {name: held}
            gain += sign * fit_there(belief, row[belief.fd.rhs], belief.side.find(row))
    return np.asarray(gain)
