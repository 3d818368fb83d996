"""Left sides of two attributes: what they determine together, and neither does alone, nor chance.

Two attributes make smaller groups, and small groups agree by chance. So a pair counts only where it beats the same
groups with the second attribute shuffled inside the first one's, and the first inside the second's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pacas.engine.grouping import Array, Keys, combine
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.dependencies.evidence import Floats
from pacas.suggest.dependencies.screening import SEED, RowSample, RowSamples, agreement_by_chance, grouped

MOST_ROWS, FEWEST_ROWS = 20_000, 2_000
MOST_COMPARED = 600_000_000
"""Cells that are compared with others, over all pairs."""
LEAST_SUPPORT = 0.2
LEAST_SCORE = 0.8
LEFT = 0.5
"""What a pair may leave of what the better of its two leaves open."""
LEAST_GAIN = 0.7
"""How much of what chance leaves open a pair must close."""


class PairCandidate(NamedTuple):
    """A pair of attributes that seems to determine a third, in the sample by which it was found."""

    left: tuple[int, int]
    right: int
    sample: RowSample


def find_pairs(
    columns: Sequence[ProfiledColumn],
    samples: RowSamples,
    alone: Mapping[int, Floats],
    strong: Collection[tuple[int, int]],
    tell: Callable[[str], None],
) -> Iterator[PairCandidate]:
    """Pairs that determine a column, where neither attribute does (`strong`); `alone` is how each scores by itself."""
    chosen, most = _affordable(columns, list(alone))
    pairs = [_larger_first(columns, pair) for pair in combinations(chosen, 2) if not _determined(pair, strong)]
    for number, (one, other) in enumerate(sorted(pairs)):  # sorted: so that a sample serves all pairs of its column
        if number % 100 == 0:
            tell(f"trying left sides of two attributes ({number:,} of {len(pairs):,})")
        sample = samples.of(one, most)
        found = sample.scores(combine([_keys(columns[c], sample.codes[c]) for c in (one, other)]).key)
        if found is None or found.support < LEAST_SUPPORT:
            continue
        best = np.maximum(alone[one], alone[other])
        seems = (found.score >= LEAST_SCORE) & (1 - found.score < LEFT * (1 - best))
        for right in np.flatnonzero(seems).tolist():
            taken = right in (one, other) or (one, right) in strong or (other, right) in strong
            if not taken and _gain(columns, sample, (one, other), right, float(found.score[right])) >= LEAST_GAIN:
                yield PairCandidate((one, other), right, sample)


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


def _gain(
    columns: Sequence[ProfiledColumn], sample: RowSample, pair: tuple[int, int], right: int, score: float
) -> float:
    """How much of what chance leaves open a pair closes."""
    one, other = (_keys(columns[c], sample.codes[c]) for c in pair)
    value = sample.codes[right]
    chance = max(score_by_chance(one, other, value), score_by_chance(other, one, value))
    return (score - chance) / max(1 - chance, 1e-9)


def _affordable(columns: Sequence[ProfiledColumn], left: list[int]) -> tuple[list[int], int]:
    """The attributes of which pairs are made, not of measures, and the rows by which: as many as time allows."""
    chosen = [c for c in left if not columns[c].kind.is_measured]
    most = len(chosen)
    while most > 2 and most * (most - 1) // 2 * len(columns) * FEWEST_ROWS > MOST_COMPARED:
        most -= 1
    kept = sorted(chosen, key=lambda c: (-len(columns[c].values), c))[:most]
    cost = max(most * (most - 1) // 2, 1) * len(columns)
    return sorted(kept), int(np.clip(MOST_COMPARED // cost, FEWEST_ROWS, MOST_ROWS))


def _larger_first(columns: Sequence[ProfiledColumn], pair: tuple[int, int]) -> tuple[int, int]:
    one, other = pair
    return (other, one) if len(columns[one].values) < len(columns[other].values) else (one, other)


def _determined(pair: tuple[int, int], strong: Collection[tuple[int, int]]) -> bool:
    return pair in strong or pair[::-1] in strong


def _keys(column: ProfiledColumn, codes: Array) -> Keys:
    return Keys(codes, max(len(column.values), 1), column.keys.partial)
