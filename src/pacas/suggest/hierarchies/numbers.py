"""Numbers in intervals of round widths, each level nested in the next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from math import floor, inf, isfinite, log, log10

from pacas.core.hierarchy import EXACT, NUMBER
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.hierarchies.built_tree import DraftHierarchy, built

FINEST = 20
"""Intervals that the finest level has, about, where there are values enough."""
MOST_LEVELS = 3
OUTLIERS = 100
"""One in so many numbers at each end says nothing about the width of intervals."""
FEWEST_VALUES = 5
"""Fewer numbers are told apart without intervals."""

_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)


def intervals_of(column: ProfiledColumn) -> DraftHierarchy | None:
    """Intervals whose widths are 1, 2 or 5 times a power of ten."""
    numbers = sorted({Decimal(text) for value in column.values if (text := read_number(value)) is not None})
    outliers = len(numbers) // OUTLIERS
    usual = numbers[outliers : len(numbers) - outliers]
    widths = nested_widths(usual) if len(numbers) >= FEWEST_VALUES else []
    if not widths:
        return None
    said = ", ".join(f"{width:g}" for width in widths)
    return built(column, read_number, f"intervals of width {said}", "intervals", widths=widths)


def read_number(text: str) -> str | None:
    """A number as a builder takes it: without spaces around, thousands' commas or a percent sign.

    >>> read_number("51.0"), read_number(" 1,200 "), read_number("12 %"), read_number("n/a")
    ('51.0', '1200', '12', None)
    """
    if len(text) > 40:
        return None
    plain = text.strip().removesuffix("%").strip()
    plain = plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain
    return plain if NUMBER.fullmatch(plain) and isfinite(float(plain)) else None


def nested_widths(numbers: Sequence[Decimal]) -> list[int | float]:
    """Up to three widths, each a multiple of the one before, by which numbers (ascending) fall into fewer and fewer.

    >>> nested_widths([Decimal(age) for age in range(17, 91)])
    [5, 10, 20]
    """
    span = float(numbers[-1]) - float(numbers[0])
    if not 0 < span < inf:
        return []
    is_whole = all(number == number.to_integral_value() for number in numbers)
    intervals = max(2.0, min(FINEST, len(numbers) / 3))
    power = floor(log10(span / intervals))
    round_widths = [Decimal(digit).scaleb(at) for at in range(power - 1, power + 3) for digit in (1, 2, 5)]
    fitting = [width for width in round_widths if width >= 2 or not is_whole] or [Decimal(2)]
    width = min(fitting, key=lambda width: abs(log(span / float(width) / intervals)))
    widths, last = [], len(numbers)
    for _ in range(MOST_LEVELS):
        labels = len({floor(float(number) / float(width)) for number in numbers})
        if labels < 2:
            break
        if labels < last:
            widths.append(width)
            last = labels
        width *= _next_step(width, span)
    return [int(width) if width == int(width) < EXACT else float(width) for width in widths]


def _next_step(width: Decimal, span: float) -> int:
    """From 1, 2 or 5 times a power of ten to another: the step that leaves several intervals."""
    match width.as_tuple().digits[0]:
        case 1:
            return 5 if span / float(width) > 2 * FINEST else 2
        case digit:
            return 10 // digit
