"""How far two kinds of calls are told apart by how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.stats import rankdata, t

Samples = tuple[np.ndarray, np.ndarray]
"""Seconds that calls of two kinds took."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Cohen's d of the logarithms, and the chance that a call of the second kind is the longer one."""

    medians: tuple[float, float]
    d: float
    auc: float
    margin: float
    """Half of the AUC's 95 % interval, by how much it differs from turn to turn."""

    @property
    def is_seen(self) -> bool:
        """Does the interval leave out 0.5, at which who guesses by time might as well toss a coin?"""
        return abs(self.auc - 0.5) > self.margin


def effect(turns: Sequence[Samples]) -> Effect:
    """Compare the two kinds turn by turn: what slows down a whole turn is no difference between them."""
    aucs = np.array([auc(*samples) for samples in turns])
    margin = t.ppf(0.975, len(turns) - 1) * aucs.std(ddof=1) / sqrt(len(turns))
    first, second = (float(np.median(np.concatenate(kind))) for kind in zip(*turns, strict=True))
    return Effect((first, second), float(np.mean([cohens_d(*s) for s in turns])), float(aucs.mean()), float(margin))


def auc(first: np.ndarray, second: np.ndarray) -> float:
    """The share of pairs in which the second is the longer; half of those that are alike."""
    n, m = len(first), len(second)
    ranks = rankdata(np.concatenate([first, second]))[n:]
    return float((ranks.sum() - m * (m + 1) / 2) / (n * m))


def cohens_d(first: np.ndarray, second: np.ndarray) -> float:
    """Of logarithms, so that a call that was held up does not decide alone."""
    logs = np.log(first), np.log(second)
    return float(logs[1].mean() - logs[0].mean()) / sqrt((logs[0].var(ddof=1) + logs[1].var(ddof=1)) / 2)
