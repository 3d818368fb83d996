"""What is believed about the groups of one dependency: the value that each should have, and how sure that is.

Only groups whose cells disagree are weighed candidate by candidate. Where all cells agree there is one candidate, and
that is weighed for all such groups together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from pacas.client.weighed_groups.agreement import agreement, agreement_of_outvoted
from pacas.client.weighed_groups.answered_camps import AnsweredCamps
from pacas.client.weighed_groups.block_lean import Camps
from pacas.client.weighed_groups.few_rows import FewRows
from pacas.client.weighed_groups.group_answers import GroupAnswers
from pacas.client.weighed_groups.group_likelihood import NEVER, Cells, LogFactorials, Weights, weigh_groups
from pacas.client.weighed_groups.group_prior import GroupPrior
from pacas.client.weighed_groups.left_side import LeftSide
from pacas.client.weighed_groups.rates import Rates
from pacas.client.weighed_groups.source_trust import GroupAnswer
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.core.dependency import FunctionalDependency
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints
from pacas.engine.grouping import spread

MOST = 8
"""Candidates of a group: its most frequent values."""

SEED = 11
"""Of draws in dry runs: the same table promises the same."""

SURE = 0.9
"""A group whose likeliest value is as likely as this is taken to have it when others are judged by it."""

TELLS = 0.25
"""A left side that makes rows agree by more than this, and outvoted ones, too, tells their value, however mixed its
groups are."""

CONSTANT = 0.8
"""Where two rows of the table agree as often as this, a column nearly always holds the same."""

CLEAR = 20
"""A cell that at most one in so many of its group agree with is an error, before anything is weighed."""

CLEARLY = 0.9
"""Where so many of a group's rows agree, they say whether the hierarchy has the values that may be right."""

FEW = 10
"""Of fewer groups it is not learnt that blocks are common."""

MANY = 2 / 3
"""Where so many of a group's cells agree, that a few others are right as they are does not make these wrong."""

UNCOVERED, SOME = 0.001, 10
"""How often it lacks one, before anything is seen, and as if so many groups had said it."""

WIDTHS = (1, 2, 4, MOST)
"""Groups are weighed together with those that have about as many candidates."""


class Belief:
    """The groups of X → B."""

    def __init__(self, fd: FunctionalDependency, side: LeftSide, column: WeighedColumn) -> None:
        self.fd, self.side, self.column = fd, side, column
        self.answers = GroupAnswers(column)
        self.asked: Mask = np.zeros(side.count, dtype=np.bool_)
        """Per group: is there an answer?"""
        self.rows = np.flatnonzero(side.group >= 0)
        keys, of, count = np.unique(
            side.group[self.rows] * len(column) + column.codes[self.rows], return_inverse=True, return_counts=True
        )
        self.pair: Ints = of.astype(np.int64)
        """Per row in `rows`: its (group, value) pair."""
        self.pair_group, self.pair_value = np.divmod(keys, len(column))
        self.pair_count = count.astype(np.float64)
        self._pair_offsets = np.searchsorted(self.pair_group, np.arange(side.count + 1))
        self.violated = self._violated()
        """Per group: do some of its values exclude each other?"""
        known = column.known[self.pair_value]
        self.agreement, self.by_chance = agreement(
            self.pair_group[known], self.pair_value[known], self.pair_count[known]
        )
        """How much oftener two rows of a group agree than any two do: 0 if no more often, 1 if always; and these."""
        self.exceptions = 0.0
        """The log odds that cells which are unlike their groups are no errors: other columns tell which they are."""
        self._factorials = LogFactorials(2 * int(side.size.max(initial=0)) + 2)
        self._slots(side.count)
        self.rates = Rates.at_first(self._outvoted_values())
        ties = column.groups[self.pair_value]
        count = np.where(ties, self.pair_count, 0.0)
        self.answered_camps = AnsweredCamps(self._pair_offsets, self.pair_value, count, self.answers)

    # ---- candidates -------------------------------------------------------------------------------------------

    def _violated(self) -> Mask:
        """On one path of the tree all values lie above its lowest one."""
        tree, group, value = self.column.tree, self.pair_group, self.pair_value
        order = np.lexsort(((tree.leave - tree.enter)[value], group))  # a level may hold a value and one below it
        lowest = np.zeros(self.side.count, dtype=np.int64)
        first = order[np.flatnonzero(np.diff(group[order], prepend=-1))]
        lowest[group[first]] = value[first]
        clash = ~tree.precedes(lowest[group].astype(np.int32), value.astype(np.int32))
        violated = np.zeros(self.side.count, dtype=np.bool_)
        violated[group[clash]] = True
        return violated

    @cached_property
    def has_few_groups(self) -> bool:
        """Too few to say how often there are blocks: one that is believed would make them common."""
        return int((self.side.size > 1).sum()) < FEW

    @property
    def tells(self) -> bool:
        """Does the left side tell the right one, so that rows of a group agree much oftener than others?

        Where nearly all rows agree anyhow, few groups of others decide that.
        """
        return self.agreement > TELLS and self.by_chance < CONSTANT

    @cached_property
    def outvoted_tell(self) -> bool:
        """And does it tell what outvoted cells hold? Else these are what is outvoted anywhere."""
        lost = np.flatnonzero(self.is_outvoted(self.pair_group, self.pair_value) & self.column.known[self.pair_value])
        group = self.pair_group[lost]
        found = agreement_of_outvoted(group, self.pair_value[lost], self.pair_count[lost], self._most_frequent[group])
        return found.beyond_chance > TELLS

    def _slots(self, groups: int) -> None:
        """Each group's candidates: its known values first, then by how often they stand there."""
        group, value, count = self.pair_group, self.pair_value, self.pair_count
        known = self.column.known[value]
        order = np.lexsort((value, -count, ~known, group))
        rank = np.arange(len(order)) - self._pair_offsets[group[order]]
        kept = order[rank < MOST]
        rank = rank[rank < MOST]
        self.candidate: Ints = np.full((groups, MOST), -1, dtype=np.int64)
        """[group, K] the codes of its candidates, −1 where there are fewer."""
        self._pair_of: Ints = np.full((groups, MOST), -1, dtype=np.int64)
        self.candidate[group[kept], rank] = value[kept]
        self._pair_of[group[kept], rank] = kept
        first, top = self.candidate[:, 0], np.maximum(self.candidate[:, 0], 0)
        self._most_frequent: Ints = np.where(self.column.known[top], first, -1)
        self.prior = GroupPrior(self.side, self.column, self._most_frequent, self._uncovered())
        self._prior = np.zeros((groups, MOST))
        self._expect(np.arange(groups))
        self._width = (self.candidate >= 0).sum(axis=1)
        self.weight = np.zeros((groups, MOST))
        """[group, K] how likely each candidate is the truth."""
        self.other = np.zeros(groups)
        """Per group: how likely the truth is another value than its candidates."""
        self.likeliest: Ints = np.maximum(self.candidate[:, 0], -1)
        self.sure = np.zeros(groups)
        """Per group: its likeliest value, and how likely that is."""
        self.block = np.zeros((groups, MOST))
        """[group, K] given the likeliest value: is this candidate's part of the group a block?"""
        self.size = self.side.size.astype(np.float64)
        """Per group: how many rows belong to it, as is believed."""

    def _uncovered(self) -> float:
        """Of the groups in which nearly all agree: how many on a value that the hierarchy does not have (η)."""
        count, size = self.pair_count, self.side.size[self.pair_group]
        clear = (size > 1) & (count >= CLEARLY * size) & self.column.groups[self.pair_value]
        strange = clear & (self.column.strange[self.pair_value] > 0)
        return (int(strange.sum()) + UNCOVERED * SOME) / (int(clear.sum()) + SOME)

    def _expect(self, groups: Ints) -> None:
        """Take over what the prior says about the candidates of some groups."""
        candidate = self.candidate[groups]
        chance = np.zeros(candidate.shape)
        at, place = np.nonzero(candidate >= 0)
        chance[at, place] = self.prior(groups[at], candidate[at, place])
        over = chance.sum(axis=1, keepdims=True)
        self._prior[groups] = np.where(over > 0.999, chance * 0.999 / np.maximum(over, 1e-30), chance)

    # ---- the posterior ----------------------------------------------------------------------------------------

    def weigh(self, stays: FewRows, from_elsewhere: FewRows) -> None:
        """Weigh all groups. `stays` is, per row, how likely its left side is right.

        `from_elsewhere` is, per row, the log chance that it came to its group by an error of the left side.
        """
        as_error = np.log(self.rates.wrong) + self.rates.log_confusion
        here = as_error[self.pair_value]
        pair, came = self._in_pairs(from_elsewhere)
        self._pair_error = self.pair_count * here + self._per_pair(pair, np.logaddexp(here[pair], came) - here[pair])
        self._pair_error[self.pair_value == self.column.null] = 0.0  # what is missing says nothing of what it should be
        self._group_error = self._per_group(self._pair_error)
        pair, likely = self._in_pairs(stays)
        self.pair_stays = self.pair_count - self._per_pair(pair, 1 - likely)
        self.size = self._per_group(self.pair_stays)
        self.weigh_some(np.arange(self.side.count))

    def _in_pairs(self, few: FewRows) -> tuple[Ints, Floats]:
        """The (group, value) pairs of a few rows, those that are in a group; and their numbers."""
        pair = self.pair_at(few.rows)
        return pair[pair >= 0], few.values[pair >= 0]

    def _per_pair(self, pair: Ints, weight: Floats) -> Floats:
        return np.asarray(np.bincount(pair, weights=weight, minlength=len(self.pair_value)), dtype=np.float64)

    def _per_group(self, weight: Floats) -> Floats:
        found = np.bincount(self.pair_group, weights=weight, minlength=self.side.count)
        return np.asarray(found, dtype=np.float64)

    def weigh_some(self, groups: Ints) -> None:
        """Weigh some groups, with the answers there are."""
        for these, width in self.by_width(groups):
            self._take(these, self._weigh(these, width), width)

    def by_width(self, groups: Ints) -> Iterator[tuple[Ints, int]]:
        """Some groups, those together that have about as many candidates; and how many these are at most."""
        narrower = 0
        for width in WIDTHS:
            these = groups[(self._width[groups] > narrower) & (self._width[groups] <= width)]
            narrower = width
            if len(these):
                yield these, width

    def _weigh(self, groups: Ints, width: int) -> Weights:
        pair = self._pair_of[groups, :width]
        there, at = pair >= 0, np.maximum(pair, 0)
        cells = Cells(
            self.candidate[groups, :width],
            np.where(there, self.pair_count[at], 0.0),
            np.where(there, self._pair_error[at], 0.0),
            self._group_error[groups],
            self.candidate[groups, :width] != self.column.null,
        )
        prior = self._prior[groups, :width]
        log_prior = np.where(cells.present, np.log(np.maximum(prior, 1e-30)), NEVER)
        log_other = np.log(np.maximum(1 - self._prior[groups].sum(axis=1), 1e-6))
        for i in [i for i, g in enumerate(groups.tolist()) if g in self.answers] if self.answers else ():
            of_each, of_others = self.answers.log_chances(int(groups[i]), cells.value[i])
            log_prior[i] += of_each
            log_other[i] += of_others
        return weigh_groups(cells, log_prior, log_other, self.rates, self._factorials)

    def is_but_confirmed(self, group: int) -> bool:
        """Do most rows of a group agree, and was nothing told but that rows of it show what they should?

        Others than these may be from elsewhere, however many are asked: what the group should hold, they do not say.
        """
        found = self.answers.get(group, ())
        if not found or any(one.of_group or not self.answers.fits(one, one.shown) for one in found):
            return False
        return bool(self.pair_count[self._most_shown(group)] >= MANY * self.side.size[group])

    def camp_to_ask(self, group: int) -> int:
        """The value that a row should show that is asked next: what is likeliest, if nothing else is in question.

        Where most rows agree on another one, or both camps may be right, that is to be told of a row that shows it.
        """
        if (camp := self.answered_camps.next_to_ask(group)) is not None:
            return camp
        if self.is_but_confirmed(group):
            return int(self.pair_value[self._most_shown(group)])
        return int(self.likeliest[group])

    def _most_shown(self, group: int) -> int:
        """The pair of a group's most frequent value that may be its truth."""
        pairs = slice(self._pair_offsets[group], self._pair_offsets[group + 1])
        may_be = self.column.groups[self.pair_value[pairs]]
        return int(np.where(may_be, self.pair_count[pairs], 0).argmax()) + int(pairs.start)

    def has_been_told(self, group: int) -> bool:
        """Has one of several providers said something that does not fit all candidates of a group?

        If nobody who was asked says what is believed, nor most of the group's own cells, that settles nothing.
        """
        said = [answer for answer in self.answers.get(group, ()) if answer.said is not None]
        if not said:
            return False
        best = int(self.likeliest[group])
        if not any(self.answers.fits(answer, best) for answer in said) and not self._is_majority(group, best):
            return False
        candidates = self.candidate[group][self.candidate[group] >= 0]
        return any(not self.answers.fits(answer, candidates).all() for answer in said)

    def _is_majority(self, group: int, value: int) -> bool:
        """Whether a value stands in a group oftener than each other does."""
        pairs = slice(self._pair_offsets[group], self._pair_offsets[group + 1])
        is_it, count = self.pair_value[pairs] == value, self.pair_count[pairs]
        return bool(count[is_it].sum() > count[~is_it].max(initial=0))

    def expected_right(self, group: int, answer: GroupAnswer) -> float:
        """How likely an answer about a group is right, as is believed now: its truth, or the row's own, fits it."""
        candidates = self.candidate[group]
        fits = self.answers.fits(answer, np.maximum(candidates, 0)) & (candidates >= 0)
        others = float(self.other[group]) * self.answers.of_others(answer, candidates)
        inside = float(self.weight[group][fits].sum()) + others
        own = float(self.answers.fits(answer, answer.shown))
        return min(inside + (1 - inside) * answer.stray * own, 1.0)

    def will_be_right(self, group: int, source: str) -> float:
        """How likely one of several providers will be right about a group: about as likely as it has been.

        Who has said of it what is not believed would say more of the same at a finer level.
        """
        said = [answer for answer in self.answers.get(group, ()) if answer.said and answer.said.source == source]
        return min([self.answers.trust[source], *(self.expected_right(group, answer) for answer in said)])

    def _take(self, groups: Ints, weights: Weights, width: int) -> None:
        self.weight[groups, :width] = weights.value
        self.other[groups] = weights.other
        best = weights.value.argmax(axis=1)
        each = np.arange(len(groups))
        self.likeliest[groups] = self.candidate[groups, best]
        self.sure[groups] = weights.value[each, best]
        self.block[groups, :width] = weights.block[each, best]

    # ---- what is asked of it ----------------------------------------------------------------------------------

    def chance(self, group: Ints, value: Ints) -> Floats:
        """How likely a value is a group's truth; without a group (−1), as often as it stands in the column."""
        there, share = np.maximum(group, 0), self.column.share[value]
        hit = self.candidate[there] == value[:, None]
        at = hit.argmax(axis=1)
        listed = np.where(hit[np.arange(len(at)), at], self.weight[there, at], self.other[there] * share)
        return np.where(group >= 0, listed, share)

    def distance_to_truth(self, group: Ints, value: Ints) -> Floats:
        """The expected δ of values to the truths of groups."""
        candidates = self.candidate[group]
        listed = np.nonzero(candidates >= 0)
        apart = self.column.distance(value[listed[0]], candidates[listed])
        known = np.bincount(listed[0], weights=apart * self.weight[group][listed], minlength=len(group))
        return np.asarray(known + self.other[group] * self.column.mean_distance[value])

    def pair_at(self, rows: Ints) -> Ints:
        """The (group, value) pairs of some rows, −1 for a row that is in no group."""
        if len(self.rows) == len(self.side.group):
            return self.pair[rows]
        if not len(self.rows):
            return np.full(len(rows), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[at] == rows, self.pair[at], -1)

    def pairs_of(self, groups: Ints) -> Ints:
        """The (group, value) pairs of some groups, group after group."""
        start = self._pair_offsets[groups]
        return spread(start, self._pair_offsets[groups + 1] - start)

    def pair_chance(self) -> Floats:
        """Per (group, value) pair: how likely its value is the group's truth."""
        return self.chance(self.pair_group, self.pair_value)

    def pair_block(self) -> Floats:
        """Per pair: how likely its cells are a block, given the likeliest value."""
        block = np.zeros(len(self.pair_value))
        listed = self._pair_of >= 0
        block[self._pair_of[listed]] = self.block[listed]
        return block

    @property
    def one_value(self) -> Floats:
        """Per group: how likely it should have one value, and is not what it is, as all are where it does not hold."""
        return np.full(self.side.count, 1 - self.rates.mixed)

    def count(self, group: int) -> Floats:
        """How often a group's candidates stand in it."""
        pair = self._pair_of[group]
        return np.where(pair >= 0, self.pair_count[np.maximum(pair, 0)], 0.0)

    def drawn(self, group: int) -> int:
        """A value of a group, drawn as likely as it is, always the same for the same beliefs; none of others."""
        weight = np.append(self.weight[group], self.other[group])
        at = int(np.searchsorted(weight.cumsum(), np.random.default_rng([SEED, group]).random() * weight.sum()))
        return int(self.candidate[group, at] if at < MOST else self.likeliest[group])

    def outvoted(self) -> tuple[Ints, Ints]:
        """The rows of violated groups that show another value than the most frequent known one; and that one."""
        lost = self.is_outvoted(self.pair_group, self.pair_value)
        at = np.flatnonzero(lost[self.pair])
        return self.rows[at], self._most_frequent[self.pair_group[self.pair[at]]]

    def is_outvoted(self, group: Ints, value: Ints) -> Mask:
        """Is it another value than the most frequent known one of a violated group?"""
        winner = self._most_frequent[group]
        return np.asarray((group >= 0) & (value != winner) & (winner >= 0) & self.violated[group])

    # ---- answers ----------------------------------------------------------------------------------------------

    def tell(self, group: int, answer: GroupAnswer) -> None:
        """Take an answer in, and weigh its group again. A ground value that it lacks is a candidate from now on."""
        self.answered_camps.count(group, -1)
        self.answers.add(group, answer)
        self.answered_camps.count(group, 1)
        self.asked[group] = True
        if self.column.known[answer.node] and not (self.candidate[group] == answer.node).any():
            free = np.flatnonzero(self.candidate[group] < 0)
            at = int(free[0]) if len(free) else int(self.weight[group].argmin())
            self.candidate[group, at], self._pair_of[group, at] = answer.node, -1
            self._width[group] = max(int(self._width[group]), at + 1)
            self._expect(np.array([group]))
        self.weigh_some(np.array([group]))

    # ---- learning ---------------------------------------------------------------------------------------------

    def expect_what_is_believed(self) -> None:
        """The prior, from what is believed of other groups now."""
        sure, known = self.sure > SURE, self.column.known[np.maximum(self.likeliest, 0)]
        if self.prior.take(np.where(sure, np.where(known, self.likeliest, -1), self._most_frequent)):
            self._expect(np.arange(self.side.count))

    def confusion(self, pairs: Mask, weight: Floats) -> Floats:
        """How often some pairs' cells show each value."""
        seen = np.bincount(self.pair_value[pairs], weights=weight, minlength=len(self.column))
        return np.asarray((seen + 1) / (seen.sum() + len(self.column)))

    def _outvoted_values(self) -> Floats:
        """How often outvoted cells show each value, as far as most cells of their groups agree."""
        size = self.side.size[self.pair_group]
        clear = self.is_outvoted(self.pair_group, self.pair_value) & (self.pair_count * CLEAR <= size)
        clear &= self.pair_value != self.column.null
        return self.confusion(clear, self.pair_count[clear])

    def camps(self) -> Camps:
        """The groups in which a block is likelier than not, and what is believed of its camp and of the right one."""
        several = np.flatnonzero(self.violated)
        second = self.block[several].argmax(axis=1)
        blocks = self.block[several, second]
        seen = blocks > 0.5
        groups, second, blocks = several[seen], second[seen], blocks[seen]
        first = self.weight[groups].argmax(axis=1)
        over, under = (self.pair_count[self._pair_of[groups, camp]] for camp in (second, first))
        under = np.where(self._pair_of[groups, first] >= 0, under, 0.0)  # a value that was bought may stand nowhere
        share = (over + 1) / (over + under + 2)
        return Camps(blocks, share, self.weight[groups, first], self.weight[groups, second])
