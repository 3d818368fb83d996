"""Left values that are missing: where several right-hand values of the row tell its group, they are weighed.

A row without a brewery's number is in no group, and contradicts nothing. If its name, city and state are those of one
brewery, it belongs there: by the groups that have one of its values, as large as they are, and as well as each explains
all of them; or else to a group that nothing else is in, and that has its value as seldom as groups share one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.group_prior import discount
from pacas.client.weighed_groups.left_side import LeftSide
from pacas.client.weighed_rows.row_options import fit_there
from pacas.client.weighing.model import Model
from pacas.client.weighing.rare_values import RareCells, likelier
from pacas.core.distance import Floats
from pacas.core.histogram import NO_ROWS, Ints
from pacas.engine.grouping import spread

STATED = 2
"""A row that shows fewer right-hand values does not tell its group: nothing would confirm what one says."""

MOST = 32
"""A value that more groups have, of those that agree with the rest of the left side, does not tell which."""


def missing_left_cells(model: Model) -> Mapping[str, RareCells]:
    """Per attribute: the rows that lack it, what it likeliest is, and how likely that is."""
    found = [
        {name: cells}
        for side in dict.fromkeys(belief.side for belief in model.beliefs)
        for name in side.attributes
        if len((cells := _missing(model, side, name)).rows)
    ]
    return likelier(*found)


def _missing(model: Model, side: LeftSide, name: str) -> RareCells:
    beliefs = [belief for belief in model.beliefs if belief.side is side and belief.rates.holds]
    rows = _rows(model, side, name)
    stated = np.zeros(len(rows), dtype=np.int64)
    for belief in beliefs:
        stated += belief.column.codes[rows] != belief.column.null
    rows = rows[stated >= STATED]
    of, group = _candidates(model, beliefs, name, rows)
    if not len(of):
        return RareCells(NO_ROWS, NO_ROWS, np.empty(0))
    fits, elsewhere, alone = np.zeros(len(of)), np.zeros(len(rows)), np.zeros(len(rows))
    for belief in beliefs:
        shown = belief.column.codes[rows]
        stated = shown != belief.column.null
        fits += np.where(stated[of], fit_there(belief, shown[of], group), 0.0)
        as_error = np.log(belief.rates.wrong * belief.rates.own_confusion[shown])
        elsewhere += np.where(stated, as_error, 0.0)
        alone = np.minimum(alone, np.where(stated, _by_chance(belief, shown), 0.0))
    score = np.log(side.size[group]) + fits
    elsewhere += np.log(len(side.group))
    alone += np.log(1 + np.count_nonzero(side.size == 1))
    total = np.logaddexp(elsewhere, alone)
    np.logaddexp.at(total, of, score)
    order = np.lexsort((-score, of))
    first = order[np.flatnonzero(np.diff(of[order], prepend=-1))]
    at = of[first]
    return RareCells(rows[at], side.values[name][group[first]], np.exp(score[first] - total[at]))


def _rows(model: Model, side: LeftSide, name: str) -> Ints:
    """The rows that lack the attribute alone, and of which no group says what it should be."""
    if not model.columns[name].frequency[model.columns[name].null]:
        return NO_ROWS
    lacks = model.columns[name].codes == model.columns[name].null
    for other in side.attributes:
        if other != name:
            lacks &= model.columns[other].groups[model.columns[other].codes]
    for belief in model.beliefs:
        if belief.fd.rhs == name:
            group = belief.side.group
            lacks &= ~((group >= 0) & (belief.side.size[np.maximum(group, 0)] > 1))
    return np.flatnonzero(lacks)


def _candidates(model: Model, beliefs: Sequence[Belief], name: str, rows: Ints) -> tuple[Ints, Ints]:
    """(place in `rows`, group): the groups that have a right-hand value of a row, and the rest of its left side."""
    found = [np.empty((0, 2), dtype=np.int64)]
    for belief in beliefs if len(rows) else ():
        kin, width = belief.side.kin(name), len(belief.column)
        key = np.where((belief.sure > 0.5) & (belief.likeliest >= 0), kin.number * width + belief.likeliest, -1)
        order = np.argsort(key, kind="stable")
        shown = belief.column.codes[rows]
        near = kin.find({a: model.columns[a].codes for a in belief.side.attributes}, rows)
        wanted = np.where((near >= 0) & (shown != belief.column.null), near * width + shown, -2)
        start, end = (np.searchsorted(key[order], wanted, side=side) for side in ("left", "right"))
        count = np.where(end - start <= MOST, end - start, 0)
        found.append(np.column_stack([np.repeat(np.arange(len(rows)), count), order[spread(start, count)]]))
    of, group = np.unique(np.concatenate(found), axis=0).T
    return of, group


def _by_chance(belief: Belief, shown: Ints) -> Floats:
    """The log chance that a group that nothing else is known of has each value: as groups share values."""
    told = belief.likeliest[belief.likeliest >= 0]
    count = np.bincount(told, minlength=len(belief.column)).astype(np.float64)
    left = np.where(count > 0, count - discount(count), 1.0)
    return np.asarray(np.log(left[shown] / max(len(told), 1)))
