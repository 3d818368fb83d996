"""How the budget is spread over the iterations: what the class at hand may cost, in whole nanocredits.

Paper: §6.4. α is the class's share of all errors; the 2018 paper gave 1/i to the i-th request. A price p is affordable
iff p · Σerrors ≤ remaining · errors; as p is whole, that is p ≤ ⌊remaining · errors / Σerrors⌋.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Turn(NamedTuple):
    """What is known when a class has its turn."""

    errors: int
    """Of the class."""
    all_errors: int
    """Of the classes that are left, this one included."""
    classes: int
    """How many are left, this one included."""
    iteration: int
    """From 1, in each round."""


Allocation = Callable[[int, Turn], int]
"""From the money that remains and a turn to the most that the class may cost."""


def by_errors(remaining: int, turn: Turn) -> int:
    """α · B, with α the class's share of the errors.

    >>> by_errors(100, Turn(errors=1, all_errors=3, classes=2, iteration=1))
    33
    """
    return remaining * turn.errors // turn.all_errors


def harmonic(remaining: int, turn: Turn) -> int:
    """B / i in iteration i."""
    return remaining // turn.iteration


def uniform(remaining: int, turn: Turn) -> int:
    """B / n, with n the classes that are left."""
    return remaining // turn.classes


ALLOCATIONS: Mapping[str, Allocation] = {"errors": by_errors, "harmonic": harmonic, "uniform": uniform}
