"""What a reconciliation client sends: batches of queries, and data extensions. A number keeps its digits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pacas.core.money import not_negative
from pacas.errors import InputError
from pacas.server.http.failures import Failure
from pacas.wire.shapes.base import LONGEST_TEXT
from pacas.wire.shapes.failures import ErrorCode

FINEST = "finest"
"""The level of who wants the finest that is sold and within the ceiling."""
MOST_BOUGHT = 10
"""Rows that a call buys for: as many as OpenRefine sends when it adds a column. A preview has those of a whole page."""
ON = ("on", "true", "yes", "1")
"""What a ticked box may read: OpenRefine sends `on`."""


@dataclass(frozen=True, slots=True)
class AskedRow:
    """One query: the text of the column that is reconciled, and of others by their names."""

    text: str
    types: tuple[str, ...]
    given: Mapping[str, str]
    limit: int | None


@dataclass(frozen=True, slots=True)
class AskedProperty:
    """An attribute, and what is to be done with it: without a ceiling it is quoted, else it is bought."""

    attribute: str
    level: int | None
    """None: the finest."""
    ceiling: int | None
    """The most to pay for a value, in nanocredits; None: nothing is to be bought."""
    to_buy: str = "configure to buy"
    """What is told with a price: what is to be done to buy, or why that was not done."""

    def put_off(self) -> AskedProperty:
        """Quoted instead: a long page is only looked at."""
        return self if self.ceiling is None else replace(self, ceiling=None, to_buy="OK buys it")


@dataclass(frozen=True, slots=True)
class Extension:
    """Attributes of some rows."""

    ids: tuple[str, ...]
    properties: tuple[AskedProperty, ...]


def read_queries(text: str, most: int) -> dict[str, AskedRow]:
    """A batch of queries, by their keys."""
    rows: dict[str, AskedRow] = {}
    for key, query in _members(text, "queries"):
        rows[_text(key, "a query's key")] = _row(_object(query, "a query"))
        if len(rows) > most:
            raise Failure.too_many(most)
    return rows


def read_extension(text: str, most: int) -> Extension:
    """A data extension; ids that come twice are answered once, and for more than a few nothing is bought."""
    asked = _object(_parsed(text, "extend"), "extend")
    ids = tuple(dict.fromkeys(_text(id_, "an id", None) for id_ in _list(asked.get("ids"), "ids")))
    properties = tuple(_property(_object(p, "a property")) for p in _list(asked.get("properties"), "properties"))
    if len(ids) * len(properties) > most:
        raise Failure.too_many(most)
    names = [one.attribute for one in properties]
    if len(set(names)) < len(names):
        raise InputError("properties: one comes twice; ask for it at one level a time")
    return Extension(ids, properties if len(ids) <= MOST_BOUGHT else tuple(one.put_off() for one in properties))


class _Number(str):
    """A number as it was written: 51.0 and 51 are two texts, and 0.1 is a tenth."""


_JSON = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number)
_OPENS, _NAMED, _NEXT = (re.compile(rf"[ \t\n\r]*{mark}[ \t\n\r]*") for mark in (r"\{", ":", "([,}])"))


def _parsed(text: str, what: str) -> Any:
    try:
        return _JSON.decode(text)
    except (ValueError, RecursionError):
        raise _no_json(what) from None


def _members(text: str, what: str) -> Iterator[tuple[str, Any]]:
    """The members of a large object, one after the other: while it is read whole, nobody else is answered."""
    try:
        at = _OPENS.match(text)
        if at is None or text.startswith("}", at.end()):
            yield from _object(_parsed(text, what), what).items()
            return
        mark, end = ",", at.end()
        while mark == ",":
            if not text.startswith('"', end):
                raise _no_json(what)
            key, end = _JSON.raw_decode(text, end)
            value, end = _JSON.raw_decode(text, _after(_NAMED, text, end).end())
            yield key, value
            found = _after(_NEXT, text, end)
            mark, end = found[1], found.end()
        if end < len(text):
            raise _no_json(what)
    except (ValueError, RecursionError):
        raise _no_json(what) from None


def _after(mark: re.Pattern[str], text: str, end: int) -> re.Match[str]:
    found = mark.match(text, end)
    if found is None:
        raise ValueError("another mark")
    return found


def _no_json(what: str) -> Failure:
    return Failure(ErrorCode.BAD_REQUEST, f"{what} is not JSON")


def _row(query: Mapping[str, Any]) -> AskedRow:
    types = query.get("type") or []
    limit = query.get("limit")
    return AskedRow(
        _text(query.get("query", ""), "query"),
        tuple(_text(one, "type") for one in ([types] if isinstance(types, str) else _list(types, "type"))),
        dict(_given(query)),
        int(limit) if isinstance(limit, _Number) and limit.isdecimal() and len(limit) < 10 else None,
    )


def _given(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The columns that a query names, with their texts. What has several values, or none, says nothing."""
    for property_ in _list(query.get("properties") or [], "properties"):
        told = _object(property_, "a property")
        value = told.get("v")
        values = value if isinstance(value, list) else [value]
        if len(values) == 1 and (text := _value(values[0])) is not None:
            yield _text(told.get("pid"), "pid"), text


def _value(value: Any) -> str | None:
    """A cell's text; of one that was reconciled itself, its name."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(str(value), "v") or None
        case {"name": str(name)} | {"id": str(name)}:
            return _text(name, "v") or None
    return None


def _property(told: Mapping[str, Any]) -> AskedProperty:
    settings = _object(told.get("settings") or {}, "settings")
    level = str(settings.get("level") or FINEST)
    if level != FINEST and not (level.isdecimal() and level.isascii() and len(level) < 10):
        raise InputError(f"level: give a whole number, or {FINEST}")
    pays = settings.get("pay")
    ceiling = str(settings.get("ceiling") or "").strip()
    asked = AskedProperty(
        _text(told.get("id"), "a property's id"), None if level == FINEST else int(level), ceiling=None
    )
    if not ceiling or not (pays is True or (isinstance(pays, str) and pays.lower() in ON)):
        return asked
    try:
        return replace(asked, ceiling=not_negative(ceiling[:100], "the most to pay"))
    except InputError as error:  # written by hand: OpenRefine would say `internal error`, and no more
        return replace(asked, to_buy=str(error))


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{what}: a JSON object is expected")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{what}: a list is expected")
    return value


def _text(value: Any, what: str, most: int | None = LONGEST_TEXT) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what}: a text is expected")
    if most is not None and len(value) > most:
        raise InputError(f"{what}: more than {most:,} characters")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{what}: half a character")
    return str(value)
