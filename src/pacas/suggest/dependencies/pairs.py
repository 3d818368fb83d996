"""Left sides of two attributes: what they determine together, and neither does alone, nor chance.

Two attributes make smaller groups, and small groups agree by chance. So a pair counts only where it beats the same
groups with the second attribute shuffled inside the first one's, and the first inside the second's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pacas.engine.grouping import Array, Keys, combine
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.dependencies.choosing import LEFT_SIDES
from pacas.suggest.dependencies.evidence import Floats
from pacas.suggest.dependencies.screening import SEED, RowSample, RowSamples, agreement_by_chance, grouped

MOST_ROWS, FEWEST_ROWS = 10_000, 2_000
MOST_COMPARED = 300_000_000
"""Cells that are compared with others, over all pairs."""
LEAST_SUPPORT = 0.2
LEAST_SCORE = 0.8
LEFT_OPEN = 0.5
"""What a pair may leave of what the better of its two leaves open."""
LEAST_GAIN = 0.7
"""How much of what chance leaves open a pair must close."""


class PairCandidate(NamedTuple):
    """A pair of attributes that seems to determine a third, in the sample by which it was found."""

    rank: tuple[float, int]
    """The least is best: by its score, then by how few values its attributes have."""
    left: tuple[int, int]
    right: int
    score: float
    sample: RowSample


def find_pairs(
    columns: Sequence[ProfiledColumn],
    samples: RowSamples,
    alone: Mapping[int, Floats],
    strong: Collection[tuple[int, int]],
    tell: Callable[[str], None],
) -> list[PairCandidate]:
    """The best pairs that determine a column which has not two left sides already.

    `alone` is how each attribute scores by itself, `strong` what one attribute determines.
    """
    chosen, most = _affordable(columns, list(alone))
    pairs = sorted(_larger_first(columns, pair) for pair in combinations(chosen, 2) if not _determined(pair, strong))
    told = Counter(right for _, right in strong)
    best: dict[int, list[PairCandidate]] = {right: [] for right in range(len(columns)) if told[right] < LEFT_SIDES}
    for number, pair in enumerate(pairs):  # sorted: a sample serves all pairs of its first column
        if number % 100 == 0:
            tell(f"trying left sides of two attributes ({number:,} of {len(pairs):,})")
        for found in _seeming(columns, samples.of(pair[0], most), pair, alone):
            rivals = best.get(found.right)
            if rivals is None or any((column, found.right) in strong for column in pair):
                continue
            is_better = len(rivals) < LEFT_SIDES or found.rank < rivals[-1].rank
            if is_better and _gain(columns, found) >= LEAST_GAIN:
                best[found.right] = sorted([*rivals, found], key=lambda one: one.rank)[:LEFT_SIDES]
    return [found for rivals in best.values() for found in rivals]


def _seeming(
    columns: Sequence[ProfiledColumn], sample: RowSample, pair: tuple[int, int], alone: Mapping[int, Floats]
) -> Iterator[PairCandidate]:
    """What a pair scores high for, and much higher than either of its attributes."""
    groups = combine([_keys(columns[column], sample.codes[column]) for column in pair])
    scores = sample.scores(groups.key, LEAST_SUPPORT)
    if scores is None:
        return
    best = np.maximum(alone[pair[0]], alone[pair[1]])
    seems = (scores >= LEAST_SCORE) & (1 - scores < LEFT_OPEN * (1 - best))
    values = sum(len(columns[column].values) for column in pair)
    for right in np.flatnonzero(seems).tolist():
        if right not in pair:
            score = float(scores[right])
            yield PairCandidate((-round(score, 2), values), pair, right, score, sample)


def score_by_chance(first: Keys, second: Keys, value: Array) -> float:
    """What groups by two columns score for a value, once the second is shuffled inside the first one's groups."""
    there = np.flatnonzero((first.key >= 0) & (second.key >= 0) & (value >= 0))
    group, value = first.key[there], value[there]
    rng = np.random.default_rng(SEED)
    by_group = np.argsort(group, kind="stable")
    shuffled = np.lexsort((rng.random(len(group)), group))
    key = np.empty(len(group), dtype=np.int64)
    key[by_group] = group[by_group].astype(np.int64) * second.space + second.key[there][shuffled]
    order, same = grouped(combine([Keys(key, int(key.max(initial=0)) + 1, False)]).key)
    if same.sum() < 10:
        return 1.0
    chance = agreement_by_chance(np.bincount(value))
    agreeing = float((value[order][1:] == value[order][:-1])[same].mean())
    return max(0.0, (agreeing - chance) / max(1 - chance, 1e-9))


def _gain(columns: Sequence[ProfiledColumn], found: PairCandidate) -> float:
    """How much of what chance leaves open a pair closes."""
    one, other = (_keys(columns[column], found.sample.codes[column]) for column in found.left)
    value = found.sample.codes[found.right]
    chance = max(score_by_chance(one, other, value), score_by_chance(other, one, value))
    return (found.score - chance) / max(1 - chance, 1e-9)


def _affordable(columns: Sequence[ProfiledColumn], left: list[int]) -> tuple[list[int], int]:
    """The attributes of which pairs are made, not of measures, and the rows by which: as many as time allows."""
    chosen = [c for c in left if not columns[c].kind.is_measured]
    most = len(chosen)
    while most > 2 and most * (most - 1) // 2 * len(columns) * FEWEST_ROWS > MOST_COMPARED:
        most -= 1
    kept = sorted(chosen, key=lambda c: (-len(columns[c].values), c))[:most]
    cost = max(most * (most - 1) // 2 * len(columns), 1)
    return sorted(kept), int(np.clip(MOST_COMPARED // cost, FEWEST_ROWS, MOST_ROWS))


def _larger_first(columns: Sequence[ProfiledColumn], pair: tuple[int, int]) -> tuple[int, int]:
    one, other = pair
    return (other, one) if len(columns[one].values) < len(columns[other].values) else (one, other)


def _determined(pair: tuple[int, int], strong: Collection[tuple[int, int]]) -> bool:
    return pair in strong or pair[::-1] in strong


def _keys(column: ProfiledColumn, codes: Array) -> Keys:
    return Keys(codes, max(len(column.values), 1), column.keys.partial)
