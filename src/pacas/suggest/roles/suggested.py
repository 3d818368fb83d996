"""What a column is to the people in a table, as far as the table itself tells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ColumnRole(Enum):
    """What a column is to the people in a table."""

    IDENTIFIER = "identifier"
    """It names people, or tells nearly every row from every other: never to be sold."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Others may know it, and with others of its kind it singles rows out."""
    SENSITIVE = "sensitive"
    """By its name, what is nobody's business: to be protected where it is sold."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SuggestedRole:
    """The role of one column, and how far it singles rows out."""

    attribute: str
    role: ColumnRole
    why: str
    """In one line."""
    values: int
    alone: float
    """The share of rows that have a value which no other row has."""
    place: int | None = None
    """Which of the columns that together single most rows out it is, counted from 1; None: it is none of them."""
    together: float | None = None
    """The share of rows that it singles out together with those before it."""
    shown: float | None = None
    """Of a sensitive column: how many values people show who share a quasi-identifier; on the average, at the least."""
