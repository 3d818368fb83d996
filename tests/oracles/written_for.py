"""Slips of the pen, letter by letter: how likely one text is written where another was meant."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from oracles.tree import Value
from oracles.weighing import NONE, Column


def edits(one: str, other: str) -> int:
    """The fewest letters to insert, leave out, exchange, or swap with their neighbours, also if others come between."""

    @cache
    def of(i: int, j: int) -> int:
        """Of the first i letters of the one and the first j of the other."""
        if i == 0 or j == 0:
            return i + j
        ways = [of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (one[i - 1] != other[j - 1])]
        ways += [
            of(k - 1, m - 1) + (i - k - 1) + 1 + (j - m - 1)
            for k in range(1, i)
            for m in range(1, j)
            if one[k - 1] == other[j - 1] and one[i - 1] == other[m - 1]
        ]
        return min(ways)

    return of(len(one), len(other))


def slip(shown: str, meant: str) -> Fraction:
    """How likely a slip is just this one: one edit, or in longer texts a few; none, if it is none."""
    far = edits(shown, meant)
    if far == 1 and len(meant) > 2:
        return Fraction(0.05)
    if 0 < far <= min(max(2, len(meant) // 8), 3) and len(meant) > 4:
        return Fraction(0.01)
    return NONE


def written_for(column: Column, shown: Value, meant: Value) -> Fraction:
    """How likely a value is written where another was meant: as any of the column, or as a slip, if it is rare."""
    chance = max(Fraction(column.count[shown]), Fraction(1, 2)) / len(column.cells)
    if column.count[shown] * 5 <= column.count[meant]:
        chance = max(chance, slip(str(shown), str(meant)))
    return chance
