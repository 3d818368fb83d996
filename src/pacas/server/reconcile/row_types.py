"""Kinds of rows, as OpenRefine lets its user choose one: which column is reconciled, and which come as properties.

OpenRefine 3.6 shows a type by its id, so an id is what a person is to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pacas.protocol.messages import Offer
from pacas.server.reconcile.asked import AskedRow


@dataclass(frozen=True, slots=True)
class RowType:
    """Rows that some attributes are found by; `key` is the column whose cells are reconciled."""

    key: str
    columns: tuple[str, ...]
    attributes: tuple[str, ...]

    @property
    def id(self) -> str:
        """
        >>> RowType("GEN", ("GEN", "AGE"), ("MED",)).id
        'GEN, with AGE as property'
        """
        others = [column for column in self.columns if column != self.key]
        if not others:
            return self.key
        return f"{self.key}, with {' and '.join(others)} as propert{'y' if len(others) == 1 else 'ies'}"

    def as_json(self) -> dict[str, str]:
        return {"id": self.id, "name": self.id}

    def row(self, asked: AskedRow) -> dict[str, str] | None:
        """The tuple that a query is about; None unless it has all columns. What is given by name goes first."""
        values = {self.key: asked.text} | {c: asked.given[c] for c in self.columns if c in asked.given}
        return values if len(values) == len(self.columns) and all(values.values()) else None


def row_types(offers: Mapping[str, Offer]) -> tuple[RowType, ...]:
    """One for each column that a match needs, of each set of columns that attributes are found by."""
    sets: dict[frozenset[str], tuple[tuple[str, ...], list[str]]] = {}
    for attribute, offer in offers.items():
        sets.setdefault(frozenset(offer.columns), (offer.columns, []))[1].append(attribute)
    return tuple(RowType(key, columns, tuple(found)) for columns, found in sets.values() for key in columns)


def types_of(asked: AskedRow, known: Sequence[RowType]) -> list[RowType]:
    """The types that a query can be about.

    Where it names none, nobody knows which column its text is of: then all columns must be given by name, unless one is
    all that is needed.
    """
    if asked.types:
        return [one for one in known if one.id in asked.types]
    certain = [one for one in known if set(one.columns) <= set(asked.given) or (one.columns == (one.key,))]
    return list({one.columns: one for one in certain}.values())
