"""Files of JSON lines, read with mistakes that name the line and quote no value."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn

from pacas.core.hierarchy import canonical_number
from pacas.errors import FileError

MISTAKES = (ValueError, ArithmeticError, RecursionError)
"""What reading a line may raise: bytes, JSON or numbers that are none, and objects within objects without end."""


class LineReader:
    """Reads lines, and knows which one it is at."""

    def __init__(self, name: str, number: int = 0) -> None:
        self._name, self._number = name, number

    def _fail(self, problem: str) -> NoReturn:
        raise FileError(f"{self._name}, line {self._number}: {problem}") from None

    def _mistaken(self, error: Exception, write: str) -> NoReturn:
        """Say what is wrong with a line that could not be read; `write` is what it should be."""
        match error:
            case UnicodeDecodeError():
                self._fail("bytes that are not UTF-8; convert the file, for example with iconv")
            case json.JSONDecodeError():
                self._fail(f"not JSON ({error.msg.lower()}, column {error.colno}); {write}")
            case RecursionError():
                self._fail("nested too deeply to be read")
        self._fail("a number that is too long to be read; write it shorter, or as text")

    def _constant(self, name: str) -> NoReturn:
        self._fail(f"not JSON ({name} is no JSON value); write a number, a text or null")

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self._fail("a key stands twice in one object; write it once")
        return found

    def _text(self, column: str, value: Any) -> str | None:
        """A value as text: a number as it would stand in a table, an empty text as null."""
        match value:
            case None:
                return None
            case str():
                if any("\ud800" <= character <= "\udfff" for character in value):
                    self._fail(f"the value of {column!r} has half of a surrogate pair; write whole characters")
                return value or None
            case bool():
                self._fail(f"the value of {column!r} must be a text, a number or null, not true or false")
            case int():
                return str(value)
            case Decimal() if isfinite(number := float(value)):
                return canonical_number(repr(number))
        self._fail(f"the value of {column!r} must be a text, a number or null")
