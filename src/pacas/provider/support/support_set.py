"""A support set of any origin: generated, or given neighbour by neighbour.

A neighbour that changes one cell of an attribute that nobody is grouped or found by is a *cell neighbour*: requests and
policies see it in this cell alone. All others are edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pacas.core.hierarchy import Codes
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.provider.column import Column
from pacas.provider.support.cell_neighbours import CellNeighbours, PerCell, per_cell_of_size
from pacas.provider.support.edits import Changed, Edits, Neighbour, edits_of
from pacas.provider.support.mix import Mix, mixed_neighbours

ONLY_UPDATES = Mix()


@dataclass(frozen=True)
class Generated:
    """How to generate a support set: so many neighbours a cell, or so many in all, and of which kinds."""

    per_cell: int = 10
    size: int | None = None
    mix: Mix = ONLY_UPDATES

    def __post_init__(self) -> None:
        if self.per_cell < 1:
            raise InputError(f"per_cell must be at least 1, not {self.per_cell}")
        if self.size is not None and self.size < 1:
            raise InputError(f"the size of a support set must be at least 1, not {self.size}")

    def counts(self, attributes: Sequence[str], rows: int, seed: bytes) -> Mapping[str, PerCell]:
        """How many neighbours each cell gets."""
        if self.size is None:
            return dict.fromkeys(attributes, self.per_cell)
        return per_cell_of_size(self.size, rows, attributes, seed)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GivenSupport:
    """A support set that is taken as it is: its neighbours, and what each weighs, in nanocredits, if they say so."""

    neighbours: Sequence[Neighbour]
    weights: Ints | None = None

    def __len__(self) -> int:
        return len(self.neighbours)


@dataclass(frozen=True, eq=False, repr=False)
class SupportSet:
    """S. Neighbours are numbered: the cell neighbours of one attribute after the other, then the edits."""

    cells: Mapping[str, CellNeighbours]
    edits: Edits
    given: Ints | None = None
    """Per neighbour its number in the support set that was given, if one was."""

    def __len__(self) -> int:
        return sum(map(len, self.cells.values())) + len(self.edits)

    @property
    def counts(self) -> dict[str, int]:
        """How many cell neighbours each attribute has."""
        return {a: len(cells) for a, cells in self.cells.items()}

    def first(self) -> dict[str | None, int]:
        """The first number of each attribute's cell neighbours, and, under None, that of the edits."""
        numbers = np.cumsum([0, *map(len, self.cells.values())]).tolist()
        return dict(zip((*self.cells, None), numbers, strict=True))

    @classmethod
    def generate(
        cls,
        how: Generated,
        attributes: Sequence[str],
        simple: Iterable[str],
        columns: Mapping[str, Column],
        seed: bytes,
    ) -> SupportSet:
        """Neighbours of the cells of some attributes (D6); of those that are not `simple` they are edits."""
        rows = len(next(iter(columns.values())))
        counts = how.counts(attributes, rows, seed)
        codes = {a: column.codes for a, column in columns.items()}
        cells: dict[str, CellNeighbours] = {}
        edits: list[Edits] = []
        for attribute in attributes:
            column = columns[attribute]
            updates, others = mixed_neighbours(
                attribute,
                column.cells,
                column.domain,
                counts[attribute],
                seed,
                mix=how.mix,
                codes=codes,
                code_of_node=column.code_of_node,
            )
            if attribute in simple:
                cells[attribute] = updates
            else:
                edits.append(Edits.of_cells(updates, column.code_of_node))
            edits.append(others)
        return cls(cells, Edits.joined(edits))

    @classmethod
    def take(cls, given: GivenSupport, simple: Iterable[str], columns: Mapping[str, Column]) -> SupportSet:
        """A support set that is taken as it is."""
        codes = {a: column.codes for a, column in columns.items()}
        edits = edits_of(given.neighbours, codes, lambda attribute, value: columns[attribute].code[value])
        return _split(edits, [a for a in columns if a in set(simple)], columns)

    def with_more(self, more: SupportSet) -> SupportSet:
        """This support set and another one of the same relation, each attribute's cell neighbours in their order."""
        cells = {a: _merged([s.cells[a] for s in (self, more) if a in s.cells]) for a in {**self.cells, **more.cells}}
        return SupportSet(cells, Edits.joined([self.edits, more.edits]))


def cells_of(attribute: str, rows: Ints, new: Codes, column: Column) -> tuple[CellNeighbours, Ints]:
    """Cell neighbours from rows and new nodes in any order, and the order in which they then stand."""
    ancestors = column.hierarchy.ancestors
    divergence = (ancestors[:, new] != ancestors[:, column.cells[rows]]).sum(axis=0).astype(np.int8)
    order = np.lexsort((divergence, rows))
    first = np.append(0, np.cumsum(np.bincount(rows, minlength=len(column)), dtype=np.int64))
    return CellNeighbours(attribute, first, new[order].astype(np.int32), divergence[order]), order


def _merged(parts: Sequence[CellNeighbours]) -> CellNeighbours:
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([part.rows for part in parts])
    divergence = np.concatenate([part.divergence for part in parts])
    order = np.lexsort((divergence, rows))
    first = np.sum([part.first for part in parts], axis=0)
    return CellNeighbours(
        parts[0].attribute, first, np.concatenate([part.new for part in parts])[order], divergence[order]
    )


def _split(edits: Edits, simple: Sequence[str], columns: Mapping[str, Column]) -> SupportSet:
    """Edits whose one effect is to change one simple cell, as cell neighbours; the others as they are."""
    patches = np.bincount(edits.neighbour, minlength=len(edits))
    changes = np.zeros(len(edits.row), dtype=np.int64)
    for changed in edits.values.values():
        changes[changed.patch] += 1
    alone = ~edits.gone & (edits.row >= 0) & (changes == 1) & (patches[edits.neighbour] == 1)
    cells: dict[str, CellNeighbours] = {}
    numbers: list[Ints] = []
    for attribute in simple:
        changed = edits.values.get(attribute, _UNCHANGED)
        mine = alone[changed.patch]
        patch, node = changed.patch[mine], columns[attribute].nodes[changed.code[mine]]
        cells[attribute], order = cells_of(attribute, edits.row[patch], node, columns[attribute])
        numbers.append(edits.neighbour[patch[order]])
    others = np.setdiff1d(np.arange(len(edits)), np.concatenate([_UNCHANGED.patch, *numbers]))
    return SupportSet(cells, _only(edits, others), np.concatenate([*numbers, others]))


def _only(edits: Edits, chosen: Ints) -> Edits:
    """Some of the neighbours, numbered anew in their order."""
    number = np.full(len(edits), -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    kept = number[edits.neighbour] >= 0
    patch = np.cumsum(kept) - 1
    values = {}
    for attribute, changed in edits.values.items():
        mine = kept[changed.patch]
        if mine.any():
            values[attribute] = Changed(patch[changed.patch[mine]], changed.code[mine])
    return Edits(len(chosen), number[edits.neighbour[kept]], edits.row[kept], edits.gone[kept], values)


_UNCHANGED = Changed(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
