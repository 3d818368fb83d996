"""One spelling of values that two tables write in different ways: times, dates, numbers with units, letters."""

from __future__ import annotations

import re

_TIME = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d(?:\.\d+)?)?\s*(?:([ap])\.?\s*m\.?)?", re.IGNORECASE)
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:[ T]\d.*)?")
_NAMED_MONTH = re.compile(r"(?:(\d{1,2})[ -])?([a-z]{3})[a-z]*[. -]+(?:(\d{1,2}),? )?(\d{4})", re.IGNORECASE)
_MONTHS = {
    name: str(number) for number, name in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), start=1)
}
_DIGITS = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)")
_MEASURE = re.compile(
    r"[$€£]?\s*([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*(%|[a-z°.]{1,8}(?:/[a-z]{1,8})?)?", re.IGNORECASE
)
_OTHER = re.compile(r"[\W_]+")
_RUN = re.compile(r"([^\W\d_]+)|(\d+)")


def normal_value(value: str) -> str:
    """The value as it is compared: different spellings of one thing become one.

    >>> normal_value("7:10 p.m."), normal_value("19:10:00")
    ('t19:10', 't19:10')
    >>> normal_value("05/23/2016"), normal_value("May 23, 2016")
    ('d16-23-5', 'd16-23-5')
    >>> normal_value("12.0 oz"), normal_value("12"), normal_value("St. Mary's"), normal_value("ST MARYS")
    ('12', '12', 'stmarys', 'stmarys')
    """
    text = value.strip()
    if text[:1].isdigit():
        if (found := _TIME.fullmatch(text)) is not None:
            return _time(*found.groups())
        if (found := _DATE.fullmatch(text)) is not None:
            return _date(found[1], found[3], found[4])
        if (found := _DIGITS.fullmatch(text)) is not None:
            return _date(*found.groups())
    if (found := _NAMED_MONTH.fullmatch(text)) is not None and (month := _MONTHS.get(found[2].lower())):
        return _date(*filter(None, (found[1], month, found[3], found[4])))
    if (found := _MEASURE.fullmatch(text)) is not None:
        return _number(found[1])
    plain = _OTHER.sub("", text.casefold())
    return plain.lstrip("0") or plain[:1] if plain.isdigit() else plain


def _time(hour: str, minute: str, half: str | None) -> str:
    if half is None:
        return f"t{int(hour)}:{minute}"
    return f"t{int(hour) % 12 + (12 if half.lower() == 'p' else 0)}:{minute}"


def _date(*parts: str) -> str:
    """Which part is the month is not known, so that all orders are one."""
    return "d" + "-".join(sorted((part.lstrip("0") or "0")[-2:].lstrip("0") or "0" for part in parts))


def _number(text: str) -> str:
    plain = text.replace(",", "").lstrip("+")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
    return sign + (digits.lstrip("0") or "0")


def shape_of(value: str) -> str:
    """What a value looks like: runs of letters, and digits up to three.

    >>> shape_of("7:10 p.m."), shape_of("WA 98101-1234")
    ('9:99 a.a.', 'a 999-999')
    """
    return _RUN.sub(_shaped, value.strip()[:40])[:12]


def _shaped(run: re.Match[str]) -> str:
    return "a" if run[1] else "9" * min(3, len(run[2]))
