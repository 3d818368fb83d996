"""Kinds of rows, as OpenRefine lets its user choose one: which column is reconciled, and which come as properties.

OpenRefine 3.6 shows a type by its id, so an id is what a person is to read, what is sold with it. A column that its
user names with other capitals is the one that is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pacas.core.normal_text import normal_text
from pacas.protocol.messages import Offer
from pacas.server.reconcile.asked import AskedRow

LONGEST_LIST = 100
"""Characters of what is sold that a type is shown with."""


@dataclass(frozen=True, slots=True)
class RowType:
    """Rows that some attributes are found by; `key` is the column whose cells are reconciled."""

    key: str
    columns: tuple[str, ...]
    attributes: tuple[str, ...]
    sold: tuple[str, ...]
    """The attributes, and those that some of the columns suffice for."""

    @property
    def id(self) -> str:
        """
        >>> RowType("GEN", ("GEN", "AGE"), ("MED",), ("MED", "DIAG")).id
        'GEN, with AGE as property: MED, DIAG'
        """
        return f"{self._cells()}: {', '.join(self.sold)[:LONGEST_LIST]}"

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that come as properties."""
        return tuple(column for column in self.columns if column != self.key)

    def _cells(self) -> str:
        others = self.others
        if not others:
            return self.key
        return f"{self.key}, with {' and '.join(others)} as propert{'y' if len(others) == 1 else 'ies'}"

    def as_json(self) -> dict[str, str]:
        return {"id": self.id, "name": self.id}

    def is_named(self, name: str) -> bool:
        """Whether a type is this one; what is sold may be left out, or have been something else by then."""
        return name == self._cells() or name.startswith(f"{self._cells()}: ")

    def row(self, asked: AskedRow) -> dict[str, str]:
        """The tuple that a query is about, as far as it is told. What is given by name goes first."""
        values = {self.key: asked.text} | {c: asked.given[c] for c in self.columns if c in asked.given}
        return {column: value for column, value in values.items() if value}


class ColumnNames:
    """What the columns are called, by what a person calls them who does not mind capitals."""

    def __init__(self, types: Sequence[RowType]) -> None:
        self._exact = {column for one in types for column in one.columns}
        normal = [normal_text(column) for column in self._exact]
        self._meant = {normal_text(c): c for c in self._exact if normal.count(normal_text(c)) == 1}

    def of(self, given: Mapping[str, str]) -> dict[str, str]:
        """Texts by the columns that are meant; a column's own name goes first."""
        meant = {self._meant.get(normal_text(name), name): text for name, text in given.items()}
        return meant | {name: text for name, text in given.items() if name in self._exact}


def row_types(offers: Mapping[str, Offer]) -> tuple[RowType, ...]:
    """One for each column that a match needs, of each set of columns that attributes are found by."""
    sets: dict[frozenset[str], tuple[tuple[str, ...], list[str]]] = {}
    for attribute, offer in offers.items():
        sets.setdefault(frozenset(offer.columns), (offer.columns, []))[1].append(attribute)
    return tuple(
        RowType(key, columns, tuple(found), tuple(name for name, offer in offers.items() if set(offer.columns) <= own))
        for own, (columns, found) in sets.items()
        for key in columns
    )


def types_of(asked: AskedRow, known: Sequence[RowType]) -> list[RowType]:
    """The types that a query can be about.

    Where it names none, nobody knows which column its text is of: then all columns must be given by name, unless one is
    all there is. OpenRefine asks so before it shows types, and shows none but those of what it is answered.
    """
    if asked.types:
        return [one for one in known if any(map(one.is_named, asked.types))]
    certain = [one for one in known if set(one.columns) <= set(asked.given) or len(known) == 1]
    return list({one.columns: one for one in certain}.values())
