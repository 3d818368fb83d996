"""Counts in words."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number and what it counts, in the singular where it is one.

    >>> counted(1, "class", "classes"), counted(2_000, "cell")
    ('1 class', '2,000 cells')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
