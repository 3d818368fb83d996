"""The provider's own rows, for its owner's eyes: all of the relation, or a sample of one that is too large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.engine.codes import CodedColumn, coded_texts, in_hierarchy, linked_keys
from pacas.engine.contract import Engine, Hierarchies, Source
from pacas.engine.grouping import Array, Ints, Keys, combine, distinct
from pacas.provider.on_engine.memory_limit import too_large
from pacas.provider.sealed.opening import public_columns
from pacas.provider.terms import Terms

SEED = 1
MOST_OF_A_LARGE_RELATION = 200_000
"""Rows that are looked at of a relation that stays on the engine."""


@dataclass(frozen=True, eq=False, repr=False)
class OwnRows:
    """The columns that sales have to do with, as codes, of the rows that are looked at."""

    columns: Mapping[str, CodedColumn]
    hierarchies: Hierarchies
    rows: int
    of: int
    """How many rows the relation has."""
    stays_on_engine: bool = False
    """Whether the relation is too large to be held."""
    _known: dict[str, tuple[Hierarchy, Codes]] = field(default_factory=dict)
    _texts: dict[str, list[str | None]] = field(default_factory=dict)
    _keys: dict[tuple[str, int], Keys] = field(default_factory=dict)

    @classmethod
    def read(cls, engine: Engine[Any], source: Source, terms: Terms, most: int | None = None) -> OwnRows:
        """All rows, or at most so many, drawn by their numbers; never all of a relation that stays on the engine."""
        large = too_large(engine, source, terms)
        if large is not None:
            return cls._on_engine(engine, source, large, terms, most or MOST_OF_A_LARGE_RELATION)
        columns: dict[str, CodedColumn] = {}
        for names in _as_opened(terms):
            columns |= engine.columns(engine.open(source, names), names)
        rows = len(next(iter(columns.values())).codes)
        every = cls({name: columns[name] for name in _names(terms)}, terms.hierarchies, rows, rows)
        return every if most is None else every.some(most)

    @classmethod
    def _on_engine(cls, engine: Engine[Any], source: Source, large: Any, terms: Terms, most: int) -> OwnRows:
        names = _names(terms)
        table = large if set(names) <= set(large.columns) else engine.open(source, names)
        of, most = len(table), min(most, MOST_OF_A_LARGE_RELATION)
        drawn = _drawn(of, most) if most < of else np.arange(of)
        texts = engine.rows(table, drawn, names)
        return cls({name: coded_texts(texts[name]) for name in names}, terms.hierarchies, len(drawn), of, True)

    def some(self, most: int) -> OwnRows:
        """At most so many of them, drawn by their numbers."""
        if self.rows <= most:
            return self
        drawn = _drawn(self.rows, most)
        columns = {name: CodedColumn(column.codes[drawn], column.values) for name, column in self.columns.items()}
        return OwnRows(columns, self.hierarchies, most, self.of, self.stays_on_engine, self._known)

    @property
    def is_sample(self) -> bool:
        return self.rows < self.of

    def in_all(self, rows: int) -> int:
        """So many of the rows that are looked at, as a number of rows of the relation."""
        return round(rows * self.of / max(self.rows, 1))

    def height(self, attribute: str) -> int:
        """The level of the attribute's root."""
        return self.hierarchies[attribute].height if attribute in self.hierarchies else 1

    def hierarchy(self, attribute: str) -> Hierarchy:
        """The attribute's own hierarchy, with every value of the column in it; the two-level one, if it has none."""
        return self._in_hierarchy(attribute)[0]

    def nodes(self, attribute: str) -> Codes:
        """Per row the node of its value."""
        return self._in_hierarchy(attribute)[1].take(self.columns[attribute].codes)

    def answers(self, attribute: str, level: Array | int) -> Codes:
        """Per row the node of its value at a level, the same for all rows or one for each."""
        answers: Codes = self.hierarchy(attribute).ancestors[level, self.nodes(attribute)]
        return answers

    def keys(self, attribute: str, level: int = 0) -> Keys:
        """The values at a level below the root, as numbers; a null has none."""
        if (attribute, level) not in self._keys:
            self._keys[attribute, level] = self._numbered(attribute, level)
        return self._keys[attribute, level]

    def _numbered(self, attribute: str, level: int) -> Keys:
        column = self.columns[attribute]
        if attribute not in self.hierarchies:
            return linked_keys(column, None)
        known, nodes = self._in_hierarchy(attribute)
        codes = known.generalize(nodes, level).astype(np.int64)
        if column.values[-1:] == [None]:
            codes[-1] = -1
        return column.recoded(codes, len(known))

    def groups(self, attributes: Sequence[str]) -> Ints:
        """Per row the number of its group: who agrees on all of the attributes. −1: a null is among them."""
        linked = [linked_keys(self.columns[a], self.hierarchies.get(a)) for a in attributes]
        return distinct(combine(linked).key)[0]

    def texts(self, attribute: str) -> list[str | None]:
        """The column as it was read; read once, as many attributes are found by the same columns."""
        if attribute not in self._texts:
            column = self.columns[attribute]
            self._texts[attribute] = [column.values[code] for code in column.codes.tolist()]
        return self._texts[attribute]

    def _in_hierarchy(self, attribute: str) -> tuple[Hierarchy, Codes]:
        if attribute not in self._known:
            tree = self.hierarchies.get(attribute) or Hierarchy.flat(())
            self._known[attribute] = in_hierarchy(self.columns[attribute], tree)
        return self._known[attribute]


def _drawn(rows: int, some: int) -> Ints:
    return np.sort(np.random.default_rng(SEED).choice(rows, some, replace=False))


def _as_opened(terms: Terms) -> list[list[str]]:
    """The columns, as a shop has opened them before: what an engine has read once it need not read again."""
    if terms.sealing is not None and terms.sealing.registry is None:
        return [public_columns(terms, terms.sealing), list(terms.protected)]
    return [list(terms.attributes), *([names] if (names := _names(terms)[len(terms.attributes) :]) else [])]


def _names(terms: Terms) -> list[str]:
    """What requests and policies look at, and the left sides that are declared."""
    return list(dict.fromkeys([*terms.attributes, *(a for one in terms.dependencies for a in one.fd.lhs)]))
