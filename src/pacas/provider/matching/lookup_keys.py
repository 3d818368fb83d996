"""From a client's tuples to what an index on the engine is asked: the values that match columns may hold.

A column that is matched by equality alone may hold the client's value. For another, the clauses are put to the column's
distinct values, and each that all of them accept is asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from pacas.core.dependency import MatchClause, MatchingDependency, Similarity
from pacas.core.hierarchy import Hierarchy, canonical_number
from pacas.engine.contract import Engine, Hierarchies
from pacas.engine.grouping import Ints
from pacas.engine.kept_rows import Agreement
from pacas.protocol.marketplace import Columns
from pacas.provider.matching.matcher import clause_index, listed_columns

Key = tuple[str | None, ...]
"""A client's values, in the order of the columns that the match needs."""


class LookupKeys:
    """The match of one attribute, as look-ups: by its provider columns."""

    def __init__(
        self, dependency: MatchingDependency, distinct: Mapping[str, Sequence[str]], hierarchies: Hierarchies
    ) -> None:
        self.client_columns = dependency.client_columns
        self.by = tuple(sorted(dependency.provider_columns))
        """The columns of the index."""
        self.by_equality = dependency.is_by_equality
        """Whether equality decides alone, so that a tuple is one look-up."""
        of = {a: [clause for clause in dependency.clauses if clause.provider == a] for a in self.by}
        self._columns = [
            _ColumnClauses(of[a], self.client_columns, distinct.get(a, ()), hierarchies.get(a)) for a in self.by
        ]

    @classmethod
    def on(
        cls, engine: Engine[Any], table: Any, dependency: MatchingDependency, hierarchies: Hierarchies
    ) -> LookupKeys:
        """Those of a relation that stays on an engine."""
        distinct = {
            c: [value for (value,) in engine.histogram(table, [c], {}).values if value is not None]
            for c in by_likeness(dependency)
        }
        return cls(dependency, distinct, hierarchies)

    def of(self, key: Key) -> Iterator[tuple[str, ...]]:
        """What to look up for a tuple; nothing if it has a null."""
        texts = [value for value in key if value]
        if len(texts) == len(key):
            yield from product(*(column.accepted(texts) for column in self._columns))


def key_of(columns: Sequence[str], values: Mapping[str, str | None]) -> Key:
    """What one tuple is looked up by."""
    return tuple(column[0] for column in listed_columns(columns, {name: [value] for name, value in values.items()}))


def distinct_keys(columns: Sequence[str], tuples: Columns) -> tuple[list[Key], Ints]:
    """What tuples are looked up by, each once, and which of these each tuple has."""
    number: dict[Key, int] = {}
    lines = zip(*listed_columns(columns, tuples), strict=True)
    which = np.array([number.setdefault(key, len(number)) for key in lines], dtype=np.int64)
    return list(number), which


def agreement_of(dependency: MatchingDependency, hierarchies: Hierarchies) -> Agreement:
    """Rows that every tuple matches together, or not at all: they agree in all columns of the match."""
    by = tuple(sorted(dependency.provider_columns))
    likeness = by_likeness(dependency)
    return Agreement(by, {a: hierarchies[a] for a in by if a in hierarchies and a not in likeness})


def by_likeness(dependency: MatchingDependency) -> list[str]:
    """The provider columns of which some clause asks more than equality; they are looked up by their texts."""
    return list(dict.fromkeys(c.provider for c in dependency.clauses if c.similarity is not Similarity.EQUAL))


class _ColumnClauses:
    """The clauses on one provider column."""

    def __init__(
        self,
        clauses: Sequence[MatchClause],
        client_columns: Sequence[str],
        distinct: Sequence[str],
        hierarchy: Hierarchy | None,
    ) -> None:
        at = client_columns.index
        self._numeric = hierarchy is not None and hierarchy.numeric
        self._equal = [at(c.client) for c in clauses if c.similarity is Similarity.EQUAL]
        self._distinct = distinct
        self._like = [
            (at(c.client), clause_index(c, distinct, hierarchy))
            for c in clauses
            if c.similarity is not Similarity.EQUAL
        ]
        self.by_equality = not self._like

    def accepted(self, texts: Sequence[str]) -> list[str]:
        """The values that the column may hold, given a client's."""
        equal = {self._spelling(texts[place]) for place in self._equal}
        if len(equal) > 1:
            return []
        if self.by_equality:
            return [texts[self._equal[0]]]
        codes = None
        for place, index in self._like:
            found = np.sort(index.find(texts[place]))
            codes = found if codes is None else np.intersect1d(codes, found, assume_unique=True)
        values = [self._distinct[code] for code in ([] if codes is None else codes.tolist())]
        return [value for value in values if not equal or self._spelling(value) in equal]

    def _spelling(self, text: str) -> str:
        return canonical_number(text) if self._numeric else text
