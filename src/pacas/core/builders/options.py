"""Builder options as they arrive from a TOML file or a command line, read into what the builders take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pacas.errors import HierarchyError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """How an option is read, and an example for error messages and help.

    `read` gives None for what it cannot read.
    """

    read: Callable[[object], object]
    example: str
    required: bool = False

    def value(self, name: str, given: object) -> object:
        read = self.read(given)
        if read is None:
            raise HierarchyError(f"option {name} cannot be read; give it like {name} = {self.example}")
        return read


def number(given: object) -> int | float | None:
    """A number, or a text that is one; true and false are not.

    >>> number(30), number("0.5"), number("many"), number(True)
    (30, 0.5, None, None)
    """
    if isinstance(given, str):
        whole = whole_number(given)
        return _float(given) if whole is None else whole
    return given if isinstance(given, int | float) and not isinstance(given, bool) else None


def whole_number(given: object) -> int | None:
    """A whole number, or a text that is one.

    >>> whole_number(3), whole_number(" 3 "), whole_number(3.0), whole_number(3.5)
    (3, 3, 3, None)
    """
    if isinstance(given, str):
        try:
            return int(given)
        except ValueError:
            return None
    if isinstance(given, float):
        return int(given) if given.is_integer() else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def word(given: object) -> str | None:
    return given if isinstance(given, str) and given else None


def numbers(given: object) -> tuple[int | float, ...] | None:
    """Numbers: a list, one number, or a text like 10,30.

    >>> numbers([10, 30]), numbers(10), numbers("10, 30"), numbers([[10]])
    ((10, 30), (10,), (10, 30), None)
    """
    return _each(number, given)


def whole_numbers(given: object) -> tuple[int, ...] | None:
    return _each(whole_number, given)


def words(given: object) -> tuple[str, ...] | None:
    """Words: a list, one word, or a text like month,year."""
    return _each(word, given)


def _each(read: Callable[[object], T | None], given: object) -> tuple[T, ...] | None:
    items = [item for part in _parts(given) if (item := read(part)) is not None]
    return tuple(items) if len(items) == len(_parts(given)) else None


def _parts(given: object) -> Sequence[object]:
    if isinstance(given, str):
        return [part.strip() for part in given.strip().removeprefix("[").removesuffix("]").split(",")]
    return given if isinstance(given, list | tuple) else [given]


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
