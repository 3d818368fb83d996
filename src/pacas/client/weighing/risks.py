"""The expected δ of a group's cells: if one value is written into all of them, and if each is left as it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import NO_ROWS, Ints


@dataclass(frozen=True, slots=True, eq=False)
class WidthRisks:
    """Of groups that have about as many candidates."""

    groups: Ints
    width: int
    between: Floats
    """[m, K, K] δ between candidates."""
    write: Floats
    """[m, K] a cell's expected δ if a candidate is written; infinite for one that cannot be."""

    def __getitem__(self, chosen: Mask) -> WidthRisks:
        return WidthRisks(self.groups[chosen], self.width, self.between[chosen], self.write[chosen])


class LeastRisk(NamedTuple):
    """A value, its expected δ, and how likely it is right, or lies above what is."""

    node: int
    risk: float
    sure: float


TIE = 1e-9
NO_FLOATS: Floats = np.empty(0)


def least_risk(column: WeighedColumn, codes: Ints, weight: Floats, other: float, answer: int, best: int) -> LeastRisk:
    """Of an answer, and of what lies between it and the best candidate, the value of least risk.

    Of several, the finest that is sure, or else the surest. `other` is the weight of values below the answer that are
    not among the codes.
    """
    tree = column.tree
    nodes = [answer]
    if best >= 0 and tree.precedes(best, answer):
        nodes += [int(tree.ancestors[level][best]) for level in range(tree.height) if level < tree.level[answer]]
    found = []
    for node in dict.fromkeys(nodes):
        apart = column.distance(np.full(len(codes), node), codes)
        risk = float(weight @ apart) + other * float(column.penalties[answer])
        inside = tree.precedes(codes.astype(np.int32), node)
        sure = float(weight[inside].sum()) + other * float(column.below[node] / max(column.below[answer], 1e-12))
        found.append(LeastRisk(node, risk, sure))
    least = min(one.risk for one in found)
    as_good = [one for one in found if one.risk <= least + TIE]
    sure_ones = [one for one in as_good if one.sure >= SURE]
    if sure_ones:
        return min(sure_ones, key=lambda one: int(tree.level[one.node]))
    return max(as_good, key=lambda one: one.sure)


CERTAIN = 0.995
"""Where single errors are likelier than blocks, a group's majority is not overruled for nothing by a value that is less
likely than this."""

SPOILT = 0.5
"""And where blocks are rare, but likelier, not if more of its cells are expected to be spoilt: they are right or wrong
all at once, and how likely a value is among a few groups is not known to a hair."""

SURE = 0.9
"""A value that is as good as a more general one, and as likely right as this, says more."""


class Risks:
    """Of some groups of a dependency, by what is believed now."""

    def __init__(self, belief: Belief, groups: Ints) -> None:
        self.belief = belief
        self.parts = [_width_risks(belief, these, width) for these, width in belief.by_width(groups)]
        self.groups: Ints = np.concatenate([NO_ROWS, *(part.groups for part in self.parts)])
        """The groups, in the order of the parts; what follows is in that order, too."""
        best = [part.write.argmin(axis=1) for part in self.parts]
        each = [np.arange(len(part.groups)) for part in self.parts]
        chosen = list(zip(self.parts, each, best, strict=True))
        self.node: Ints = np.concatenate([NO_ROWS, *(belief.candidate[p.groups, at] for p, _, at in chosen)])
        """The value of least risk, −1 if there is none."""
        self.risk: Floats = np.concatenate([NO_FLOATS, *(p.write[i, at] for p, i, at in chosen)])
        """That risk, per cell."""
        self.sure: Floats = np.concatenate([NO_FLOATS, *(belief.weight[p.groups, at] for p, _, at in chosen)])
        """How likely that value is the truth."""
        for place, group in enumerate(self.groups.tolist()) if belief.answers else ():
            if group in belief.answers:
                self._offer_answers(place, group)
        self.node[~np.isfinite(self.risk)] = -1
        self.overrules = self._overrules()
        """Is it another value than the majority's, not certain, where blocks are rare and nothing was bought?

        Or was nothing told but that some rows are right as they are, where most show something else, or where
        both of two camps may be right?
        """

    def _overrules(self) -> Mask:
        belief = self.belief
        confirmed: Mask = np.zeros(len(self.groups), dtype=np.bool_)
        if belief.answers:
            confirmed[:] = [belief.is_but_confirmed(group) for group in self.groups.tolist()]
        undecided = self._undecided()
        unheard_of = belief.rates.blocks_are_rare or belief.has_few_groups
        if not (unheard_of or confirmed.any()):
            return confirmed | undecided
        most, shown = np.zeros(len(self.groups)), np.zeros(len(self.groups))
        place = self.place(belief.pair_group[self.pairs])
        value, count = belief.pair_value[self.pairs], belief.pair_count[self.pairs]
        np.maximum.at(most, place, np.where(belief.column.groups[value], count, 0))
        np.maximum.at(shown, place, np.where(value == self.node[place], count, 0))
        are_known = belief.rates.blocks_are_likelier and not belief.has_few_groups
        certain = (1 - self.sure) * most <= SPOILT if are_known else self.sure >= CERTAIN
        for_nothing = ~certain & ~belief.asked[self.groups] & unheard_of
        return np.asarray(undecided | (shown < most) & (for_nothing | confirmed))

    def _undecided(self) -> Mask:
        """The groups of which it is not known whether both of two camps are right."""
        camps, undecided = self.belief.answered_camps, np.zeros(len(self.groups), dtype=np.bool_)
        if self.belief.answers and camps.are_open:
            undecided[:] = [camps.is_undecided(group) for group in self.groups.tolist()]
        return undecided

    def place(self, group: Ints) -> Ints:
        """Where some of the groups stand."""
        order = np.argsort(self.groups)
        return np.asarray(order[np.searchsorted(self.groups[order], group)])

    def _offer_answers(self, place: int, group: int) -> None:
        """A general value, at or below one that was bought, may be better than any candidate."""
        belief, column = self.belief, self.belief.column
        answer = belief.answers.told(group)
        codes = belief.candidate[group][belief.candidate[group] >= 0]
        weight = belief.chance(np.full(len(codes), group), codes)
        found = least_risk(column, codes, weight, float(belief.other[group]), answer, int(self.node[place]))
        if found.risk < self.risk[place] + TIE:
            self.node[place], self.risk[place], self.sure[place] = found

    @cached_property
    def pairs(self) -> Ints:
        """The (group, value) pairs of these groups."""
        return self.belief.pairs_of(self.groups)

    @cached_property
    def keep(self) -> Floats:
        """Per pair: a cell's expected δ if it is left."""
        return self.belief.distance_to_truth(self.belief.pair_group[self.pairs], self.belief.pair_value[self.pairs])


def _width_risks(belief: Belief, groups: Ints, width: int) -> WidthRisks:
    column = belief.column
    candidates = belief.candidate[groups, :width]
    codes = np.maximum(candidates, 0)
    between = column.distance(codes[:, :, None], codes[:, None, :])
    write = (between * belief.weight[groups, None, :width]).sum(axis=2)
    write += belief.other[groups, None] * column.mean_distance[codes]
    return WidthRisks(groups, width, between, np.where((candidates >= 0) & column.groups[codes], write, np.inf))
