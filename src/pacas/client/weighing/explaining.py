"""The explanations of a cell, in sentences, with their weights: those of its groups and those of its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pacas.client.outcome.judgement import WeighedExplanation
from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.client.weighing.model import Model
from pacas.client.weighing.rare_values import RareCells
from pacas.core.words import counted

LEAST = 0.005
"""Explanations that weigh less are not told."""


def explanations(model: Model, rare: Mapping[str, RareCells], row: int, attribute: str) -> list[WeighedExplanation]:
    """What may be wrong with a cell, the likeliest first; nothing for one that nothing speaks of."""
    found: list[WeighedExplanation] = []
    for belief in model.beliefs:
        if belief.fd.rhs == attribute and belief.side.group[row] >= 0:
            found += _of_group(model, belief, row)
    if attribute in model.left_attributes:
        found += _of_row(model, row, attribute)
    if attribute in rare:
        found += _of_cell(model.columns[attribute], rare[attribute], row)
    return sorted((e for e in found if e.weight >= LEAST), key=lambda e: -e.weight)


def _of_group(model: Model, belief: Belief, row: int) -> Iterator[WeighedExplanation]:
    group, column = int(belief.side.group[row]), belief.column
    shown = int(column.codes[row])
    here = f"in its group of {int(belief.side.size[group]):,} by {', '.join(belief.fd.lhs)}"
    one = float(belief.one_value[group])
    yield WeighedExplanation(f"it is right, and so are others {here}, which is what it is: most are mixed", 1 - one)
    fits = one * float(belief.chance(np.array([group]), np.array([shown]))[0])
    astray = min(one * float(1 - model.misplaced.stays[belief.side][row]), one - fits)
    count = belief.count(group)
    yield WeighedExplanation(f"{column.tree.label(shown)!r} is right {here}", fits)
    if astray > 0:
        there = _where_it_belongs(model, belief, row)
        right = astray if there < 0 else astray * float(belief.chance(np.array([there]), np.array([shown]))[0])
        yield WeighedExplanation(f"it is right, and the row's left side is wrong: it does not belong {here}", right)
        should = column.tree.label(int(belief.likeliest[there]))
        says = f"it is wrong, and so is the row's left side: where the row belongs it should be {should!r}"
        yield WeighedExplanation(says, astray - right)
    scale = one * max(one - fits - astray, 0) / max(one - fits, 1e-12)
    block = float(belief.block[group][belief.candidate[group] == shown].sum())
    for place in np.argsort(-belief.weight[group], kind="stable").tolist():
        code = int(belief.candidate[group, place])
        if code < 0 or code == shown:
            continue
        weight = float(belief.weight[group, place]) * scale
        others = counted(int(count[place]), "other cell")
        says = f"it is wrong, and should be {column.tree.label(code)!r}, as {others} {here}"
        yield WeighedExplanation(says, weight * (1 - block))
        if code == belief.likeliest[group]:
            says = f"a block {here} was overwritten with it, and should be {column.tree.label(code)!r}"
            yield WeighedExplanation(says, weight * block)
    yield WeighedExplanation(
        f"it is wrong, and should be none of the values {here}", float(belief.other[group]) * scale
    )


def _where_it_belongs(model: Model, belief: Belief, row: int) -> int:
    """The group that a row comes to if its left side gets what it likeliest should be; −1 if there is none."""
    side, codes = belief.side, {a: int(model.columns[a].codes[row]) for a in belief.side.attributes}
    should = {a: model.misplaced.likeliest(row, a, code) for a, code in codes.items()}
    there = int(side.find({a: np.array([code]) for a, code in should.items()})[0])
    return -1 if there == int(side.group[row]) else there


def _of_row(model: Model, row: int, attribute: str) -> Iterator[WeighedExplanation]:
    misplaced, column = model.misplaced, model.columns[attribute]
    at = int(np.searchsorted(misplaced.suspects, row))
    if at >= len(misplaced.suspects) or int(misplaced.suspects[at]) != row:
        return
    number = model.left_attributes.index(attribute)
    options = misplaced.options
    mine = np.flatnonzero((options.of == at) & (options.attribute == number))
    for k in mine[np.argsort(-misplaced.chance[mine], kind="stable")].tolist():
        says = f"it is wrong, and should be {column.tree.label(int(options.value[k]))!r}: the row then agrees"
        yield WeighedExplanation(says, float(misplaced.chance[k]))
    wrong = float(misplaced.chance[mine].sum())
    yield WeighedExplanation("it is right: the row's other cells explain more", max(1 - wrong, 0.0))


def _of_cell(column: WeighedColumn, cells: RareCells, row: int) -> Iterator[WeighedExplanation]:
    for at in np.flatnonzero(cells.rows == row).tolist():
        meant = column.tree.label(int(cells.meant[at]))
        yield WeighedExplanation(f"it is improbable, and should be {meant!r}", float(cells.chance[at]))
