"""Any generalized query as something to be priced: which neighbours answer it differently.

Paper: Alg. 1 for select-project-join queries. A neighbour is a few rows removed from R and a few added; the engine
evaluates all of them in one go. Only neighbours that a query can tell from R are looked at: those that change a column
it speaks of, or put in or take out a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.core.hierarchy import Codes
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.contract import Engine, Hierarchies, NeighbourDiffs, Source
from pacas.engine.grouping import Ints
from pacas.engine.questions import open_for
from pacas.provider.column import Column
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.support.support_set import SupportSet

Signed = tuple[Ints, int, dict[str, Codes]]
"""Neighbours, a sign, and the codes of each column of the rows that they add or remove."""


class Views:
    """Generalized queries over a provider's relations and its support set."""

    def __init__(
        self,
        engine: Engine[Any],
        sources: Mapping[str, Source],
        hierarchies: Hierarchies,
        columns: Mapping[str, Column],
        support: SupportSet,
    ) -> None:
        self._engine, self._sources, self._hierarchies = engine, sources, hierarchies
        self._columns, self._support = columns, support

    def conflicts(self, query: GeneralizedQuery, known: Knowledge | None = None) -> Ints:
        """The neighbours with G(T) ≠ G(R), of those that what is known has left."""
        resolved, tables = open_for(self._engine, query, self._sources)
        main = {source.alias for source in query.relations if source.relation == MAIN}
        if not main:
            return np.empty(0, dtype=np.int64)
        named = list(dict.fromkeys(c.attribute for c in resolved.columns() if c.relation in main))
        columns = self._with_columns(tables[MAIN], named)
        parts = [*self._cells(columns, known), *self._edits(columns, known)]
        neighbour = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in parts)])
        sign = np.concatenate([np.empty(0, dtype=np.int8), *(np.full(len(p[0]), p[1], dtype=np.int8) for p in parts)])
        rows = {a: _texts(column, [part[2][a] for part in parts]) for a, column in columns.items()}
        return self._engine.changed_answers(
            resolved, tables, NeighbourDiffs(neighbour, sign, pa.table(rows)), self._hierarchies
        )

    def _with_columns(self, table: Any, attributes: Sequence[str]) -> dict[str, Column]:
        missing = [a for a in attributes if a not in self._columns]
        read = (
            {a: Column(a, coded, None) for a, coded in self._engine.columns(table, missing).items()} if missing else {}
        )
        return {a: self._columns.get(a) or read[a] for a in attributes}

    def _cells(self, columns: Mapping[str, Column], known: Knowledge | None) -> Iterator[Signed]:
        first = self._support.first()
        for attribute, cells in self._support.cells.items():
            if attribute not in columns:
                continue
            rows = cells.rows
            number = np.arange(len(cells))
            if known is not None:
                number = np.flatnonzero(cells.divergence <= known.level(attribute, rows))
            rows = rows[number]
            old = {a: column.codes[rows] for a, column in columns.items()}
            yield number + first[attribute], -1, old
            new = columns[attribute].code_of_node[cells.new[number]]
            yield number + first[attribute], 1, {**old, attribute: new}

    def _edits(self, columns: Mapping[str, Column], known: Knowledge | None) -> Iterator[Signed]:
        edits = self._support.edits
        told = edits.gone | (edits.row < 0)
        for attribute in columns:
            if attribute in edits.values:
                told[edits.values[attribute].patch] = True
        if known is not None:
            told &= ~known.ruled_out[edits.neighbour]
        first = self._support.first()[None]
        removed = np.flatnonzero(told & (edits.row >= 0))
        yield edits.neighbour[removed] + first, -1, {a: c.codes[edits.row[removed]] for a, c in columns.items()}
        added = np.flatnonzero(told & ~edits.gone)
        yield edits.neighbour[added] + first, 1, {a: edits.column(a, c.codes)[added] for a, c in columns.items()}


def _texts(column: Column, codes: Sequence[Codes]) -> pa.DictionaryArray:
    together = np.concatenate([np.empty(0, dtype=np.int32), *codes])
    return pa.DictionaryArray.from_arrays(pa.array(together), pa.array(column.values, pa.string()))
