"""Weights under given view prices: of all that meet them, those of maximum entropy.

A *price point* says what a view costs: the neighbours that conflict with it together weigh its price. Few points,
millions of neighbours: neighbours that conflict with the same views weigh the same, so the unknowns are the masses of
these *patterns*. Floating point finds their proportions (`max_entropy`); what holds and what clashes is decided in
whole numbers (`exact_basis`), so that a price is met to the nanocredit wherever whole weights can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pacas.engine.grouping import Ints
from pacas.errors import InputError, PacasError
from pacas.provider.pricing.exact_basis import ARTIFICIAL, ExactBasis
from pacas.provider.pricing.max_entropy import Floats, MaxEntropy, flatten
from pacas.provider.support.weights import check_total

NEAR = 1e-6
GRIDS = (1, 2**20)
"""Masses are first sought in whole nanocredits, then in millionths."""


@dataclass(frozen=True, eq=False, repr=False)
class PricePoint:
    """A view's price, in nanocredits, and the numbers of the neighbours that conflict with it."""

    name: str
    conflicts: Ints
    price: int


def price_point_weights(total: int, count: int, points: Sequence[PricePoint]) -> Ints:
    """The weights of `count` neighbours that sum to `total` and meet the price points, of maximum entropy.

    They are whole nanocredits ≥ 0 and sum to `total` exactly; the conflicting neighbours of each point weigh its price
    within one nanocredit for each of them. Points that cannot hold together are an error that names a smallest such
    set: without any one of them, the others can.
    """
    check_total(total)
    for point in points:
        _check_point(point, total, count)
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    problem = _Problem.of(total, count, points)
    masses = _whole(_masses(problem), total)
    _verify(problem, masses)
    return _spread(problem, masses)


@dataclass(frozen=True, eq=False, repr=False)
class _Problem:
    """What the patterns must weigh: `matrix @ masses = right`. Row 0 is the total, row j the j-th point."""

    names: tuple[str, ...]
    pattern: Ints
    counts: Ints
    matrix: Ints
    right: tuple[int, ...]

    @classmethod
    def of(cls, total: int, count: int, points: Sequence[PricePoint]) -> _Problem:
        pattern = np.zeros(count, dtype=np.int64)
        matrix = np.ones((1, 1), dtype=np.int64)
        for point in points:
            known = matrix.shape[1]
            conflicts = np.asarray(point.conflicts, dtype=np.int64)
            pattern[conflicts] = pattern[conflicts] + known  # assigned, not added up: a number given twice counts once
            present = np.bincount(pattern, minlength=2 * known) > 0
            pattern = (np.cumsum(present) - 1)[pattern]
            inside = np.repeat([0, 1], known)
            matrix = np.vstack([np.tile(matrix, 2), inside])[:, present]
        counts = np.bincount(pattern, minlength=matrix.shape[1])
        return cls(tuple(p.name for p in points), pattern, counts, matrix, (total, *(p.price for p in points)))

    def rows(self, rows: Sequence[int]) -> ExactBasis:
        """The system of some of the points, and the total."""
        kept = [0, *rows]
        return ExactBasis(self.matrix[kept], [self.right[row] for row in kept])


def _check_point(point: PricePoint, total: int, count: int) -> None:
    conflicts = len(point.conflicts)
    if conflicts and not (point.conflicts.min() >= 0 and point.conflicts.max() < count):
        raise InputError(f"price point {point.name!r} names neighbours that the support set does not have")
    if conflicts >= count:
        conflicts = len(np.unique(point.conflicts))
    if not 0 <= point.price <= total:
        raise InputError(f"the price of price point {point.name!r} must be from 0 to the total")
    if point.price and not conflicts:
        raise InputError(f"price point {point.name!r} conflicts with no neighbour: its price can only be 0")
    if point.price < total and count and conflicts == count:
        raise InputError(f"price point {point.name!r} conflicts with every neighbour: its price can only be the total")


def _masses(problem: _Problem) -> list[Fraction]:
    """The masses of the patterns, in nanocredits: exactly a solution, and of maximum entropy as floats tell it."""
    patterns = _not_free(problem)
    shares = _shares(problem, patterns)
    candidates = [] if shares is None else _near(problem, patterns, shares)
    if not any(min(found[g] for g in patterns) > 0 for found in candidates):
        inner = _interior(problem)  # the points may clash, or force further patterns to zero
        patterns = np.flatnonzero([mass > 0 for mass in inner])
        candidates = _near(problem, patterns, _flattened(problem, patterns, inner)) if len(patterns) else []
        candidates.append(_between(candidates[-1], inner) if candidates else inner)
    return next(found for found in candidates if min(found) >= 0)


def _not_free(problem: _Problem) -> Ints:
    """The patterns that no single point forces to zero: by costing nothing, or by costing all that there is."""
    total, *prices = problem.right
    free = np.zeros(len(problem.counts), dtype=bool)
    for row, price in zip(problem.matrix[1:], prices, strict=True):
        free |= ((row == 1) & (price == 0)) | ((row == 0) & (price == total))
    return np.flatnonzero(~free & (total > 0))


def _interior(problem: _Problem) -> list[Fraction]:
    """A solution that is positive wherever any is; an error if there is none."""
    basis = problem.rows(range(1, len(problem.right)))
    contradiction = basis.find_solution()
    if contradiction:
        raise _clash(problem, [row for row in contradiction if row])
    return basis.interior()


def _clash(problem: _Problem, rows: list[int]) -> InputError:
    """The error that names a smallest set of points that cannot hold together: drop what need not be there."""
    for row in list(rows):
        others = [other for other in rows if other != row]
        if problem.rows(others).find_solution():
            rows = others
    named = ", ".join(repr(problem.names[row - 1]) for row in rows)
    return InputError(
        f"these price points cannot hold together: {named}; change the price of one of them, or the total"
    )


def _near(problem: _Problem, patterns: Ints, shares: Floats) -> list[list[Fraction]]:
    """Exact solutions next to given shares of some patterns, the others zero; a mass may turn out negative."""
    basis = ExactBasis(problem.matrix[:, patterns], problem.right)
    basis.enter_greedily(np.argsort(-shares, kind="stable").tolist())
    on_grids = (_on_grid(problem, patterns, shares, basis, grid) for grid in GRIDS)
    return [found for found in on_grids if found is not None]


def _on_grid(problem: _Problem, patterns: Ints, shares: Floats, basis: ExactBasis, grid: int) -> list[Fraction] | None:
    """Masses rounded to a grid (so many to the nanocredit), except those of the basis, which follow from the others."""
    chosen = [column for column in basis.columns if column != ARTIFICIAL]
    masses = np.array([round(share * problem.right[0] * grid) for share in shares.tolist()], dtype=object)
    masses[chosen] = 0
    given = problem.matrix[:, patterns].astype(object) @ masses
    values = basis.complete(np.array(problem.right, dtype=object) * grid - given)
    if values is None:
        return None
    exact = [Fraction(0)] * len(problem.counts)
    for pattern, mass in zip(patterns.tolist(), masses, strict=True):
        exact[pattern] = Fraction(mass, grid)
    for column, value in zip(basis.columns, values, strict=True):
        if column != ARTIFICIAL:
            exact[patterns[column]] = value / grid
    return exact


def _shares(problem: _Problem, patterns: Ints) -> Floats | None:
    """The maximum-entropy shares of some patterns, if all can be positive; nothing where none are found."""
    total, *prices = problem.right
    inside = problem.matrix[1:, patterns]
    telling = [j for j, row in enumerate(inside) if 0 < row.sum() < len(patterns)]
    if not len(patterns) or not all(0 < prices[j] < total for j in telling):
        return None
    dear = np.array([2 * prices[j] > total for j in telling], dtype=bool)
    goals = np.array([min(prices[j], total - prices[j]) / total for j in telling])
    member = np.where(dear[:, None], 1 - inside[telling], inside[telling]).astype(np.float64)
    shares, miss = MaxEntropy(problem.counts[patterns].astype(np.float64), member, goals).solve()
    return shares if miss < NEAR else None


def _flattened(problem: _Problem, patterns: Ints, inner: list[Fraction]) -> Floats:
    """The maximum-entropy shares of the patterns that can be positive, from a solution in which they are."""
    shares = np.array([float(inner[pattern] / problem.right[0]) for pattern in patterns])
    matrix = problem.matrix[:, patterns].astype(np.float64)
    return flatten(problem.counts[patterns].astype(np.float64), matrix, shares)


def _between(found: list[Fraction], inner: list[Fraction]) -> list[Fraction]:
    """The solution nearest to the one found, on the way to an inner one, that has no negative mass."""
    pairs = list(zip(found, inner, strict=True))
    way = max((-mass / (good - mass) for mass, good in pairs if mass < 0), default=Fraction(0))
    return [mass + way * (good - mass) for mass, good in pairs]


def _whole(masses: list[Fraction], total: int) -> list[int]:
    """Masses rounded to whole nanocredits by largest remainder, so that they sum to the total."""
    whole = [mass.numerator // mass.denominator for mass in masses]
    by_remainder = sorted(range(len(masses)), key=lambda g: whole[g] - masses[g])
    for g in by_remainder[: total - sum(whole)]:
        whole[g] += 1
    return whole


def _verify(problem: _Problem, masses: list[int]) -> None:
    """Nothing leaves here that breaks a price: masses sum to the total, and each point holds within its bound."""
    given = problem.matrix.astype(object) @ np.array(masses, dtype=object)
    bounds = problem.matrix @ problem.counts
    misses = [abs(found - price) for found, price in zip(given, problem.right, strict=True)]
    if min(masses) < 0 or misses[0] or any(miss > bound for miss, bound in zip(misses, bounds, strict=True)):
        raise PacasError("the weights found do not meet the price points; give the points rounder prices")


def _spread(problem: _Problem, masses: list[int]) -> Ints:
    """The mass of each pattern over its neighbours, as equally as whole numbers allow, the lowest number first."""
    base, rest = np.divmod(np.array(masses, dtype=np.int64), problem.counts)
    small = problem.pattern.astype(np.uint16) if len(masses) < 2**16 else problem.pattern  # sorts in linear time
    order = np.argsort(small, kind="stable")
    first = np.cumsum(problem.counts) - problem.counts
    number = np.arange(len(order)) - np.repeat(first, problem.counts)
    weights = np.empty(len(order), dtype=np.int64)
    weights[order] = np.repeat(base, problem.counts) + (number < np.repeat(rest, problem.counts))
    return weights
