"""The ranges of an Amnesia hierarchy: their spelling, and the whole numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from pacas.core.hierarchies.lint import HierarchyRow
from pacas.core.hierarchy import canonical_number
from pacas.engine.hierarchy_files.raw_hierarchy import not_a_tree
from pacas.errors import FileError

NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
NUMBERS = re.compile(rf"({NUMBER})[,-]({NUMBER})", re.ASCII)
DATE = r"(?:\d{1,2}/){0,2}\d{4}"
DATES = re.compile(rf"({DATE})(?:[,-]({DATE}))?", re.ASCII)

MOST = 1_000_000
"""The most ground values that the ranges of a file may stand for."""


def number_range(word: str, where: str) -> str:
    """A range of numbers in its one spelling.

    >>> number_range("-5.0,-1.5", ""), number_range("0-9", "")
    ('-5--1.5', '0-9')
    """
    bounds = NUMBERS.fullmatch(word)
    if bounds is None:
        raise FileError(f"{where}: {word!r} is not a range of numbers such as '0,9'")
    low, high = map(canonical_number, bounds.groups())
    if float(low) > float(high):
        raise FileError(f"{where}: the range {word!r} ends before it begins")
    return f"{low}-{high}"


def date_range(word: str, where: str) -> str:
    bounds = DATES.fullmatch(word)
    if bounds is None:
        raise FileError(f"{where}: {word!r} is not a range of dates such as '1/1990,6/1990'")
    low, high = bounds.groups()
    return low if high is None else f"{low}-{high}"


def expand(rows: Sequence[HierarchyRow], path: Path) -> Iterator[HierarchyRow]:
    """A row for each whole number in the finest ranges, which become level 1."""
    first = {row.labels[0]: row for row in rows}
    ranges = sorted((*_whole(row, path), row.labels[0]) for row in first.values())
    total = sum(high - low + 1 for low, high, _ in ranges)
    if total > MOST:
        raise FileError(
            f"{path}: its ranges hold {total:,} whole numbers, more than {MOST:,}; build it with 'intervals'"
        )
    ends = {name: high for _, high, name in ranges}
    for (low, high, name), (following, _, other) in pairwise(ranges):
        if following < high or following == low:
            raise not_a_tree(path, first[other].line, f"the ranges {name!r} and {other!r} overlap")
        ends[name] = high - (following == high)
    for row in rows:
        low, _ = _whole(row, path)
        for number in range(low, ends[row.labels[0]] + 1):
            yield HierarchyRow((str(number), *row.labels), row.line)


def _whole(row: HierarchyRow, path: Path) -> tuple[int, int]:
    bounds = NUMBERS.fullmatch(row.labels[0])
    low, high = (float(bound) for bound in bounds.groups()) if bounds else (0.5, 0.5)
    if low != int(low) or high != int(high):
        raise not_a_tree(path, row.line, f"{row.labels[0]!r} has bounds that are not whole, in a hierarchy of type int")
    return int(low), int(high)
