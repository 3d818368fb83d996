"""The pieces of pages that are more than text: a number to be seen first, and a share that is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """A number that should be seen first; `look` marks one that somebody should do something about."""

    name: str
    number: str
    note: str
    look: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of a whole, drawn."""

    share: float

    @property
    def percent(self) -> str:
        return f"{100 * self.share:.1f}"


def is_bar(cell: object) -> bool:
    return isinstance(cell, Bar)


def is_numeric(cell: object) -> bool:
    """Whether a cell of a table stands on the right: a number, or a text that reads as one.

    >>> [is_numeric(cell) for cell in (3, "1,234.5", "12.5%", "–", "3 cells", "", None)]
    [True, True, True, True, False, True, False]
    """
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return False
    if not isinstance(cell, str):
        return True
    return cell in ("", "–") or cell.removesuffix("%").replace(",", "").replace(".", "").isdecimal()
