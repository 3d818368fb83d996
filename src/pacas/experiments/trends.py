"""What a curve does: rise, fall, or neither."""

from __future__ import annotations

from itertools import pairwise
from math import log

from pacas.experiments.runs.runs import Curve

SLIGHT = 0.02
"""A change by less than this share of the largest value is none."""
NOISE = 0.1
"""A time that changes by less than this share has not changed."""


def rises(curve: Curve) -> bool:
    """Does it end higher than it begins, and never fall by more than slightly on the way?

    >>> rises({1: 10.0, 2: 15.0, 3: 14.9}), rises({1: 10.0, 2: 20.0, 3: 15.0}), rises({1: 10.0, 2: 10.1})
    (True, False, False)
    """
    values = list(curve.values())
    slight = SLIGHT * max(map(abs, values), default=0.0)
    never_falls = all(b >= a - slight for a, b in pairwise(values))
    return len(values) > 1 and never_falls and values[-1] > values[0] + slight


def falls(curve: Curve) -> bool:
    """The opposite.

    >>> falls({1: 3.0, 2: 2.0}), falls({1: 2.0, 2: 3.0}), falls({})
    (True, False, False)
    """
    return rises({x: -value for x, value in curve.items()})


def gets_longer(times: Curve) -> bool:
    """Is the last time longer than the first? Those between are too noisy to be asked.

    >>> gets_longer({1: 1.0, 2: 0.9, 3: 1.2}), gets_longer({1: 1.0, 2: 1.05})
    (True, False)
    """
    seconds = list(times.values())
    return len(seconds) > 1 and seconds[-1] > (1 + NOISE) * seconds[0]


def gets_shorter(times: Curve) -> bool:
    """The opposite."""
    return gets_longer(dict(reversed(list(times.items()))))


def exponent(curve: Curve) -> float:
    """By which power of x it grows, from its first to its last point: 1 is linear, 0 is not at all.

    >>> round(exponent({10: 5.0, 40: 10.0}), 3)
    0.5
    """
    points = [(x, y) for x, y in curve.items() if x > 0 and y > 0]
    if len(points) < 2:
        return 0.0
    (x, y), (last_x, last_y) = points[0], points[-1]
    return log(last_y / y) / log(last_x / x)


def told(curve: Curve) -> str:
    """Its values, one after the other.

    >>> told({1: 0.12345, 2: 1234.5})
    '0.123, 1,234'
    """
    return ", ".join(map(number, curve.values()))


def number(value: float) -> str:
    """Three digits, or all before the point."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):g}"
