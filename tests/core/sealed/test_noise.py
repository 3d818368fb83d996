"""Noise: the distribution that it claims to have, drawn anew alike."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, sqrt

import pytest

from pacas.core.sealed.noise import discrete_laplace, secret_numbers

DRAWS = 20_000


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(7, 3)])
def test_it_is_discrete_laplace(scale: Fraction) -> None:
    """Each frequency within five standard deviations; the draws follow from their seed, and so does the verdict."""
    below = secret_numbers(b"seed", f"{scale}")
    found = Counter(discrete_laplace(scale, below) for _ in range(DRAWS))
    q = exp(-1 / scale)
    for x in range(-6, 7):
        p = (1 - q) / (1 + q) * q ** abs(x)
        assert abs(found[x] - DRAWS * p) < 5 * sqrt(DRAWS * p * (1 - p)) + 1


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 256, 1000])
def test_numbers_are_all_alike(bound: int) -> None:
    below = secret_numbers(b"seed", "alike")
    found = Counter(below(bound) for _ in range(DRAWS))
    assert min(found) >= 0 and max(found) < bound
    p = 1 / bound
    assert all(abs(n - DRAWS * p) < 5 * sqrt(DRAWS * p * (1 - p)) + 5 for n in found.values())


def test_a_secret_and_a_purpose_say_which_numbers() -> None:
    def drawn(secret: bytes, purpose: str) -> list[int]:
        below = secret_numbers(secret, purpose)
        return [below(1000) for _ in range(9)]

    assert drawn(b"a", "prior A") == drawn(b"a", "prior A")
    assert len({tuple(drawn(*given)) for given in [(b"a", "prior A"), (b"b", "prior A"), (b"a", "prior B")]}) == 3
