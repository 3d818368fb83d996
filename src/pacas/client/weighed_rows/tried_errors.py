"""Errors of both kinds, tried out on rows that seem right: what scores left errors get, and right ones.

A score is no probability: witnesses repeat each other, groups differ. So errors are made up of what the table holds, in
rows that agree with their groups: a left attribute takes another group's value, or a right side takes a value that rows
in conflict show. Scored like true ones, they say what a score is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.left_side import GroupKin, LeftSide
from pacas.client.weighed_rows.row_options import HOPELESS, LeftOptions, OptionFinder, SupposedRows
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import NO_ROWS, Ints

TRIED = 3000
"""Errors of each kind, for a left side."""

LEAST = 30
"""Fewer say nothing."""

AGREES = 0.9
"""Errors are tried on rows whose values are their groups' with more than this chance."""

MOVES = 20
"""A value that is tried where it is no error is tried elsewhere, so often."""

SEED = 7
"""Of the draws: the same table gives the same repairs."""


@dataclass(frozen=True, slots=True, eq=False)
class TriedErrors:
    """The scores of errors that were tried out, for one left side."""

    left: Floats
    right: Floats
    share: Floats
    """Per option of a left error: its share of the row's options."""
    true: Mask
    """And whether it is what stood there."""


def try_errors(
    finder: OptionFinder, side: LeftSide, pair_fits: Mapping[Belief, Floats], shown: Sequence[tuple[Ints, Floats]]
) -> TriedErrors | None:
    """Errors of a left side and of its dependencies' right sides; None if there is too little to try them on.

    `pair_fits` is, per dependency and (group, value) pair, how likely the value is the group's; `shown` are, per
    dependency, values that rows in conflict show, and how likely each is an error of the right side.
    """
    beliefs = [belief for belief in finder.beliefs if belief.side is side]
    agrees = [((pair_fits[b] > AGREES) & b.column.known[b.pair_value])[b.pair] for b in beliefs]
    rows = beliefs[0].rows[np.flatnonzero(np.logical_and.reduce(agrees))]
    rng = np.random.default_rng(SEED)
    if len(rows) < 20 or (left := _left_errors(finder, side, beliefs, rows, rng)) is None:
        return None
    right = _right_errors(finder, side, beliefs, rows, shown, rng)
    if len(left.left) < LEAST or len(right) < LEAST:
        return None
    return TriedErrors(left.left, right, left.share, left.true)


def _left_errors(
    finder: OptionFinder, side: LeftSide, beliefs: Sequence[Belief], rows: Ints, rng: np.random.Generator
) -> TriedErrors | None:
    row, place, value = _strays(finder, side, beliefs, rows, rng)
    names = side.attributes
    own = [finder.columns[a].codes[row] for a in names]
    change = {a: np.where(place == i, value, own[i]) for i, a in enumerate(names)}
    seen = _seen(finder, side, beliefs, row, change)
    if len(seen) < LEAST:
        return None
    row, place = row[seen], place[seen]
    supposed = finder.suppose(row, {a: codes[seen] for a, codes in change.items()}, moved=True)
    score, options = _scored(finder, supposed, np.arange(len(row)), beliefs)
    of_side = np.array([names.index(a) if a in names else -1 for a in finder.attributes])
    true = np.stack([codes[seen] for codes in own])[place, np.arange(len(row))]
    share = np.exp(options.score - options.best(len(row))[options.of])
    is_true = (of_side[options.attribute] == place[options.of]) & (options.value == true[options.of])
    return TriedErrors(score, np.empty(0), share, is_true)


def _seen(
    finder: OptionFinder, side: LeftSide, beliefs: Sequence[Belief], row: Ints, change: Mapping[str, Ints]
) -> Ints:
    """The first of the errors that come to light, as many as are tried."""
    seen = NO_ROWS
    for start in range(0, len(row), 2 * TRIED):
        part = slice(start, start + 2 * TRIED)
        supposed = finder.suppose(row[part], {a: codes[part] for a, codes in change.items()}, moved=True)
        elsewhere = supposed.group[side] != side.group[row[part]]
        seen = np.append(seen, start + np.flatnonzero(_clashes(supposed, side, beliefs) & elsewhere))
        if len(seen) >= TRIED:
            break
    return seen[:TRIED]


def _strays(
    finder: OptionFinder, side: LeftSide, beliefs: Sequence[Belief], rows: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Rows, the attribute that goes wrong in each, and the value it takes: another row's, with which a group is met."""
    names = side.attributes
    kins = [side.kin(name) for name in names]
    places = [rows[_disagree(kin, beliefs)[kin.number[side.group[rows]]]] for kin in kins]
    wanted = np.array([(finder.share[a] + 0.1 / len(names)) * len(p) for a, p in zip(names, places, strict=True)])
    found: list[tuple[Ints, Ints, Ints]] = []
    for place, (name, kin, there) in enumerate(zip(names, kins, places, strict=True)):
        if not len(there):
            continue
        row = rng.choice(there, int(8 * TRIED * wanted[place] / wanted.sum()) + 1)
        low, high = kin.rows_of(kin.number[side.group[row]])
        drawn = low + rng.random(len(row)) * (high - low)
        group = kin.order[np.minimum(np.searchsorted(kin.reach, drawn, side="right") - 1, side.count - 1)]
        kept = (group != side.group[row]) & (side.size[group] >= 2)
        found.append((row[kept], np.full(int(kept.sum()), place), side.values[name][group[kept]]))
    if not found:
        return NO_ROWS, NO_ROWS, NO_ROWS
    row, at, value = (np.concatenate(parts) for parts in zip(*found, strict=True))
    mixed = rng.permutation(len(row))
    return row[mixed], at[mixed], value[mixed]


def _disagree(kin: GroupKin, beliefs: Sequence[Belief]) -> Mask:
    """Per number of kin: do these groups not all have the same values? Only there an error can be seen."""
    number = kin.number
    differ: Mask = np.zeros(kin.count, dtype=np.bool_)
    for belief in beliefs:
        some = np.zeros(len(differ), dtype=np.int64)
        some[number] = belief.likeliest
        differ[number[belief.likeliest != some[number]]] = True
    return differ


def _right_errors(
    finder: OptionFinder,
    side: LeftSide,
    beliefs: Sequence[Belief],
    rows: Ints,
    shown: Sequence[tuple[Ints, Floats]],
    rng: np.random.Generator,
) -> Floats:
    rows = rows[side.size[side.group[rows]] >= 2]
    if len(rows) < 20:
        return np.empty(0)
    drawn = rng.choice(rows, TRIED)
    scores = []
    for number, (belief, (values, weight)) in enumerate(zip(beliefs, shown, strict=True)):
        if not len(values):
            continue
        row = drawn[number :: len(beliefs)]
        value = rng.choice(values, len(row), p=weight)
        supposed = finder.suppose(row, {belief.fd.rhs: value})
        clash = _clashes(supposed, side, [belief])
        for _ in range(MOVES):  # a frequent value is tried as often as others, though it is wrong in fewer rows
            if clash.all():
                break
            row = np.where(clash, row, rng.choice(rows, len(row)))
            supposed = finder.suppose(row, {belief.fd.rhs: value})
            clash = _clashes(supposed, side, [belief])
        seen = np.flatnonzero(clash)
        scores.append(_scored(finder, supposed, seen, beliefs)[0])
    return np.concatenate(scores) if scores else np.empty(0)


def _clashes(rows: SupposedRows, side: LeftSide, beliefs: Sequence[Belief]) -> Mask:
    """Do rows disagree with the group they are in?"""
    group = rows.group[side]
    clash: Mask = np.zeros(len(rows), dtype=np.bool_)
    for belief in beliefs:
        should = belief.likeliest[np.maximum(group, 0)]
        shown = rows.values[belief.fd.rhs]
        agree = belief.column.tree.comparable(np.maximum(should, 0).astype(np.int32), shown.astype(np.int32))
        clash |= (group >= 0) & (should >= 0) & ~agree
    return clash


def _scored(
    finder: OptionFinder, rows: SupposedRows, which: Ints, beliefs: Sequence[Belief]
) -> tuple[Floats, LeftOptions]:
    """The scores of some rows, and all options."""
    options = finder.options(rows, {belief: finder.conflicts(rows, which, belief) for belief in beliefs})
    return np.maximum(options.best(len(rows)), HOPELESS)[which], options
