"""Which rows stand in the wrong group: how likely each row's left side is wrong, and what it should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.few_rows import FewRows
from pacas.client.weighed_groups.left_side import LeftSide
from pacas.client.weighed_rows.calibration import (
    Calibration,
    ShareScale,
    SideEvidence,
    side_evidence,
    told_likelihood,
)
from pacas.client.weighed_rows.row_options import FITS, HOPELESS, NO_LEFT_OPTIONS, LeftOptions, OptionFinder, together
from pacas.client.weighed_rows.side_by_side import side_by_side
from pacas.client.weighed_rows.tried_errors import TriedErrors, try_errors
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import NO_ROWS, Ints


class Misplaced:
    """What is believed about the left sides of rows."""

    def __init__(self, finder: OptionFinder, rows: int) -> None:
        self.finder = finder
        self._rows = rows
        self.pair_fits: dict[Belief, Floats] = {}
        """Per dependency and (group, value) pair: how likely the value was the group's when all was weighed last."""
        self.stays: dict[LeftSide, FewRows] = dict.fromkeys(finder.sides, FewRows.none(1.0))
        """Per left side and row: how likely it is right."""
        self.from_elsewhere: dict[Belief, FewRows] = dict.fromkeys(finder.beliefs, FewRows.none(HOPELESS))
        """Per dependency and row: the log chance that it came to its group by an error of the left side."""
        self.suspects: Ints = NO_ROWS
        """The rows that are in conflict with some dependency, ascending."""
        self.options: LeftOptions = NO_LEFT_OPTIONS
        """Of the suspects, by row and attribute."""
        self.wrong: Floats = np.empty(0)
        """Per suspect: how likely its left side is wrong."""
        self.if_unlike = FewRows.none(0.0)
        """Per row: how likely that is if its value is not its group's."""
        self.fewest = self.most = FewRows.none(1.0)
        """Per row: how much likelier that may be, if fewer errors, or more, are left ones than is believed."""
        self.chance: Floats = np.empty(0)
        """Per option: how likely it is true."""
        self.hit: Floats = np.empty(0)
        """Per option: how likely it is true if the left side is wrong."""
        self.share: dict[LeftSide, float] = {}
        """How many of the errors of a side's rows are left ones."""
        self._tried: dict[LeftSide, TriedErrors | None] = {}
        self._likelihood: dict[LeftSide, Floats] = {}
        self._trying = True
        self._settled: tuple[Floats, Floats] | None = None
        self.told: dict[int, bool] = {}
        """Rows whose left side was found wrong, or right, by a purchase about their right side."""
        self.bought: dict[tuple[int, str], int] = {}
        """Left values that were bought themselves."""

    # ---- weighing ---------------------------------------------------------------------------------------------

    def weigh(self, *, trying: bool = True) -> None:
        """Find the rows in conflict, their options, and how likely each is; errors are tried out anew if so asked."""
        self._trying = trying
        finder, rows = self.finder, self._rows
        suspect: Mask = np.zeros(rows, dtype=np.bool_)
        in_conflict: dict[Belief, Ints] = {}
        for belief in finder.beliefs:
            self.pair_fits[belief] = belief.pair_chance()
            in_conflict[belief] = _in_conflict(belief, self.pair_fits[belief])
            suspect[in_conflict[belief]] = True
        suspect[[row for row, _ in self.bought]] = True
        self.suspects = np.flatnonzero(suspect)
        finder.index()
        supposed = finder.suppose(self.suspects)
        conflicts = {b: np.searchsorted(self.suspects, rows) for b, rows in in_conflict.items()}
        options = finder.options(supposed, conflicts)
        odds, options, hit = self._calibrated(options, conflicts)
        self._settle(odds, options, hit)
        self._take_from_elsewhere(odds, options)

    def fits(self, belief: Belief, rows: Ints) -> Floats:
        """How likely some rows' values are their groups', 1 for those in no group."""
        pair = belief.pair_at(rows)
        return np.where(pair >= 0, self.pair_fits[belief][pair], 1.0)

    def _unlike(self, belief: Belief, rows: Ints) -> Floats:
        """How likely some rows' values are not their groups'. What is missing does not say where its row belongs."""
        missing = belief.column.codes[rows] == belief.column.null
        return np.where(missing, 0.0, 1 - self.fits(belief, rows))

    def has_tried(self, side: LeftSide) -> bool:
        """Could errors of a left side be tried out, so that its scores are calibrated?"""
        return self._tried.get(side) is not None

    def _calibrated(self, options: LeftOptions, conflicts: Mapping[Belief, Ints]) -> tuple[Floats, LeftOptions, Floats]:
        """Per suspect the log odds of a wrong left side; options with log odds that add up to these; and their hits."""
        finder, count = self.finder, len(self.suspects)
        best = np.maximum(options.best(count), HOPELESS)
        odds = np.full(count, HOPELESS)
        owner = np.full(count, -1)
        before = self.if_unlike

        def weighed(side: LeftSide) -> tuple[Ints, SideEvidence]:
            beliefs = [belief for belief in finder.beliefs if belief.side is side]
            in_conflict = np.zeros(count, dtype=np.bool_)
            for belief in beliefs:
                in_conflict[conflicts[belief]] = True
            these = np.flatnonzero(in_conflict)
            inside = np.array([a in side.attributes for a in finder.attributes])[options.attribute]
            scores = np.maximum(options[np.flatnonzero(inside)].best(count), HOPELESS)
            return these, self._evidence(side, beliefs, these, scores[these], conflicts, before)

        evidence = side_by_side(weighed, finder.sides, self._rows)
        scales = [_scale(side, finder.beliefs) for side in finder.sides]
        seen = [scale.to_table(one.log_likelihood) for scale, (_, one) in zip(scales, evidence, strict=True)]
        together = np.sum(seen, axis=0)
        found: list[Calibration] = []
        for number, (side, (these, one)) in enumerate(zip(finder.sides, evidence, strict=True)):
            calibration = one.calibrated(scales[number].of_table(together - seen[number]))
            found.append(calibration)
            self.share[side] = calibration.share
            likelier = calibration.log_odds > odds[these]
            odds[these[likelier]] = calibration.log_odds[likelier]
            owner[these[likelier]] = number
        self._take_spread(odds, owner, found)
        share = np.exp(options.score - best[options.of])
        hit = share.copy()
        for number, calibration in enumerate(found):
            mine = owner[options.of] == number
            hit[mine] = calibration.hits(share[mine])
        total = np.bincount(options.of, weights=hit, minlength=count)
        hit = hit / np.maximum(total[options.of], 1)
        score = np.where(odds[options.of] > HOPELESS, odds[options.of] + options.score - best[options.of], HOPELESS)
        return odds, LeftOptions(options.of, options.attribute, options.value, score), hit

    def _take_spread(self, odds: Floats, owner: Ints, found: list[Calibration]) -> None:
        fewest, most = np.ones(len(odds)), np.ones(len(odds))
        for number, calibration in enumerate(found):
            mine = owner == number
            for ratio, shift in ((fewest, calibration.least), (most, calibration.most)):
                ratio[mine] = (1 + np.exp(-odds[mine])) / (1 + np.exp(-odds[mine] - shift))
        self.fewest, self.most = (FewRows(self.suspects, ratio, 1.0) for ratio in (fewest, most))

    def _evidence(
        self,
        side: LeftSide,
        beliefs: list[Belief],
        these: Ints,
        scores: Floats,
        conflicts: Mapping[Belief, Ints],
        before: FewRows,
    ) -> SideEvidence:
        """What the scores of some suspects are worth, for one left side."""
        if not len(these):
            return side_evidence(None, np.empty(0), np.empty(0))
        shown = []
        for belief in beliefs:
            rows = self.suspects[conflicts[belief]]
            right = _as_right(before[rows]) * (1 - self.fits(belief, rows)) / _alike(belief, rows)
            shown.append((belief.column.codes[rows], right / max(float(right.sum()), 1e-12)))
        rows = self.suspects[these]
        unlike = [self._unlike(belief, rows) for belief in beliefs]
        misses = np.max(unlike, axis=0)
        alike = np.ones(len(rows))  # rows that look alike where they are unlike their groups are one witness
        for belief, miss in zip(beliefs, unlike, strict=True):
            alike = np.maximum(alike, np.where(1 - miss < FITS, _alike(belief, rows), 1.0))
        told = np.array([row in self.told for row in rows.tolist()], dtype=np.bool_)
        met = side.size[side.group[rows]] > 1  # errors that are tried out meet others, as these rows do
        weight = np.where((misses > 0.4) & ~told & met, misses, 0) / alike
        left = sum(self.told[row] for row in rows[told].tolist())
        if self._trying or side not in self._tried:
            self._tried[side] = try_errors(self.finder, side, self.pair_fits, shown)
        found = side_evidence(self._tried[side], scores, weight)
        if self._trying or side not in self._likelihood:
            self._likelihood[side] = found.log_likelihood  # later scores move with rates, and errors are not tried anew
        told_so = told_likelihood(left, int(told.sum()) - left)
        return replace(found, log_likelihood=self._likelihood[side] + told_so)

    # ---- settling ---------------------------------------------------------------------------------------------

    def _settle(self, odds: Floats, options: LeftOptions, hit: Floats) -> None:
        """How likely each suspect's left side is wrong, each option is true, and each row stays in its groups."""
        finder, suspects = self.finder, self.suspects
        unlike = np.where(odds > HOPELESS, 1 / (1 + np.exp(-odds)), 0)
        self.if_unlike = FewRows(suspects, unlike, 0.0)
        miss = np.max([self._unlike(belief, suspects) for belief in finder.beliefs], axis=0)
        wrong = unlike * miss
        for belief in finder.beliefs:  # a block of a group explains its rows better than so many strays
            pair = belief.pair_at(suspects)
            wrong = wrong * (1 - np.where(pair >= 0, belief.pair_block()[pair], 0.0))
        share = np.exp(options.score - np.maximum(options.best(len(suspects)), HOPELESS)[options.of])
        for row, is_left in self.told.items():
            if (at := self._place(row)) is not None:
                wrong[at] = 0.98 if is_left else 0.01
        astray = self._take_bought(options, wrong, hit)
        self.options, self.wrong, self.hit = options, wrong, hit
        self.chance = wrong[options.of] * hit
        has = np.zeros(len(suspects), dtype=np.bool_)
        has[options.of] = True
        for side in finder.sides:
            inside = np.array([a in side.attributes for a in finder.attributes])[options.attribute]
            part = np.bincount(options.of, weights=np.where(inside, share, 0), minlength=len(suspects))
            part = np.where(has, part, 1.0)
            for at, names in astray.items():
                part[at] = float(not names.isdisjoint(side.attributes))
            self.stays[side] = FewRows(suspects, np.clip(1 - wrong * np.clip(part, 0, 1), 0.001, 1), 1.0)

    def _take_bought(self, options: LeftOptions, wrong: Floats, hit: Floats) -> dict[int, set[str]]:
        """Left values that were bought leave no doubt. Per suspect of whom some are others than it shows: of what."""
        found: dict[int, set[str]] = {}
        by_row: dict[int, dict[str, int]] = {}
        for (row, name), node in self.bought.items():
            by_row.setdefault(row, {})[name] = node
        for row, got in by_row.items():
            at = self._place(row)
            assert at is not None, "rows with a bought left value are suspects"
            astray = {a for a, node in got.items() if node != self.finder.columns[a].codes[row]}
            if astray:
                wrong[at], found[at] = 0.999, astray
            elif all(a in got for a in self.finder.attributes):
                wrong[at] = 0.01
            for k in range(*np.searchsorted(options.of, [at, at + 1]).tolist()):
                name = self.finder.attributes[int(options.attribute[k])]
                if name in got:
                    hit[k] = 0.999 if name in astray and int(options.value[k]) == got[name] else 0
                elif astray:
                    hit[k] = min(hit[k], 0.02)
        return found

    def likeliest(self, row: int, attribute: str, otherwise: int) -> int:
        """What a row's left value should be, if its best option is likelier than not."""
        if (at := self._place(row)) is None:
            return otherwise
        number = self.finder.attributes.index(attribute)
        mine = np.flatnonzero((self.options.of == at) & (self.options.attribute == number))
        best = mine[self.chance[mine].argmax()] if len(mine) else None
        return otherwise if best is None or self.chance[best] <= 0.5 else int(self.options.value[best])

    def _place(self, row: int) -> int | None:
        at = int(np.searchsorted(self.suspects, row))
        return at if at < len(self.suspects) and int(self.suspects[at]) == row else None

    def _take_from_elsewhere(self, odds: Floats, options: LeftOptions) -> None:
        """For each dependency: how likely a cell of its group is that of a row from elsewhere."""
        for belief in self.finder.beliefs:
            inside = np.array([a in belief.side.attributes for a in self.finder.attributes])[options.attribute]
            of, score = options.of[inside], options.score[inside]
            total = together(len(self.suspects), of, score)
            there = of[np.diff(of, prepend=-1) > 0]
            there = there[belief.side.group[self.suspects[there]] >= 0]
            rows = self.suspects[there]
            own = np.log(belief.rates.wrong) + belief.rates.log_confusion[belief.column.codes[rows]]
            came = np.minimum(total[there] + own, np.log(belief.rates.unlike))  # no group is full of strays
            self.from_elsewhere[belief] = FewRows(rows, came, HOPELESS)

    def learn(self) -> None:
        """Which attribute is wrong, where a left side is."""
        if len(self.options):
            share = self._learnt()
            if self._settled is not None:
                was, before = self._settled
                share = was * share / before
                share /= share.sum()
            self.finder.share = dict(zip(self.finder.attributes, share.tolist(), strict=True))

    def settle(self) -> None:
        """From now on only what is bought moves that."""
        self._settled = np.array(list(self.finder.share.values())), self._learnt()

    def _learnt(self) -> Floats:
        seen = np.bincount(self.options.attribute, weights=self.chance, minlength=len(self.finder.attributes)) + 1
        return np.asarray(seen / seen.sum())


def _in_conflict(belief: Belief, pair_fits: Floats) -> Ints:
    """Rows that are unlike their group; where blocks are rare, also those that are outvoted in it.

    Or else few cells that are believed against many are never asked whether they are from elsewhere.
    """
    conflicts = pair_fits < FITS
    if belief.rates.blocks_are_rare:
        conflicts |= belief.is_outvoted(belief.pair_group, belief.pair_value)
    conflicts &= belief.column.known[belief.pair_value]
    return belief.rows[np.flatnonzero(conflicts[belief.pair])]


def _scale(side: LeftSide, beliefs: Sequence[Belief]) -> ShareScale:
    rights = {belief.fd.rhs for belief in beliefs if belief.side is side}
    told = len({belief.side for belief in beliefs if belief.fd.rhs in side.attributes})
    telling = len({belief.side for belief in beliefs if not rights.isdisjoint(belief.side.attributes)})
    return ShareScale(told, telling)


def _as_right(left: Floats) -> Floats:
    """How much a row's value counts as one that right errors show, by how likely its left side is wrong instead.

    Scores tell kinds of rows apart, not values. With many values of left errors among them, tried right errors look
    like left ones, and scores say too little: so the likelier of the two counts for more.
    """
    return np.asarray(np.maximum((1 - left) ** 2 / ((1 - left) ** 2 + left**2), 0.03))


def _alike(belief: Belief, rows: Ints) -> Floats:
    """How many times more rows of a row's group show what it shows than single errors would: those are one accident."""
    pair = belief.pair_at(rows)
    group, value = belief.pair_group[pair], belief.pair_value[pair]
    by_themselves = belief.side.size[group] * belief.rates.wrong * belief.rates.own_confusion[value]
    return np.where(pair >= 0, np.maximum(belief.pair_count[pair] / np.maximum(by_themselves, 1), 1), 1.0)
