"""`normalized`: one spelling for values that two tables write in different ways, and mean the same.

Careful, since rows are found by it: nothing is taken to be equal that might be two things. Letters lose their case, and
white space its length; numbers go by their value; dates by their day, where the text says which is the month. Where it
does not (4/5/2016), a match may declare the order; else such a date is only like one that is written like it.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from enum import Enum

from pacas.core.hierarchy import canonical_number


class DateOrder(Enum):
    """In which order the numbers of a date stand, where it does not begin with the year."""

    UNKNOWN = ""
    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"


_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_NUMBERS = {name: n for n, full in enumerate(_MONTHS, start=1) for name in (full, full[:3])} | {"sept": 9}
_CLOCK = r"(?:[t ](\d{1,2}):(\d\d)(?::(\d\d)(?:\.0+)?)?(z|\+00:00)?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_CLOCK}", re.ASCII)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_CLOCK}", re.ASCII)
_DIGITS = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)", re.ASCII)
_MONTH = rf"({'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\.?"
_DAY_MONTH = re.compile(rf"(\d{{1,2}})[ -]{_MONTH}[ -](\d{{4}})", re.ASCII)
_MONTH_DAY = re.compile(rf"{_MONTH} (\d{{1,2}}),? (\d{{4}})", re.ASCII)


def normal_text(value: str, order: DateOrder = DateOrder.UNKNOWN) -> str:
    """The text that stands for all spellings of a value.

    >>> [normal_text(v) for v in ("51.0", " 051", "Male", "MALE ", "New  York")]
    ['51', '51', 'male', 'male', 'new york']
    >>> {normal_text(v) for v in ("2016-05-23", "5/23/2016", "23.05.2016", "May 23, 2016", "20160523")}
    {'2016-05-23'}
    >>> [normal_text("4/5/2016", order) for order in DateOrder]
    ['4/5/2016', '2016-05-04', '2016-04-05']
    """
    if value.isascii() and value.isalpha():  # a word: most values are, and are no numbers and no dates
        return value.lower()
    text = " ".join(_plain(value).split())
    number = canonical_number(text)
    return _dated(number, order) or number


def _plain(value: str) -> str:
    """Letters without their case, and without the width or the ligatures of some typesetter."""
    return value.casefold() if value.isascii() else _FORM("NFKC", _FORM("NFKC", value).casefold())


_FORM = unicodedata.normalize


def _dated(text: str, order: DateOrder) -> str | None:
    """The day that a text names, and the time if it is not midnight; None if it names none, or not surely."""
    if found := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, *clock = found.groups()
        return _iso(year, month, day, *clock)
    if found := _YEAR_LAST.fullmatch(text):
        first, sign, second, year, *clock = found.groups()
        if (days := _day_and_month(int(first), int(second), sign, order)) is not None:
            return _iso(year, days[1], days[0], *clock)
        return _like_itself(text)
    if found := _DIGITS.fullmatch(text):
        return _iso(*found.groups())
    if found := _DAY_MONTH.fullmatch(text):
        return _iso(found[3], _NUMBERS[found[2]], found[1])
    if found := _MONTH_DAY.fullmatch(text):
        return _iso(found[3], _NUMBERS[found[1]], found[2])
    return None


def _day_and_month(first: int, second: int, sign: str, order: DateOrder) -> tuple[int, int] | None:
    """Which is which: as declared; else by the dots of those who put the day first, or by a number over 12."""
    if order is DateOrder.MONTH_FIRST and sign != ".":
        return second, first
    if order is DateOrder.DAY_FIRST or sign == "." or first > 12:
        return first, second
    return (second, first) if second > 12 or first == second else None


def _like_itself(text: str) -> str:
    """A date that may be two days: as it is written, but for zeros before a number."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", text, flags=re.ASCII)


def _iso(year: str, month: str | int, day: str | int, *clock: str | None) -> str | None:
    try:
        named = date(int(year), int(month), int(day)).isoformat()
    except ValueError:  # no such day
        return None
    hour, minute, second = (int(part or 0) for part in (*clock, None, None, None)[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    if any(clock[3:]) and (hour or minute or second):  # a moment; at UTC's midnight it is a day that a tool wrote down
        return None
    return f"{named} {hour:02}:{minute:02}:{second:02}" if hour or minute or second else named


# ---- the other way ------------------------------------------------------------------------------------------------

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)


def spellings(value: str, order: DateOrder = DateOrder.UNKNOWN) -> list[str]:
    """Ways in which somebody else may write a value, its own first; each stands for it when it is normalized so.

    A place is one way of writing, whatever the value is; what cannot be written so is left as it is.

    >>> list(dict.fromkeys(spellings("51.0"))), list(dict.fromkeys(spellings("mALE")))
    (['51.0', '51'], ['mALE', 'male', 'Male', 'MALE'])
    >>> list(dict.fromkeys(spellings("5/23/2016")))[:4]
    ['5/23/2016', '2016-05-23', '23.05.2016', '05/23/2016']
    >>> [list(dict.fromkeys(spellings("4/5/2016", order)))[1] for order in DateOrder]
    ['04/05/2016', '2016-05-04', '2016-04-05']
    """
    text, plain = normal_text(value, order), " ".join(value.split())
    tried = [value, plain, text, f"{text}.0", plain.lower(), plain.capitalize(), plain.title(), plain.upper()]
    dates = [value] * 8
    if day := _ISO.fullmatch(text):
        y, m, d = day.groups()
        numbers = [f"{d}.{m}.{y}", f"{m}/{d}/{y}", f"{int(m)}/{int(d)}/{y}", f"{d}/{m}/{y}", f"{int(d)}/{int(m)}/{y}"]
        dates = [*numbers, f"{int(d)}.{int(m)}.{y}", f"{y}{m}{d}", f"{text} 00:00:00"]
    elif unsure := _YEAR_LAST.fullmatch(text):
        first, sign, second, y, *_ = unsure.groups()
        dates[1] = f"{first:0>2}{sign}{second:0>2}{sign}{y}"
    return [one if normal_text(one, order) == text else value for one in (*tried, *dates)]
