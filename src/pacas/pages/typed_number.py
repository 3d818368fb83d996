"""Whole numbers as they come in addresses and forms: short ones, as Python's int fails at very long ones."""

from __future__ import annotations

MOST_DIGITS = 18


def typed_number(text: str | None) -> int | None:
    """A whole number that somebody typed, with commas or without; None for all else.

    >>> typed_number("1,000"), typed_number("-1"), typed_number("²"), typed_number("9" * 19), typed_number(None)
    (1000, None, None, None, None)
    """
    digits = (text or "").strip().replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS else None
