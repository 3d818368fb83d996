"""Intervals of fixed widths: ages in tens, then in thirties."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from math import isfinite

from pacas.core.builders.numeric import read_numbers
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError


def intervals(values: Sequence[str], *, widths: Sequence[float], origin: float = 0.0) -> Hierarchy:
    """One level of equal intervals per width, each aligned to `origin`, then the root.

    Intervals of whole numbers are closed, others half-open. Bounds are computed in exact decimals: with width 0.1,
    0.3 is in [0.3,0.4), where floats would put it below.

    >>> list(intervals(["31", "45", "61"], widths=[10, 30], origin=1).rows())[0]
    ('31', '[31,40]', '[31,60]', '*')
    """
    column = read_numbers(values)
    numbers = [Decimal(label) for label in column.labels]
    steps = [_exact(width, "widths") for width in widths]
    start = _exact(origin, "origin")
    decimals = max(_decimals(number) for number in (*numbers, *steps, start))
    scaled_steps = [_scaled(step, decimals) for step in steps]
    _check_widths(scaled_steps)
    offset = _scaled(start, decimals)
    finest = [(_scaled(number, decimals) - offset) // scaled_steps[0] for number in numbers]
    levels = []
    for step in scaled_steps:
        index = [i // (step // scaled_steps[0]) for i in finest]
        labels = {i: _label(offset + i * step, step, decimals) for i in dict.fromkeys(index)}
        levels.append([labels[i] for i in index])
    return column.hierarchy(levels)


def _exact(number: float, option: str) -> Decimal:
    if not isfinite(number):
        raise HierarchyError(f"{option} must be finite")
    return Decimal(str(number))


def _decimals(number: Decimal) -> int:
    """How many decimal places the number has."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= 0 or number == int(number):
        return 0
    return -exponent


def _scaled(number: Decimal, decimals: int) -> int:
    top, bottom = number.as_integer_ratio()
    return top * (int(10**decimals) // bottom)


def _check_widths(steps: Sequence[int]) -> None:
    if not steps:
        raise HierarchyError("widths must name at least one width, e.g. widths = [10, 30]")
    if steps[0] <= 0:
        raise HierarchyError("widths must be above 0")
    if any(wide <= narrow or wide % narrow for narrow, wide in pairwise(steps)):
        raise HierarchyError("widths must increase, each a multiple of the one before, e.g. widths = [10, 30]")


def _label(low: int, width: int, decimals: int) -> str:
    if decimals == 0:
        return f"[{low},{low + width - 1}]"
    return f"[{_text(low, decimals)},{_text(low + width, decimals)})"


def _text(scaled: int, decimals: int) -> str:
    return f"{Decimal(f'{scaled}e-{decimals}'):f}".rstrip("0").removesuffix(".")
