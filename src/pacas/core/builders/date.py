"""Dates in months, quarters, years and decades."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date as Date
from datetime import datetime as DateTime
from itertools import pairwise

from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.errors import HierarchyError, did_you_mean

LEVELS = ("month", "quarter", "year", "decade")

_SHAPE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?", re.ASCII)


def date(values: Sequence[str], *, levels: Sequence[str] | None = None) -> Hierarchy:
    """One level per period, each nested in the next, then the root.

    Values are ISO dates, or dates with a time of day. Unless given, the levels are months, quarters, years and
    decades, and above values that all have a time, days.

    >>> list(date(["2024-05-17"], levels=["month", "quarter", "year"]).rows())
    [('2024-05-17', '2024-05', '2024-Q2', '2024', '*')]
    """
    wrong = sum(not is_date(v) for v in values)
    if wrong:
        raise HierarchyError(
            f"{wrong:,} of {len(values):,} values are not dates like YYYY-MM-DD or YYYY-MM-DD HH:MM:SS"
        )
    bare = sum(len(v) == len("YYYY-MM-DD") for v in values)
    if levels is None:
        levels = LEVELS if bare else ("day", *LEVELS)
    _check_levels(levels)
    if bare and levels[0] in ("hour", "day"):
        raise HierarchyError(f"level {levels[0]!r} needs a time of day, which {bare:,} of {len(values):,} values lack")
    rows = [(v, *(PERIODS[level](v) for level in levels), ROOT) for v in sorted(set(values))]
    return Hierarchy.from_rows(rows)


def is_date(text: str) -> bool:
    """Whether a text is a date that the builder takes."""
    if not _SHAPE.fullmatch(text):
        return False
    try:
        DateTime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True


def _week(text: str) -> str:
    year, week, _ = Date.fromisoformat(text[:10]).isocalendar()
    return f"{year}-W{week:02}"


PERIODS: Mapping[str, Callable[[str], str]] = {
    "hour": lambda text: text[:10] + " " + text[11:13] + "h",
    "day": lambda text: text[:10],
    "week": _week,
    "month": lambda text: text[:7],
    "quarter": lambda text: f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}",
    "year": lambda text: text[:4],
    "decade": lambda text: text[:3] + "0s",
}
"""The label of the period that holds a date, finest period first. Weeks are ISO weeks."""


def _check_levels(levels: Sequence[str]) -> None:
    order = list(PERIODS)
    for level in levels:
        if level not in PERIODS:
            raise HierarchyError(f"no date level {level!r}; {did_you_mean(level, order)}")
    if not levels:
        raise HierarchyError('levels must name at least one period, e.g. levels = ["month", "year"]')
    for below, above in pairwise(levels):
        if order.index(above) <= order.index(below):
            raise HierarchyError(f"a {below} does not lie in a {above}; name the levels from fine to coarse")
        if below == "week":
            raise HierarchyError(f"a week does not lie in one {above}; only the root can stand above weeks")
