"""The columns that dependencies name, as codes, with the changed tuples below the clean ones.

Row n + i of such a column, in a relation of n rows, is the tuple of error i as it is with that error. So one numbering
of values and of groups serves both the clean relation and the dirty one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn, ground_keys, in_hierarchy
from pacas.engine.contract import Hierarchies
from pacas.engine.grouping import Array, Keys, combine
from pacas.experiments.errors.batch import ErrorBatch, Objects


class ErrorColumns:
    """A relation's columns by attribute, and what errors make of some of its tuples."""

    def __init__(
        self,
        clean: Mapping[str, CodedColumn],
        hierarchies: Hierarchies,
        rows: int,
        errors: ErrorBatch | None = None,
    ) -> None:
        self.rows = rows
        self.errors = errors or ErrorBatch.joined([])
        self._clean = clean
        self._hierarchies = hierarchies
        self._columns: dict[str, CodedColumn] = {}
        self._groups: dict[tuple[str, ...], Keys] = {}

    def with_errors(self, errors: ErrorBatch) -> ErrorColumns:
        return ErrorColumns(self._clean, self._hierarchies, self.rows, errors)

    def column(self, attribute: str) -> CodedColumn:
        if attribute not in self._columns:
            self._columns[attribute] = self._extended(attribute)
        return self._columns[attribute]

    def _extended(self, attribute: str) -> CodedColumn:
        clean = self._clean[attribute]
        codes, values = clean.codes[self.errors.row].astype(np.int32), clean.values
        here = np.flatnonzero(self.errors.attribute == attribute)
        if len(here):
            known = {value: code for code, value in enumerate(values)}
            codes[here] = [known.setdefault(new, len(known)) for new in self.errors.new[here]]
            values = list(known)
        return CodedColumn(np.concatenate([clean.codes.astype(np.int32), codes]), values)

    def groups(self, lhs: tuple[str, ...]) -> Keys:
        """Each row's X-group, −1 for a row with a null or a general value in X; one group of all for an empty X."""
        if lhs not in self._groups:
            columns = [ground_keys(self.column(a), self._hierarchies.get(a)) for a in lhs]
            everything = Keys(np.zeros(self.rows + len(self.errors), dtype=np.int32), 1, False)
            self._groups[lhs] = combine(columns) if columns else everything
        return self._groups[lhs]

    def codes(self, attributes: Sequence[str]) -> Keys:
        """Each row's combination of values, nulls and general ones like any other."""
        return combine([Keys(c.codes, len(c.values), False) for c in map(self.column, attributes)])

    def texts(self, attribute: str, rows: Ints) -> Objects:
        """The values of some rows, as they are written."""
        column = self.column(attribute)
        return np.array(column.values, dtype=object)[column.codes[rows]]

    def nodes(self, attribute: str) -> tuple[Hierarchy, Codes]:
        """The attribute's hierarchy with all values admitted, and each row's node in it."""
        column = self.column(attribute)
        tree, nodes = in_hierarchy(column, self._hierarchies.get(attribute) or Hierarchy.flat(()))
        return tree, nodes[column.codes]

    def dirty(self, stacked: Array) -> Array:
        """What a column or grouping of all rows says of the dirty relation's rows."""
        now = stacked[: self.rows].copy()
        now[self.errors.row] = stacked[self.rows :]
        return now
