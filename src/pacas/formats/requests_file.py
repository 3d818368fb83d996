"""Requests in files: JSON lines, one request a line.

`{"tuple": {"GEN": "male", "AGE": 51}, "attribute": "MED", "level": 1}`. Without `level` all levels are meant. A number
is read as its text (whole ones without decimals), an empty text as null. `key` is a purchase's idempotency key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pacas.errors import HierarchyError, InputError, did_you_mean
from pacas.formats.json_lines import MISTAKES, LineReader
from pacas.protocol.messages import Offer, Request
from pacas.protocol.names import check_key

SHAPE = '{"tuple": {…}, "attribute": "MED", "level": 1}'
KEYS = ("tuple", "attribute", "level", "key")


@dataclass(frozen=True, slots=True)
class Asked:
    """A line: what is asked for, at a level or at all of them (None). The tuple holds what the match needs."""

    line: int
    tuple: Mapping[str, str | None] = field(repr=False)
    attribute: str
    level: int | None
    key: str | None = field(default=None, repr=False)

    @property
    def request(self) -> Request:
        assert self.level is not None
        return Request(self.tuple, self.attribute, self.level)


def read_requests(lines: Iterable[bytes], name: str, catalogue: Mapping[str, Offer]) -> list[Asked]:
    """The requests of a file, each checked against what is for sale."""
    return [_RequestLine(name, n).read(line, catalogue) for n, line in enumerate(lines, start=1) if line.strip()]


class _RequestLine(LineReader):
    """Reads the line of one request, and checks it against what is for sale."""

    def read(self, line: bytes, catalogue: Mapping[str, Offer]) -> Asked:
        found = self._parsed(line)
        if type(found) is not dict:
            self._fail(f"a request is one object, {SHAPE}")
        for key in found:
            if key not in KEYS:
                self._fail(f"unknown key {key!r}; {did_you_mean(key, KEYS)}")
        for key in ("tuple", "attribute"):
            if key not in found:
                self._fail(f'"{key}" is missing; a request is {SHAPE}')
        offer = self._offer(found["attribute"], catalogue)
        return Asked(
            self._number,
            self._tuple(found["tuple"], offer),
            offer.attribute,
            self._level(found["level"], offer) if "level" in found else None,
            self._key(found["key"]) if "key" in found else None,
        )

    def _parsed(self, line: bytes) -> Any:
        try:
            text = line.decode().removeprefix("\ufeff")
            return json.loads(text, parse_float=Decimal, parse_constant=self._constant, object_pairs_hook=self._object)
        except MISTAKES as error:
            self._mistaken(error, f"write one request a line, {SHAPE}")

    def _offer(self, attribute: Any, catalogue: Mapping[str, Offer]) -> Offer:
        if not isinstance(attribute, str):
            self._fail('"attribute" must be the name of what is asked for')
        if attribute not in catalogue:
            self._fail(f"{attribute!r} is not for sale; {did_you_mean(attribute, catalogue)}")
        return catalogue[attribute]

    def _tuple(self, values: Any, offer: Offer) -> dict[str, str | None]:
        """The columns that the match needs; whatever else the client's tuple has stays with the client."""
        if type(values) is not dict:
            self._fail('"tuple" must be an object of columns and their values')
        for column in offer.columns:
            if column not in values:
                near = did_you_mean(column, values)
                self._fail(f"the tuple lacks {column!r}, by which {offer.attribute} is found; {near}")
        return {column: self._text(column, values[column]) for column in offer.columns}

    def _level(self, level: Any, offer: Offer) -> int:
        if type(level) is not int:  # true is an int, too
            self._fail('"level" must be a whole number; 0 is ground, and without it all levels are meant')
        try:
            offer.hierarchy.check_level(level, f"the hierarchy of {offer.attribute!r}")
        except HierarchyError as error:
            self._fail(str(error))
        return level

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            self._fail('"key" must be a text')
        try:
            check_key(key)
        except InputError as error:
            self._fail(str(error))
        return key
