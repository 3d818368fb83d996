"""The covering neighbours of a relation that stays on the engine: few enough to be kept, by the row they change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Codes
from pacas.engine.grouping import Ints, spread
from pacas.provider.support.cell_neighbours import CellNeighbours
from pacas.provider.support.edits import Changed, Edits
from pacas.provider.support.support_set import SupportSet


@dataclass(frozen=True, eq=False, repr=False)
class CoveringCells:
    """One attribute's covering cell neighbours, by row and divergence."""

    rows: Ints
    new: Codes
    divergence: NDArray[np.int8]

    def of_rows(self, attribute: str, rows: Ints) -> CellNeighbours:
        """The cell neighbours of some rows, whose numbers ascend."""
        starts = np.searchsorted(self.rows, rows)
        sizes = np.searchsorted(self.rows, rows, side="right") - starts
        number = spread(starts, sizes)
        first = np.concatenate([[0], np.cumsum(sizes)])
        return CellNeighbours(attribute, first, self.new[number], self.divergence[number])


@dataclass(frozen=True, eq=False, repr=False)
class CoveringNeighbours:
    """The covering neighbours of all attributes. An edit changes several cells of one row: edit e of `edit_rows[e]`."""

    cells: Mapping[str, CoveringCells]
    edit_rows: Ints
    changes: Sequence[Mapping[str, int]]
    """Per edit the codes that take the cells' place."""

    @classmethod
    def none(cls) -> CoveringNeighbours:
        return cls({}, np.empty(0, dtype=np.int64), ())

    def __len__(self) -> int:
        return sum(len(cells.rows) for cells in self.cells.values()) + len(self.edit_rows)

    def count(self, attribute: str) -> int:
        return len(self.cells[attribute].rows) if attribute in self.cells else 0

    def before(self, attribute: str, rows: Ints) -> Ints:
        """How many cell neighbours of an attribute rows before each of these have."""
        if attribute not in self.cells:
            return np.zeros(len(rows), dtype=np.int64)
        return np.searchsorted(self.cells[attribute].rows, rows)

    def of_cell(self, attribute: str, row: int) -> int:
        """How many cell neighbours a row has of an attribute."""
        if attribute not in self.cells:
            return 0
        first, end = np.searchsorted(self.cells[attribute].rows, (row, row + 1)).tolist()
        return int(end - first)

    @cached_property
    def edits_of_row(self) -> Counter[int]:
        """How many edits each row has."""
        return Counter(self.edit_rows.tolist())

    @cached_property
    def most_of_a_row(self) -> int:
        """The most covering neighbours that one row has."""
        rows = np.concatenate([self.edit_rows, *(cells.rows for cells in self.cells.values())])
        return int(np.unique(rows, return_counts=True)[1].max(initial=0))

    def of_rows(self, rows: Ints, attributes: Sequence[str]) -> tuple[SupportSet, Ints]:
        """The covering neighbours of some rows, as a support set of these alone, and the numbers of its edits."""
        cells = {a: self.cells[a].of_rows(a, rows) for a in attributes if a in self.cells}
        place = np.searchsorted(rows, self.edit_rows)
        there = np.flatnonzero(rows[np.minimum(place, len(rows) - 1)] == self.edit_rows)
        return SupportSet(cells, self._edits(there, place[there])), there

    def _edits(self, numbers: Ints, rows: Ints) -> Edits:
        codes: dict[str, tuple[list[int], list[int]]] = {}
        for patch, number in enumerate(numbers.tolist()):
            for attribute, code in self.changes[number].items():
                patches, of_patch = codes.setdefault(attribute, ([], []))
                patches.append(patch)
                of_patch.append(code)
        values = {
            a: Changed(np.array(patches, dtype=np.int64), np.array(of_patch, dtype=np.int32))
            for a, (patches, of_patch) in codes.items()
        }
        return Edits(len(numbers), np.arange(len(numbers)), rows, np.zeros(len(numbers), dtype=np.bool_), values)
