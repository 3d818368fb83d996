"""Rare values beside frequent ones that are nearly the same text, and that no dependency contradicts.

A row with such a value stands alone in its group. It is a slip, or a value of its own. What speaks for a slip: how
seldom values of this column are so near to each other by chance, and how many of all rare ones are; and how the row
would agree with the groups that it would then belong to. In a table that contradicts itself, rows alone in their group
are always weighed, by a left value with which they would contradict nothing, and by a right-hand one that its hierarchy
does not have; others only where one looks further than dependencies do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.client.weighed_rows.slips import CUTOFF, is_another_number, slip_chances
from pacas.client.weighing.model import Model
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import NO_ROWS, Ints

RARE = 3
"""A value that stands here more often is no slip."""
TIMES = 20
"""A value must be so many times as frequent to be what was meant."""
MOST_VALUES = 4_000
"""Rare and frequent values of a column that are compared, of each the most frequent."""
ROUNDS = 10
LONGER = 0.05
"""How likely a slip is just one certain letter too many."""
FARTHER = 5.0
"""Slips take one edit so many times as often as more."""
NO_VALUE = 1e-6
"""How likely what a hierarchy does not have is none the less no slip."""


@dataclass(frozen=True, slots=True, eq=False)
class RareCells:
    """Cells of an attribute that may be slips: what was meant, and how likely that is."""

    rows: Ints
    meant: Ints
    chance: Floats


def likelier(*several: Mapping[str, RareCells]) -> dict[str, RareCells]:
    """The cells of all; of one that is in several, what is likeliest."""
    found: dict[str, RareCells] = {}
    for name in dict.fromkeys(name for one in several for name in one):
        parts = [one[name] for one in several if name in one]
        rows, meant = np.concatenate([p.rows for p in parts]), np.concatenate([p.meant for p in parts])
        chance = np.concatenate([p.chance for p in parts])
        order = np.lexsort((-chance, rows))
        first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
        found[name] = RareCells(rows[first], meant[first], chance[first])
    return found


NONE = RareCells(NO_ROWS, NO_ROWS, np.empty(0))


class RareValues:
    """The rare values of a model's attributes, and what may have been meant: found once, and weighed when asked."""

    def __init__(self, model: Model, *, further: bool) -> None:
        """Unless it is looked `further`, those of rows that stand alone in a group."""
        self._model, self._further = model, further
        rights = (belief.fd.rhs for belief in model.beliefs)
        names = model.columns if further else dict.fromkeys([*model.left_attributes, *rights])
        self._found = {name: found for name in names if (found := _slips(model, name, further)) is not None}

    def cells(self) -> Mapping[str, RareCells]:
        """Per attribute: its rare cells, by what is believed now."""
        return {name: cells for name in self._found if len((cells := self._weighed(name)).rows)}

    def _weighed(self, name: str) -> RareCells:
        model, slips, column = self._model, self._found[name], self._model.columns[name]
        of, meant, chance, by_chance = slips.of, slips.meant, slips.chance, slips.by_chance
        if not self._further:
            agree = ~_would_contradict(model, name, slips.rows[of], meant)
            of, meant, chance, by_chance = of[agree], meant[agree], chance[agree], by_chance[agree]
        if not len(of):
            return NONE
        some, of = np.unique(of, return_inverse=True)
        rows = slips.rows[some]
        weight = chance * column.frequency[meant]
        weight /= np.bincount(of, weights=weight, minlength=len(rows))[of]
        score = np.log(weight) + _agreement(model, name, rows[of], meant)
        no_value = ~column.known[column.codes[rows[of]]] & (name not in model.left_attributes)
        by_chance = np.where(no_value, NO_VALUE, by_chance)
        return _likeliest(rows, of, meant, score - np.log(by_chance), len(slips.rows))


@dataclass(frozen=True, slots=True, eq=False)
class _Slips:
    """Of one attribute: slip k is that row `rows[of[k]]` shows what was written for `meant[k]`."""

    rows: Ints
    """All with a rare value, whether it is near to another one or not."""
    of: Ints
    meant: Ints
    chance: Floats
    by_chance: Floats
    """How much likelier a value that is none is as near to another one than a slip is."""


def _slips(model: Model, name: str, further: bool) -> _Slips | None:
    column = model.columns[name]
    values = np.flatnonzero(column.groups & (column.frequency > 0))
    order = values[np.argsort(-column.frequency[values], kind="stable")]
    rare = order[column.frequency[order] <= RARE]
    rows = np.flatnonzero(np.isin(column.codes, rare))
    if not further:
        unknown = ~column.known[column.codes[rows]]
        rows = rows[_alone(model, name, rows) | (unknown & _alone_with(model, name, rows))]
        rare = rare[np.isin(rare, column.codes[rows])]
    rare, frequent = rare[:MOST_VALUES], order[column.frequency[order] >= TIMES][:MOST_VALUES]
    if not len(rare) or not len(frequent):
        return None
    shown, meant, chance = _near(column, rare, frequent)
    if further:  # nothing need agree, and so say that another number was meant
        a_slip = ~is_another_number(column, shown, meant)
        shown, meant, chance = shown[a_slip], meant[a_slip], chance[a_slip]
    of, meant, chance = _per_row(column.codes[rows], shown, meant, chance)
    if not len(of):
        return None
    return _Slips(rows, of, meant, chance, _by_chance(column, frequent, chance))


def _alone(model: Model, name: str, rows: Ints) -> Mask:
    """Does each row stand alone in a group by the attribute?"""
    alone: Mask = np.zeros(len(rows), dtype=np.bool_)
    for side in {belief.side for belief in model.beliefs if name in belief.side.attributes}:
        group = side.group[rows]
        alone |= (group >= 0) & (side.size[np.maximum(group, 0)] == 1)
    return alone


def _alone_with(model: Model, name: str, rows: Ints) -> Mask:
    """Is each row's right-hand cell the only one of its groups?"""
    sides = [belief.side for belief in model.beliefs if belief.fd.rhs == name]
    size = np.array([np.where(side.group[rows] >= 0, side.size[side.group[rows]], 0) for side in sides])
    return np.asarray(size.max(axis=0, initial=0) == 1)


def _would_contradict(model: Model, name: str, rows: Ints, meant: Ints) -> Mask:
    """Would each row come to a group that is not likely to have its value?"""
    contradicts = np.zeros(len(rows), dtype=np.bool_)
    for belief in model.beliefs:
        if name in belief.side.attributes:
            there = _there(model, belief, name, rows, meant)
            contradicts |= (there >= 0) & (belief.chance(there, belief.column.codes[rows]) <= 0.5)
    return contradicts


def _there(model: Model, belief: Belief, name: str, rows: Ints, meant: Ints) -> Ints:
    """The groups that rows would belong to."""
    attributes = belief.side.attributes
    return belief.side.find({a: meant if a == name else model.columns[a].codes[rows] for a in attributes})


def _near(column: WeighedColumn, rare: Ints, frequent: Ints) -> tuple[Ints, Ints, Floats]:
    """(rare, frequent, how likely a slip is just this one): the pairs that are near enough."""
    from rapidfuzz.distance import DamerauLevenshtein  # here: slow to import, rarely needed
    from rapidfuzz.process import cdist

    texts = [column.labels(codes.tolist()) for codes in (rare, frequent)]
    edits = cdist(*texts, scorer=DamerauLevenshtein.distance, score_cutoff=CUTOFF, dtype=np.int8)
    shown, meant = (np.array([len(text) for text in part]) for part in texts)
    number = np.array([text.isdigit() for text in texts[0]])
    longer = (edits == 1) & (shown[:, None] == meant + 1) & ~number[:, None]  # also of short texts
    chances = np.maximum(slip_chances(edits, meant[None, :]), np.where(longer, LONGER, 0.0))
    i, j = np.nonzero(chances)
    return rare[i], frequent[j], chances[i, j]


def _by_chance(column: WeighedColumn, frequent: Ints, chance: Floats) -> Floats:
    """Frequent values are no slips. How many of them are as near to another one, by one edit or by more?"""
    shown, meant, near = _near(column, frequent, frequent)
    others, one_edit = shown != meant, near >= LONGER
    twins = [len(np.unique(shown[others & these])) for these in (one_edit, ~one_edit)]
    closer, farther = ((twin + 0.5) / (len(frequent) + 1) for twin in twins)
    return np.where(chance >= LONGER, closer, farther * FARTHER)


def _per_row(codes: Ints, shown: Ints, meant: Ints, slip: Floats) -> tuple[Ints, Ints, Floats]:
    """Each row's pairs."""
    order = np.argsort(shown, kind="stable")
    shown, meant, slip = shown[order], meant[order], slip[order]
    start, end = np.searchsorted(shown, codes), np.searchsorted(shown, codes, side="right")
    of = np.repeat(np.arange(len(codes)), end - start)
    at = (
        np.arange(len(of))
        - np.repeat(np.cumsum(end - start) - (end - start), end - start)
        + np.repeat(start, end - start)
    )
    return of, meant[at], slip[at]


def _agreement(model: Model, name: str, rows: Ints, meant: Ints) -> Floats:
    """How much better rows would fit the groups that they would belong to than groups of their own do by chance.

    Where groups hardly ever share a value, one that is another group's says much.
    """
    score = np.zeros(len(rows))
    for belief in model.beliefs:
        if name not in belief.side.attributes:
            continue
        there = _there(model, belief, name, rows, meant)
        shown, rates = belief.column.codes[rows], belief.rates
        fits = belief.chance(there, shown)
        given = fits * (1 - rates.wrong) + (1 - fits) * rates.wrong * rates.confusion[shown]
        here = belief.side.group[rows]
        alike = np.where(here >= 0, belief.prior.by_groups(np.maximum(here, 0), shown), belief.column.share[shown])
        score += np.where(there >= 0, np.log(given / np.maximum(alike, 1e-9)), 0.0)
    return score


def _likeliest(rows: Ints, of: Ints, meant: Ints, score: Floats, rare: int) -> RareCells:
    """Per row what was likeliest meant. How many of the `rare` cells are slips is learnt.

    Those near to nothing are none: or else, where most values are rare, the few that are near to another one by chance
    would be taken for slips.
    """
    total = np.full(len(rows), -np.inf)
    np.logaddexp.at(total, of, score)
    share = 0.5
    for _ in range(ROUNDS):
        odds = np.clip(total + np.log(share) - np.log(1 - share), -50, 50)
        wrong = 1 / (1 + np.exp(-odds))
        share = float(np.clip((wrong.sum() + 0.5) / (rare + 1), 1e-3, 1 - 1e-3))
    order = np.lexsort((-score, of))
    first = order[np.flatnonzero(np.diff(of[order], prepend=-1))]
    at = of[first]
    return RareCells(rows[at], meant[first], wrong[at] * np.exp(score[first] - total[at]))
