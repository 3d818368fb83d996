"""The distribution of greatest entropy under given probabilities of some sets, in floating point.

Neighbours that lie in the same sets have one probability, so the unknowns are the shares of *patterns*. The solution
is μ_g ∝ n_g · exp(Σ_j λ_j [g in set j]); λ minimises a convex function of as many variables as there are sets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CLOSE = 1e-14
ROUNDS, PATIENCE = 300, 8
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class _Shares:
    """The shares of the patterns at some λ, what they give each set, and the dual value there."""

    strength: Floats
    share: Floats
    inside: Floats
    outside: Floats
    value: float
    miss: float
    """The farthest that a set is from its probability, in proportion to it."""


@dataclass(frozen=True, eq=False)
class MaxEntropy:
    """`counts[g]` equal neighbours in pattern g; `member[j, g]`: they lie in set j, whose probability is `goal[j]`.

    Each goal lies above 0 and up to ½ (a likelier set is given as its complement, so that small shares keep their
    precision), and some shares that are all positive meet them.
    """

    counts: Floats
    member: Floats
    goal: Floats

    def solve(self) -> tuple[Floats, float]:
        """The shares of the patterns, and the largest relative miss of a goal."""
        best = at = self._at(np.zeros(len(self.goal)))
        idle = 0
        for _ in range(ROUNDS):
            if best.miss <= CLOSE or idle == PATIENCE:
                break
            last, at = at, self._newton(at) or self._fit_in_turn(at)
            helped = at.miss < 0.9 * best.miss or at.value < last.value - 1e-12 * abs(last.value)
            idle = 0 if helped else idle + 1
            best = min(best, at, key=lambda shares: shares.miss)
        return best.share, best.miss

    def _at(self, strength: Floats) -> _Shares:
        exponent = np.log(self.counts) + strength @ self.member
        top = exponent.max()
        share = np.exp(np.maximum(exponent - top, -700.0))
        whole = share.sum()
        share /= whole
        inside = np.maximum(self.member @ share, TINY)
        outside = np.maximum((1 - self.member) @ share, TINY)
        miss = np.abs(inside - self.goal) / self.goal
        value = float(top + np.log(whole) - strength @ self.goal)
        return _Shares(strength, share, inside, outside, value, float(miss.max(initial=0.0)))

    def _newton(self, at: _Shares) -> _Shares | None:
        """A Newton step, shortened until it helps; sets that depend on each other leave some directions out."""
        scale = np.sqrt(at.inside * at.outside)
        curvature = (self.member * at.share) @ self.member.T - np.outer(at.inside, at.inside)
        curvature = curvature / scale[:, None] / scale[None, :]
        gradient = (at.inside - self.goal) / scale
        if not (np.isfinite(curvature).all() and np.isfinite(gradient).all()):
            return None
        step = -np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0] / scale
        if not np.isfinite(step).all():
            return None
        for halvings in range(6):
            new = self._at(at.strength + step / 2**halvings)
            if new.value < at.value - 1e-13 * abs(at.value) or new.miss < at.miss / 2:
                return new
        return None

    def _fit_in_turn(self, at: _Shares) -> _Shares:
        """Fit one set after the other: slow, and never a step in the wrong direction."""
        for j, goal in enumerate(self.goal):
            change = np.log(goal / (1 - goal)) + np.log(at.outside[j]) - np.log(at.inside[j])
            strength = at.strength.copy()
            strength[j] += np.clip(change, -30.0, 30.0)
            at = self._at(strength)
        return at


def flatten(counts: Floats, matrix: Floats, share: Floats) -> Floats:
    """From positive shares to those of greatest entropy with the same `matrix @ share`, by Newton's method.

    At the solution log(share / count) is a combination of the rows of the matrix. Each round fits the best one, every
    pattern counting by its share, and takes from each share in proportion to what the fit leaves. Shares of very
    different size keep their precision, where the dual function no longer tells them apart.
    """
    share = share / share.sum()
    for _ in range(ROUNDS):
        left = _unexplained(np.log(share / counts), matrix, share)
        share = share * (1 - left / (1 + max(left.max(), 0.0)))  # so short that it never overshoots
        if np.abs(left).max() < 1e-12:
            break
    return share


def _unexplained(target: Floats, matrix: Floats, weight: Floats) -> Floats:
    """What the best weighted fit of the target by the rows of the matrix leaves; heavy ones go first, for precision."""
    from scipy.linalg import qr, solve_triangular  # here: slow to import, rarely needed

    order = np.argsort(-weight, kind="stable")
    root = np.sqrt(weight[order])
    orthogonal, triangle, chosen = qr(root[:, None] * matrix.T[order], mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    rank = int((size > 1e-12 * size[0]).sum())
    aim = orthogonal[:, :rank].T @ (root * target[order])
    left: Floats = target - solve_triangular(triangle[:rank, :rank], aim) @ matrix[chosen[:rank]]
    return left
