"""Rows that are not held in memory, found when a repaired row comes to share a group with them.

A repair of an attribute on a dependency's left side may put a row into any group of the relation. Of a relation that is
not held, such a group is looked up when it is first needed: an index on the left side finds its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.client.classes.current_relation import CurrentRelation
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints
from pacas.engine.contract import Engine, Hierarchies, Index, Table


class UnheldRows:
    """The rows of a table that nobody holds yet."""

    def __init__(
        self,
        engine: Engine[Any],
        table: Table,
        held: Ints,
        fds: Sequence[FunctionalDependency],
        hierarchies: Hierarchies,
    ) -> None:
        """`held` are the rows that are held from the start, sorted."""
        self._engine, self._table, self._hierarchies = engine, table, hierarchies
        self._attributes = list(dict.fromkeys(a for fd in fds for a in fd.attributes))
        self._held = held
        self._later: set[int] = set()
        self._indexes: dict[tuple[str, ...], Index] = {}

    def hold(self, fd: FunctionalDependency, values: list[list[str | None]], current: CurrentRelation) -> Ints:
        """Hold all rows that have some values on the left side, given by column; the places of those that are new."""
        lines = pa.table({a: pa.array(texts, pa.string()) for a, texts in zip(fd.lhs, values, strict=True)})
        found = self._index(fd.lhs).find(lines)
        rows, first = np.unique(found.column("row").to_numpy(), return_index=True)
        new = np.array([not self._is_held(row) for row in rows.tolist()], dtype=np.bool_)
        rows, first = rows[new], first[new]
        self._later.update(rows.tolist())
        if not len(rows):
            return rows
        return current.add(rows, {a: found.column(a).take(first).to_pylist() for a in self._attributes})

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()

    def _is_held(self, row: int) -> bool:
        at = int(np.searchsorted(self._held, row))
        return (at < len(self._held) and int(self._held[at]) == row) or row in self._later

    def _index(self, lhs: tuple[str, ...]) -> Index:
        if lhs not in self._indexes:
            self._indexes[lhs] = self._engine.index(self._table, lhs, self._attributes, self._hierarchies)
        return self._indexes[lhs]
