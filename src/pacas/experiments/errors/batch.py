"""Errors, column by column: what they are while they are being made, by the ten thousand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints
from pacas.experiments.errors.dirty_relation import CellError, Kind, Repairability

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
        cls, rows: Ints, attribute: str, old: Texts, new: Texts, kind: Sequence[Kind] | Objects, fd: int = NO_FD
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
        self, fds: Sequence[FunctionalDependency], repairability: Sequence[Repairability | None]
    ) -> tuple[CellError, ...]:
        """One by one, in row order."""
        by_number = [*fds, None]  # −1 finds the None
        columns = (getattr(self, field.name).tolist() for field in fields(self))
        cells = [
            CellError(row, attribute, old, new, kind, by_number[fd], shares)
            for row, attribute, old, new, kind, fd, shares in zip(*columns, repairability, strict=True)
        ]
        return tuple(cells[i] for i in np.argsort(self.row).tolist())
