"""What an answer would be worth: the δ that it is expected to remove, over all that it may be.

An answer at a level says which of the values at that level is the truth. Then the candidate of least risk below it is
written, or it itself; until then what would be decided without it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighing.decision import Weighed
from pacas.client.weighing.model import Model
from pacas.client.weighing.risks import Risks, WidthRisks
from pacas.core.distance import Floats
from pacas.core.histogram import NO_ROWS, Ints

GUESSED = 1.6
"""The δ of a wrong guess below a general value, in penalties of that value."""

OPEN = 0.01
"""A row whose left side is wrong with less than this chance, or right, has nothing to ask."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupWorth:
    """Of groups of a dependency: [m, levels] the expected δ that an answer at each level removes."""

    groups: Ints
    worth: Floats


def worth_of_groups(belief: Belief, groups: Ints, careful: float, beyond: Floats | None = None) -> GroupWorth:
    """For all cells of each group together; if so asked, of those alone where it may be more than `beyond`, by group.

    No answer removes more than all that is expected to be wrong now.
    """
    risks = Risks(belief, groups)
    if not len(risks.groups):
        return GroupWorth(NO_ROWS, np.empty((0, belief.column.height + 1)))
    now, of_all = _now(belief, risks, careful), belief.size * belief.one_value  # a mixture has nothing to ask
    asked = np.ones(len(now), dtype=np.bool_) if beyond is None else now * of_all[risks.groups] > beyond[risks.groups]
    ends = np.cumsum([len(part.groups) for part in risks.parts])
    parts = [part[of] for part, of in zip(risks.parts, np.split(asked, ends[:-1]), strict=True)]
    groups = risks.groups[asked]
    after = np.concatenate([_after_an_answer(belief, part) for part in parts])
    worth = np.maximum(now[asked, None] - after, 0) * of_all[groups, None]
    worth[:, -1] = 0.0
    return GroupWorth(groups, worth)


def _now(belief: Belief, risks: Risks, careful: float) -> Floats:
    """Per group: a cell's expected δ as it would be decided now: written if that is sure enough, else left."""
    place = risks.place(belief.pair_group[risks.pairs])
    whole = np.bincount(place, weights=risks.keep * belief.pair_count[risks.pairs], minlength=len(risks.groups))
    kept = whole / np.maximum(belief.side.size[risks.groups], 1)
    sure = belief.one_value[risks.groups] * risks.sure >= careful
    return np.where((belief.asked[risks.groups] | sure) & ~risks.overrules, np.minimum(risks.risk, kept), kept)


def _after_an_answer(belief: Belief, part: WidthRisks) -> Floats:
    """[m, levels] a cell's expected δ after an answer."""
    column, tree = belief.column, belief.column.tree
    groups, width = part.groups, part.width
    candidates = belief.candidate[groups, :width]
    codes = np.maximum(candidates, 0)
    usable = (candidates >= 0) & column.known[codes]
    weight = np.where(candidates >= 0, belief.weight[groups, :width], 0)
    share = np.where(usable, column.share[codes], 0)
    told = np.full(len(groups), tree.root, dtype=np.int32)
    for at in np.flatnonzero(belief.asked[groups]).tolist():
        told[at] = belief.answers.told(int(groups[at]))
    listed = np.where(tree.precedes(codes.astype(np.int32), told[:, None]), share, 0)
    unlisted = np.maximum(column.below[told] - listed.sum(axis=1), 1e-6)
    other = belief.other[groups]
    after = np.zeros((len(groups), column.height + 1))
    for level in range(column.height):
        ancestor = np.where(usable, tree.ancestors[level][codes], -1)
        total, covered = np.zeros(len(groups)), np.zeros(len(groups))
        done = ~usable
        for place in range(width):
            leads = ~done[:, place]
            node = np.maximum(ancestor[:, place], 0)
            same = (ancestor == ancestor[:, place : place + 1]) & usable & leads[:, None]
            done = done | same
            above = tree.precedes(told, node.astype(np.int32))  # what is told says as much, or more
            finest, may_be = np.where(above, told, node), tree.precedes(node.astype(np.int32), told)
            inside = np.clip((column.below[node] - np.where(same, share, 0).sum(axis=1)) / unlisted, 0, 1)
            inside = np.where(above, 1, np.where(may_be, inside, 0)) * other
            within = np.where(same[:, :, None] & same[:, None, :], part.between * weight[:, None, :], 0).sum(axis=2)
            guess = within + (GUESSED * inside * column.penalties[finest])[:, None]
            best = np.where(same, guess, np.inf).min(axis=1)
            general = np.where(same, weight, 0).sum(axis=1) * column.penalties[node]
            general += inside * column.penalties[finest]
            total += np.where(leads, np.minimum(best, general), 0)
            covered += np.where(leads, inside, 0)
        unknown = column.penalties[told]
        unknown = np.where(level < tree.level[told], np.minimum(unknown, column.level_penalties[level]), unknown)
        after[:, level] = total + np.maximum(other - covered, 0) * unknown
    return after


def worth_of_settling(model: Model, belief: Belief, withheld: Mapping[str, Weighed], careful: float) -> Floats:
    """[groups, levels] what else an answer about each group lets be written: of rows whose left or right side is wrong.

    Which of the two, it does not say; but what the group should hold, and that the row does not hold it, is then paid
    for, at a level where the two differ. Right sides of a group that is not sure itself are counted with the group.
    """
    column, side = belief.column, belief.side
    worth = np.zeros((side.count, column.height + 1))
    sure = belief.sure >= careful
    for name, cells in withheld.items():
        if name != belief.fd.rhs and not (name in side.attributes and model.tells_strays(belief)):
            continue
        group = side.group[cells.rows]
        mine = (group >= 0) & ((name != belief.fd.rhs) | sure[group])
        rows, group = cells.rows[mine], group[mine]
        should, shown = np.maximum(belief.likeliest[group], 0), column.codes[rows]
        apart = np.arange(column.height + 1) <= _tell_apart(belief, shown, should)[:, None]
        np.add.at(worth, group, np.where(apart & (should != shown)[:, None], cells.gain[mine][:, None], 0.0))
    worth[belief.asked | (not model.misplaced.has_tried(side))] = 0.0
    worth[:, -1] = 0.0
    return worth


# ---- single rows -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class RowWorth:
    """Of single rows: the expected δ that an answer about each removes, at `level` or below."""

    rows: Ints
    worth: Floats
    level: Ints


def worth_of_rows(model: Model, belief: Belief, careful: float) -> RowWorth:
    """Is a row's right side right, and so its left side wrong? Where rows are found by other columns than X."""
    misplaced, column = model.misplaced, belief.column
    rows = misplaced.suspects
    group = belief.side.group[rows]
    should, shown = belief.likeliest[np.maximum(group, 0)], column.codes[rows]
    unsettled = (misplaced.wrong > OPEN) & (misplaced.wrong < 1 - OPEN)
    asked = np.array([row in misplaced.told for row in rows.tolist()], dtype=np.bool_)
    at = np.flatnonzero((group >= 0) & unsettled & (should >= 0) & (should != shown) & ~asked)
    rows, should, shown, wrong = rows[at], should[at], shown[at], misplaced.wrong[at]
    now = np.where(1 - wrong >= careful, wrong, 1 - wrong) * column.distance(shown, should)
    left_now, left_then = _left_risk(model, at, careful)
    return RowWorth(rows, now + left_now - wrong * left_then, _tell_apart(belief, shown, should))


def worth_of_left_values(model: Model, attribute: str, careful: float) -> RowWorth:
    """What should a left value be?"""
    misplaced, column = model.misplaced, model.columns[attribute]
    options = misplaced.options
    mine = np.flatnonzero(options.attribute == model.left_attributes.index(attribute))
    wrong = np.bincount(options.of[mine], weights=misplaced.chance[mine], minlength=len(misplaced.suspects))
    best = np.zeros(len(misplaced.suspects))
    np.maximum.at(best, options.of[mine], misplaced.chance[mine])
    at = np.unique(options.of[mine])
    at = at[[(int(row), attribute) not in misplaced.bought for row in misplaced.suspects[at].tolist()]]
    now = np.where(best[at] >= careful, 1 - best[at], wrong[at])
    return RowWorth(misplaced.suspects[at], now * 2 * column.top, np.zeros(len(at), dtype=np.int64))


def _left_risk(model: Model, suspects: Ints, careful: float) -> tuple[Floats, Floats]:
    """The expected δ of suspects' left cells: as decided now, and if the left side were known to be wrong."""
    misplaced = model.misplaced
    hit, top = np.zeros(len(misplaced.suspects)), np.zeros(len(misplaced.suspects))
    order = np.argsort(misplaced.hit, kind="stable")
    of = misplaced.options.of[order]
    hit[of] = misplaced.hit[order]
    tops = np.array([2 * model.columns[a].top for a in model.left_attributes])
    top[of] = tops[misplaced.options.attribute[order]]
    wrong, hit, top = misplaced.wrong[suspects], hit[suspects], top[suspects]
    sure = wrong * hit
    return np.where(sure >= careful, 1 - sure, wrong) * top, (1 - hit) * top


def _tell_apart(belief: Belief, one: Ints, other: Ints) -> Ints:
    """The highest level at which two values still differ."""
    tree = belief.column.tree
    level = np.zeros(len(one), dtype=np.int64)
    for at in range(tree.height):
        level[tree.ancestors[at][one] != tree.ancestors[at][other]] = at
    return level
