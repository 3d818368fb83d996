"""The expected δ of a group's cells: if one value is written into all of them, and if each is left as it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pacas.client.weighing.belief import Belief
from pacas.core.distance import Floats
from pacas.core.histogram import Ints


@dataclass(frozen=True, slots=True, eq=False)
class WidthRisks:
    """Of groups that have about as many candidates."""

    groups: Ints
    width: int
    between: Floats
    """[m, K, K] δ between candidates."""
    write: Floats
    """[m, K] a cell's expected δ if a candidate is written; infinite for one that cannot be."""


class Risks:
    """Of some groups of a dependency, by what is believed now."""

    def __init__(self, belief: Belief, groups: Ints) -> None:
        self.belief, self.groups = belief, groups
        self.parts = [_width_risks(belief, these, width) for these, width in belief.by_width(groups)]
        count = belief.side.count
        self.node: Ints = np.full(count, -1, dtype=np.int64)
        """Per group: the value of least risk."""
        self.risk: Floats = np.full(count, np.inf)
        """Per group: that risk, per cell."""
        self.sure: Floats = np.zeros(count)
        """Per group: how likely that value is the truth."""
        for part in self.parts:
            each, best = np.arange(len(part.groups)), part.write.argmin(axis=1)
            self.node[part.groups] = belief.candidate[part.groups, best]
            self.risk[part.groups] = part.write[each, best]
            self.sure[part.groups] = belief.weight[part.groups, best]
        for group in belief.answers:
            self._offer_answers(group)
        self.node[~np.isfinite(self.risk)] = -1

    def _offer_answers(self, group: int) -> None:
        """A general value that was bought may be better than any candidate."""
        belief, column = self.belief, self.belief.column
        answer = min(belief.answers[group], key=lambda a: (a.stray, int(column.tree.level[a.node]))).node
        candidates = belief.candidate[group]
        here, codes = candidates >= 0, np.maximum(candidates, 0)
        apart = column.distance(np.full(len(codes), answer), codes)
        risk = float((belief.weight[group] * apart * here).sum() + belief.other[group] * column.penalties[answer])
        if risk < self.risk[group] - 1e-9:
            inside = column.tree.precedes(codes.astype(np.int32), answer) & here
            self.node[group], self.risk[group] = answer, risk
            self.sure[group] = float(belief.weight[group][inside].sum() + belief.other[group])

    @cached_property
    def pairs(self) -> Ints:
        """The (group, value) pairs of these groups."""
        inside = np.zeros(self.belief.side.count, dtype=np.bool_)
        inside[self.groups] = True
        return np.flatnonzero(inside[self.belief.pair_group])

    @cached_property
    def keep(self) -> Floats:
        """Per pair of all groups: a cell's expected δ if it is left; 0 for groups that are not looked at."""
        belief, column = self.belief, self.belief.column
        keep = np.zeros(len(belief.pair_value))
        group, value = belief.pair_group[self.pairs], belief.pair_value[self.pairs]
        candidates = belief.candidate[group]
        listed = np.nonzero(candidates >= 0)
        apart = column.distance(value[listed[0]], candidates[listed])
        risk = np.bincount(listed[0], weights=apart * belief.weight[group][listed], minlength=len(group))
        keep[self.pairs] = risk + belief.other[group] * column.mean_distance[value]
        return keep


def _width_risks(belief: Belief, groups: Ints, width: int) -> WidthRisks:
    column = belief.column
    candidates = belief.candidate[groups, :width]
    codes = np.maximum(candidates, 0)
    between = column.distance(codes[:, :, None], codes[:, None, :])
    write = (between * belief.weight[groups, None, :width]).sum(axis=2)
    write += belief.other[groups, None] * column.mean_distance[codes]
    return WidthRisks(groups, width, between, np.where((candidates >= 0) & column.known[codes], write, np.inf))
