"""From scores to probabilities: how often it is the left side, and how likely each option then is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_rows.tried_errors import TriedErrors
from pacas.core.distance import Floats
from pacas.core.histogram import Ints

SHARES: Floats = np.concatenate([[0.0005], np.linspace(0.02, 0.98, 49), [0.9995]])
"""Of errors that are left ones: what it may be in a table."""
AT_FIRST: Floats = np.concatenate([[0.3], np.full(49, 0.4 / 49), [0.3]])
"""How likely each is before anything was seen: all are right ones, or all left, or both occur."""

CUTS = 24
EDGES: Floats = np.array([0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.995])
CENTRES: Floats = np.concatenate([[0.0003], (EDGES[1:] + EDGES[:-1]) / 2, [0.999]])
MOST_ODDS = 12.0
UNTRIED_ODDS = 3.0
"""What a score may say where nothing could be tried."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """What scores of one left side are worth."""

    share: float
    """How many of the errors are left ones (ρ)."""
    log_odds: Floats
    """Per row that was given: of a left error against a right one."""
    least: float
    most: float
    """By how much the log odds of all rows may be less, or more, for all that is known of that share."""
    hit_rates: Floats | None
    """Per bin of an option's share of its row's options: how often such an option was the true one."""

    def hits(self, share: Floats) -> Floats:
        """How likely options are the true ones, given that the left side is wrong."""
        if self.hit_rates is None:
            return share
        return np.asarray(self.hit_rates[np.searchsorted(EDGES, share, side="right")])


@dataclass(frozen=True, slots=True, eq=False)
class SideEvidence:
    """What the rows in conflict of one left side say about how often it is the left side."""

    log_ratio: Floats
    """Per row: how much likelier its score is for a left error than for a right one."""
    log_likelihood: Floats
    """Per share in `SHARES`: of what was seen."""
    tried: TriedErrors | None

    def calibrated(self, elsewhere: Floats) -> Calibration:
        """With what other left sides say, which counts for less: tables go wrong in one way more often than in many."""
        like = self.log_likelihood + POOLED * elsewhere
        believed = np.exp(like - like.max()) * AT_FIRST
        each = np.log(SHARES) - np.log(1 - SHARES)
        log_odds = float(believed @ each / believed.sum())
        low, high = np.searchsorted(believed.cumsum() / believed.sum(), [UNSURE, 1 - UNSURE]).tolist()
        least, most = float(each[low]) - log_odds, float(each[min(high, len(each) - 1)]) - log_odds
        share, odds = 1 / (1 + np.exp(-log_odds)), self.log_ratio + log_odds
        rates = None if self.tried is None else _hit_rates(self.tried)
        return Calibration(share, np.clip(odds, -MOST_ODDS, MOST_ODDS), min(least, 0.0), max(most, 0.0), rates)


@dataclass(frozen=True, slots=True)
class ShareScale:
    """How the share of left errors that is seen of one left side goes with that of all errors of the table.

    Where dependencies make a chain, the right side of one is the left side of another, and an error there is seen by
    both: as a right error, and as a left one. With s of each dependency's errors on its left, s + t (1 − s) are seen on
    a left side that t others tell, and 1 − s + u s on the right side, which is on the left of u others.
    """

    told: int
    telling: int

    @property
    def _seen(self) -> Floats:
        left, right = SHARES + self.told * (1 - SHARES), 1 - SHARES + self.telling * SHARES
        return np.asarray(left / (left + right))

    @property
    def _says_nothing(self) -> bool:
        """A code that tells a name, and a name that tells the code: half of the errors are left ones, whatever s is."""
        return self.told * self.telling == 1

    def to_table(self, log_likelihood: Floats) -> Floats:
        """Per share of all errors: the likelihood that is given per share that is seen of this side."""
        return np.zeros(len(SHARES)) if self._says_nothing else np.interp(self._seen, SHARES, log_likelihood)

    def of_table(self, log_likelihood: Floats) -> Floats:
        """And the other way round."""
        if self._says_nothing:
            return np.zeros(len(SHARES))
        order = np.argsort(self._seen)
        return np.interp(SHARES, self._seen[order], log_likelihood[order])


POOLED = 0.5

UNSURE = 0.1
"""The share of left errors is thought to be less than `least` says with this chance, and more than `most` says."""


def told_likelihood(left: int, right: int) -> Floats:
    """Per share in `SHARES`: of rows that purchases settled."""
    return np.asarray(left * np.log(SHARES) + right * np.log(1 - SHARES))


def side_evidence(tried: TriedErrors | None, scores: Floats, weight: Floats) -> SideEvidence:
    """From the scores of rows in conflict, each of which counts by its weight."""
    if tried is None:
        return SideEvidence(np.clip(scores, -UNTRIED_ODDS, UNTRIED_ODDS), np.zeros(len(SHARES)), None)
    both = np.concatenate([tried.left, tried.right])
    cuts = np.unique(np.quantile(both, np.linspace(0, 1, CUTS + 1)[1:-1]))
    left, right = (_shares(np.searchsorted(cuts, s, side="right"), len(cuts) + 1) for s in (tried.left, tried.right))
    bins = np.searchsorted(cuts, scores, side="right")
    seen = np.bincount(bins, weights=weight, minlength=len(cuts) + 1)
    mixed = np.log(SHARES[:, None] * left + (1 - SHARES[:, None]) * right)
    return SideEvidence(rising(np.log(left / right), left + right)[bins], mixed @ seen, tried)


def _shares(bins: Ints, size: int) -> Floats:
    counts = np.bincount(bins, minlength=size) + 0.5
    return np.asarray(counts / counts.sum())


def _hit_rates(tried: TriedErrors) -> Floats | None:
    if len(tried.share) <= 50:
        return None
    bins = np.searchsorted(EDGES, tried.share, side="right")
    count = np.bincount(bins, minlength=len(CENTRES)) + 4.0
    hits = np.bincount(bins, weights=tried.true, minlength=len(CENTRES)) + 4 * CENTRES
    return rising(hits / count, count.astype(np.float64))


def rising(values: Floats, weights: Floats) -> Floats:
    """The sequence that never falls and is nearest to the values, by weighted squares: pool adjacent violators.

    >>> rising(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, v, m), (b, w, n) = pools[-2:]
            pools[-2:] = [((a * v + b * w) / (v + w), v + w, m + n)]
    return np.concatenate([np.full(n, value) for value, _, n in pools])
