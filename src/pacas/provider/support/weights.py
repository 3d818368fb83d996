"""How a provider's total is spread over the neighbours of its support set, in whole nanocredits.

Weights are uniform, or proportional to sensitivity factors, and sum to the total exactly. Proportions are kept as
fractions, never as floats. Weights under given view prices are in `price_points`.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm

import numpy as np

from pacas.core.money import CREDIT, credits_text
from pacas.engine.grouping import Ints
from pacas.errors import InputError

Factor = int | float | str | Decimal | Fraction

LEAST_WEIGHT = 100
"""A neighbour weighs at least so many nanocredits, where weights are uniform or by sensitivity."""

MOST_TOTAL = 10**9 * CREDIT
"""The largest total: every sum of weights then fits 64 bits."""


def uniform_weights(total: int, count: int) -> Ints:
    """`total` nanocredits over `count` neighbours, as equal as whole numbers allow, summing to it exactly."""
    check_total(total)
    base, rest = divmod(total, max(count, 1))
    weights = np.full(count, base, dtype=np.int64)
    weights[:rest] += 1
    return weights


def sensitivity_weights(total: int, counts: Sequence[int], factors: Sequence[Factor]) -> Ints:
    """`total` nanocredits in proportion to sensitivity factors, each weight within one of its share.

    The neighbours are numbered run after run: `counts[i]` of them have the factor `factors[i]`. A factor is the decimal
    that is written. Shares are rounded by largest remainder, the lowest number first among equal ones.
    """
    base, raised = _apportion(total, counts, factors)
    weights = np.repeat(np.array(base, dtype=np.int64), counts)
    first = 0
    for count, more in zip(counts, raised, strict=True):
        weights[first : first + more] += 1
        first += count
    return weights


class Weighing:
    """What neighbours weigh, by their numbers: the same as in the whole array, which need not be made.

    Without factors the weights are uniform. Runs of neighbours are as for `sensitivity_weights`.
    """

    def __init__(self, total: int, counts: Sequence[int], factors: Sequence[Factor] | None = None) -> None:
        self.total = total
        if factors is None:
            counts, factors = [sum(counts)], [1]
        base, raised = _apportion(total, counts, factors)
        self._base, self._raised = np.array(base, dtype=np.int64), np.array(raised, dtype=np.int64)
        self._first = np.cumsum([0, *counts[:-1]], dtype=np.int64)

    def of(self, numbers: Ints) -> Ints:
        """The weight of each, in nanocredits."""
        run = np.searchsorted(self._first, numbers, side="right") - 1  # of runs that begin alike the last has members
        weights: Ints = self._base[run] + (numbers - self._first[run] < self._raised[run])
        return weights


def check_weights(total: int, counts: Sequence[int], factors: Sequence[Factor] | None = None) -> None:
    """An error if a neighbour would weigh under 100 nanocredits; it names a total that suffices.

    For uniform weights (no factors) and weights by sensitivity. It is no rule for price points: there a neighbour may
    lawfully weigh little or nothing, as when a view is free.
    """
    factors = [1] * len(counts) if factors is None else factors
    base, raised = _apportion(total, counts, factors)
    runs = zip(counts, base, raised, strict=True)
    least = min((low + (more == count) for count, low, more in runs if count), default=LEAST_WEIGHT)
    if least >= LEAST_WEIGHT:
        return
    enough = _sufficient_total(counts, factors)
    if enough > MOST_TOTAL:
        raise InputError(
            f"the least neighbour would weigh {least} nanocredits, under the {LEAST_WEIGHT} it needs, and no total up "
            f"to {credits_text(MOST_TOTAL)} credits suffices; bring the sensitivity factors closer together"
        )
    raise InputError(
        f"a total of {credits_text(total)} credits is too small: the least neighbour would weigh {least} nanocredits, "
        f"under the {LEAST_WEIGHT} it needs; a total of {credits_text(enough)} credits suffices"
    )


def check_total(total: int) -> None:
    """An error unless the total, in nanocredits, is one that weights can sum to."""
    if not 0 <= total <= MOST_TOTAL:
        raise InputError(f"the total must be from 0 to {credits_text(MOST_TOTAL)} credits")


def _apportion(total: int, counts: Sequence[int], factors: Sequence[Factor]) -> tuple[list[int], list[int]]:
    """Per run: the share of a neighbour rounded down, and how many of the run's neighbours get one more."""
    check_total(total)
    shares = _whole_factors(factors)
    everything = sum(count * share for count, share in zip(counts, shares, strict=True))
    parts = [divmod(total * share, everything) if everything else (0, 0) for share in shares]
    left = total - sum(count * low for count, (low, _) in zip(counts, parts, strict=True)) if everything else 0
    raised = [0] * len(parts)
    for run in sorted(range(len(parts)), key=lambda run: (-parts[run][1], run)):
        raised[run] = min(left, int(counts[run]))
        left -= raised[run]
    return [low for low, _ in parts], raised


def _sufficient_total(counts: Sequence[int], factors: Sequence[Factor]) -> int:
    """The least total in which each neighbour's share, before rounding, is the least weight or more."""
    shares = _whole_factors(factors)
    everything = sum(count * share for count, share in zip(counts, shares, strict=True))
    smallest = min(share for count, share in zip(counts, shares, strict=True) if count)
    return -(-LEAST_WEIGHT * everything // smallest)


def _whole_factors(factors: Sequence[Factor]) -> list[int]:
    """Whole numbers in the proportions of the factors."""
    exact = [_fraction(factor) for factor in factors]
    denominator = lcm(*(factor.denominator for factor in exact))
    return [int(factor * denominator) for factor in exact]


def _fraction(factor: Factor) -> Fraction:
    try:
        exact = Fraction(str(factor))
    except (ValueError, ZeroDivisionError):
        exact = Fraction(0)
    if exact <= 0:
        raise InputError(f"a sensitivity factor must be a positive number, not {factor!r}")
    return exact
