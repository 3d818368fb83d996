"""Dates by month, quarter, year and decade, however they are written; times of day by the hour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from pacas.core.builders.date import LEVELS, PERIODS, is_date
from pacas.core.builders.labelled_values import OTHER, labelled_tree
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.hierarchies.built_tree import DraftHierarchy, Reader, built
from pacas.suggest.kind import MOSTLY

_YEAR_FIRST = re.compile(r"(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d\d)(\d\d))(?:[ T].*)?", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)(?:[ T].*)?", re.ASCII)
_NAMED_MONTH = re.compile(
    r"(?:(\d{1,2})[ .-]+)?([a-z]{3,9})\.?[ .-]+(?:(\d{1,2}),?[ ])?(\d{4})", re.ASCII | re.IGNORECASE
)
_TIME = re.compile(r"(\d{1,2}):\d\d(?::\d\d)?\s*(?:([ap])\.?\s*m\.?)?", re.ASCII | re.IGNORECASE)
LONGEST = 40
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
PIVOT = 50
"""Years of two digits from here on are of the last century."""


def periods_of(column: ProfiledColumn) -> DraftHierarchy | None:
    """The periods that tell some of a column's dates apart and bring others together, if most values are dates."""
    read = _reader(column.values)
    read_as = [read(value) for value in column.values]
    rows = int(column.counts[[text is not None for text in read_as]].sum())
    levels = _levels_that_tell({text for text in read_as if text is not None})
    if not levels or rows < MOSTLY * column.present:
        return None
    return built(column, read, f"dates by {', '.join(levels)}", "date", levels=levels)


def _levels_that_tell(dates: set[str]) -> list[str]:
    told, last = [], len(dates)
    for level in LEVELS:
        labels = len(set(map(PERIODS[level], dates)))
        if 1 < labels < last:
            told.append(level)
            last = labels
    return told


def _reader(values: Sequence[str]) -> Reader:
    """How this column's dates are read; which of 3/4/2020 is the month follows from the dates that only fit one way."""
    ends = [match for value in values if len(value) <= LONGEST and (match := _YEAR_LAST.fullmatch(value.strip()))]
    is_day_first = sum(int(end[1]) > 12 for end in ends) > sum(int(end[3]) > 12 for end in ends)

    def read(text: str) -> str | None:
        if is_date(text):
            return text
        plain = text.strip() if len(text) <= LONGEST else ""
        if found := _YEAR_FIRST.fullmatch(plain):
            return _iso(found[1], found[3] or found[5], found[4] or found[6])
        if found := _YEAR_LAST.fullmatch(plain):
            month, day = (found[3], found[1]) if is_day_first else (found[1], found[3])
            return _iso(found[4], month, day)
        if found := _NAMED_MONTH.fullmatch(plain):
            month = next((str(n) for n, name in enumerate(MONTHS, 1) if name.startswith(found[2].lower())), "0")
            return _iso(found[4], month, found[1] or found[3] or "1")
        return None

    return read


def _iso(year: str, month: str, day: str) -> str | None:
    whole = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= PIVOT else 2000)
    try:
        return date(whole, int(month), int(day)).isoformat()
    except ValueError:
        return None


def hours_of(column: ProfiledColumn) -> DraftHierarchy | None:
    """Times of day by the hour, then by quarters of the day."""
    hours = {value: _hour(value) for value in column.values}
    if len({hour for hour in hours.values() if hour is not None}) < 2:
        return None
    labels = {
        value: (OTHER, OTHER) if hour is None else (f"{hour:02}h", f"{hour // 6 * 6:02}h–{hour // 6 * 6 + 5:02}h")
        for value, hour in hours.items()
    }
    return DraftHierarchy("times by hour and quarter of the day", labelled_tree(labels))


def _hour(text: str) -> int | None:
    found = _TIME.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found is None or int(found[1]) > 24:
        return None
    hour = int(found[1]) % 24
    return hour if found[2] is None else hour % 12 + 12 * (found[2].lower() == "p")
