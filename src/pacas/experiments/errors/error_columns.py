"""Errors by the ten thousand, and the columns that dependencies name, with the changed tuples below the clean ones.

Row n + i of such a column, in a relation of n rows, is the tuple of error i as it is in the dirty relation. So one
numbering of values and of groups serves both the clean relation and the dirty one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Codes, Hierarchy
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn, ground_keys, in_hierarchy
from pacas.engine.contract import Hierarchies
from pacas.engine.grouping import Array, Keys, combine
from pacas.experiments.errors.dirty_relation import CellError, ErrorKind, Repairability

Objects = NDArray[np.object_]

Texts = Sequence[str | None] | Objects

NO_FD = -1
"""The number of a random error's dependency."""


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class ErrorBatch:
    """Error i changes attribute[i] of tuple row[i] from old[i] to new[i]; fd[i] is its dependency's number."""

    row: Ints
    attribute: Objects
    old: Objects
    new: Objects
    kind: Objects
    fd: Ints

    @classmethod
    def of(
        cls, rows: Ints, attribute: str, old: Texts, new: Texts, kind: Sequence[ErrorKind] | Objects, fd: int = NO_FD
    ) -> ErrorBatch:
        """Errors of one attribute and one dependency."""
        attributes = np.full(len(rows), attribute, dtype=object)
        old, new, kind = (np.array(column, dtype=object) for column in (old, new, kind))
        return cls(rows, attributes, old, new, kind, np.full(len(rows), fd))

    @classmethod
    def joined(cls, batches: Iterable[ErrorBatch]) -> ErrorBatch:
        """All errors of several batches, in their order."""
        parts = [cls.of(np.empty(0, dtype=np.int64), "", [], [], []), *batches]
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, chosen: NDArray[Any]) -> ErrorBatch:
        return ErrorBatch(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def cells(
        self,
        fds: Sequence[FunctionalDependency],
        repairability: Sequence[Repairability | None],
        seen: NDArray[np.bool_],
    ) -> tuple[CellError, ...]:
        """The errors one by one, in row order."""
        by_number = [*fds, None]  # −1 finds the None
        columns = (getattr(self, field.name).tolist() for field in fields(self))
        cells = [
            CellError(row, attribute, old, new, kind, by_number[fd], shares, is_seen)
            for row, attribute, old, new, kind, fd, shares, is_seen in zip(
                *columns, repairability, seen.tolist(), strict=True
            )
        ]
        return tuple(cells[i] for i in np.argsort(self.row, kind="stable").tolist())


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
        codes, values = clean.codes.astype(np.int32), clean.values
        dirty, here = codes.copy(), np.flatnonzero(self.errors.attribute == attribute)
        if len(here):
            known = {value: code for code, value in enumerate(values)}
            dirty[self.errors.row[here]] = [known.setdefault(new, len(known)) for new in self.errors.new[here]]
            values = list(known)
        return CodedColumn(np.concatenate([codes, dirty[self.errors.row]]), values)

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
