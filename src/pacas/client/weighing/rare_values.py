"""Looking further than dependencies do: a rare value beside a frequent one that is nearly the same text.

A row with such a value stands alone in its group, so that no dependency contradicts it. It is a slip, or a value of its
own. What speaks for a slip: how seldom values of this column are so near to each other by chance, and how many of the
rare ones are; and how the row would agree with the groups that it would then belong to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pacas.client.weighing.model import Model
from pacas.client.weighing.slips import CUTOFF, slip_chances
from pacas.client.weighing.weighed_column import WeighedColumn
from pacas.core.distance import Floats
from pacas.core.histogram import NO_ROWS, Ints

RARE = 3
"""A value that stands here more often is no slip."""
TIMES = 20
"""A value must be so many times as frequent to be what was meant."""
MOST_VALUES = 4_000
"""Rare and frequent values of a column that are compared, of each the most frequent."""
ROUNDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class RareCells:
    """Cells of an attribute that may be slips: what was meant, and how likely that is."""

    rows: Ints
    meant: Ints
    chance: Floats


NONE = RareCells(NO_ROWS, NO_ROWS, np.empty(0))


def rare_cells(model: Model) -> Mapping[str, RareCells]:
    """Per attribute of a dependency: its rare cells."""
    return {name: found for name in model.columns if len((found := _of_column(model, name)).rows)}


def _of_column(model: Model, name: str) -> RareCells:
    column = model.columns[name]
    values = np.flatnonzero(column.groups & (column.frequency > 0))
    order = values[np.argsort(-column.frequency[values], kind="stable")]
    rare = order[column.frequency[order] <= RARE][:MOST_VALUES]
    frequent = order[column.frequency[order] >= TIMES][:MOST_VALUES]
    if not len(rare) or not len(frequent):
        return NONE
    shown, meant, slip = _near(column, rare, frequent)
    if not len(shown):
        return NONE
    rows = np.flatnonzero(np.isin(column.codes, rare))
    of, row_meant, row_slip = _per_row(column.codes[rows], shown, meant, slip)
    weight = row_slip * column.frequency[row_meant]
    weight /= np.bincount(of, weights=weight, minlength=len(rows))[of]
    score = np.log(weight) + _agreement(model, name, rows[of], row_meant)
    by_chance = (_with_twin(column, frequent) + 0.5) / (len(frequent) + 1)
    return _likeliest(rows, of, row_meant, score - np.log(by_chance))


def _near(column: WeighedColumn, rare: Ints, frequent: Ints) -> tuple[Ints, Ints, Floats]:
    """(rare, frequent, how likely a slip is just this one): the pairs that are near enough."""
    from rapidfuzz.distance import DamerauLevenshtein  # here: slow to import, rarely needed
    from rapidfuzz.process import cdist

    texts = [column.labels(codes.tolist()) for codes in (rare, frequent)]
    edits = cdist(*texts, scorer=DamerauLevenshtein.distance, score_cutoff=CUTOFF, dtype=np.int8)
    chances = slip_chances(edits, np.array([len(text) for text in texts[1]])[None, :])
    i, j = np.nonzero(chances)
    return rare[i], frequent[j], chances[i, j]


def _with_twin(column: WeighedColumn, frequent: Ints) -> int:
    """How many frequent values are as near to another one: these are no slips, so that being near says little."""
    shown, meant, _ = _near(column, frequent, frequent)
    return len(np.unique(shown[shown != meant]))


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
    """How much better rows would fit the groups that they would belong to than any row does by chance."""
    score = np.zeros(len(rows))
    for belief in model.beliefs:
        side = belief.side
        if name not in side.attributes:
            continue
        there = side.find({a: meant if a == name else model.columns[a].codes[rows] for a in side.attributes})
        shown, rates = belief.column.codes[rows], belief.rates
        fits = belief.chance(there, shown)
        given = fits * (1 - rates.wrong) + (1 - fits) * rates.wrong * rates.confusion[shown]
        score += np.where(there >= 0, np.log(given / np.maximum(belief.column.share[shown], 1e-9)), 0.0)
    return score


def _likeliest(rows: Ints, of: Ints, meant: Ints, score: Floats) -> RareCells:
    """Per row what was likeliest meant; how many of the rare values are slips is learnt from all of them."""
    total = np.full(len(rows), -np.inf)
    np.logaddexp.at(total, of, score)
    share = 0.5
    for _ in range(ROUNDS):
        odds = np.clip(total + np.log(share) - np.log(1 - share), -50, 50)
        wrong = 1 / (1 + np.exp(-odds))
        share = float(np.clip((wrong.sum() + 0.5) / (len(rows) + 1), 1e-3, 1 - 1e-3))
    order = np.lexsort((-score, of))
    first = order[np.flatnonzero(np.diff(of[order], prepend=-1))]
    at = of[first]
    return RareCells(rows[at], meant[first], wrong[at] * np.exp(score[first] - total[at]))
