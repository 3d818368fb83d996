"""Neighbours that do more than change one sold cell: they move, swap, insert or delete rows.

Many of them are a few arrays. A *patch* is one row of R that a neighbour replaces or takes out, or one that it puts in;
a neighbour has any number of patches, none if it is R itself. Values are codes of the provider's `Column`s.

A `Neighbour` is one as somebody gives it, by row numbers and values. Operations come in order, and a later one may undo
what an earlier one did; what counts is their net effect, which pricing and files share here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pacas.core.hierarchy import Codes
from pacas.engine.grouping import Ints, Mask
from pacas.errors import InputError
from pacas.provider.support.cell_neighbours import CellNeighbours

Values = Mapping[str, str | None]
"""Some columns' values; None is the null."""

INSERTED = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Changed:
    """One attribute's new codes: patch `patch[i]` (ascending, each at most once) has `code[i]`."""

    patch: Ints
    code: Codes


@dataclass(frozen=True, eq=False, repr=False)
class Edits:
    """`count` neighbours by their patches.

    Patch p belongs to neighbour `neighbour[p]` (ascending). It stands in the place of R's row `row[p]`, at most once
    per neighbour, or of none (INSERTED); it is `gone` if no row takes the place. What `values` does not say of a patch
    is as in R's row; an inserted one has a code for every attribute.
    """

    count: int
    neighbour: Ints
    row: Ints
    gone: Mask
    values: Mapping[str, Changed] = field(default_factory=dict)

    @classmethod
    def none(cls) -> Edits:
        nothing = np.empty(0, dtype=np.int64)
        return cls(0, nothing, nothing, np.empty(0, dtype=np.bool_))

    @classmethod
    def of_cells(cls, cells: CellNeighbours, code_of_node: Codes) -> Edits:
        """Cell neighbours by their patches, one each: for an attribute whose change may also move a row."""
        number = np.arange(len(cells))
        changed = Changed(number, codes_of(cells.new, code_of_node))
        return cls(len(cells), number, cells.rows, np.zeros(len(cells), dtype=np.bool_), {cells.attribute: changed})

    @classmethod
    def joined(cls, parts: Sequence[Edits]) -> Edits:
        """The neighbours of several, one part after the other."""
        parts = [cls.none(), *parts]  # so that there is something to join
        neighbours = np.cumsum([0, *(part.count for part in parts)])
        attributes = dict.fromkeys(attribute for part in parts for attribute in part.values)
        return cls(
            int(neighbours[-1]),
            np.concatenate([part.neighbour + at for part, at in zip(parts, neighbours[:-1], strict=True)]),
            np.concatenate([part.row for part in parts]),
            np.concatenate([part.gone for part in parts]),
            {attribute: _joined_changes(attribute, parts) for attribute in attributes},
        )

    def __len__(self) -> int:
        return self.count

    def column(self, attribute: str, codes: Codes) -> Codes:
        """Each patch's code of an attribute, given R's; that of a patch that is gone means nothing."""
        replaced = np.maximum(self.row, 0)
        column = codes[replaced].astype(np.int32) if len(codes) else np.zeros(len(self.row), dtype=np.int32)
        if attribute in self.values:
            changed = self.values[attribute]
            column[changed.patch] = changed.code
        return column

    @cached_property
    def standing(self) -> Ints:
        """The patches that a row takes the place of."""
        return np.flatnonzero(~self.gone)


def _joined_changes(attribute: str, parts: Iterable[Edits]) -> Changed:
    patches, codes, before = [], [], 0
    for part in parts:
        if changed := part.values.get(attribute):
            patches.append(changed.patch + before)
            codes.append(changed.code)
        before += len(part.row)
    return Changed(np.concatenate(patches), np.concatenate(codes))


def codes_of(nodes: Codes, code_of_node: Codes) -> Codes:
    """The attribute's code of each node of its hierarchy."""
    codes: Codes = code_of_node.take(nodes)
    if (codes < 0).any():
        raise ValueError("a neighbour has a value without a code; give every ground value of the hierarchy one")
    return codes


# ---- from given neighbours -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Neighbour:
    """One neighbour of R: the rows it changes, with their new values or None where the row is deleted, and new rows.

    A changed row keeps what its values do not name. A new row has null there.
    """

    rows: Mapping[int, Values | None] = field(default_factory=dict)
    inserted: Sequence[Values] = ()

    def __repr__(self) -> str:  # no values: they may be the provider's
        return f"Neighbour(rows={len(self.rows)}, inserted={len(self.inserted)})"


def edits_of(
    neighbours: Iterable[Neighbour], codes: Mapping[str, Codes], code: Callable[[str, str | None], int]
) -> Edits:
    """Given neighbours by their patches.

    `codes` is R's, for each attribute that matters; what a neighbour says of others is left out. `code` gives the code
    of an attribute's value, or raises an InputError. A change to the value that R has is none.
    """
    patches = _Patches(codes, code)
    for number, neighbour in enumerate(neighbours, start=1):
        try:
            patches.add(neighbour)
        except InputError as error:
            raise InputError(f"neighbour {number}: {error}") from None
    return patches.edits()


class _Patches:
    """Patches while they are collected, in the order in which they come."""

    def __init__(self, codes: Mapping[str, Codes], code: Callable[[str, str | None], int]) -> None:
        self._codes, self._code = codes, code
        self._known: dict[str, dict[str | None, int]] = {attribute: {} for attribute in codes}
        self._changes: dict[str, tuple[list[int], list[int]]] = {attribute: ([], []) for attribute in codes}
        self._count = 0
        self._neighbour: list[int] = []
        self._row: list[int] = []
        self._gone: list[int] = []

    def add(self, neighbour: Neighbour) -> None:
        """Collect the patches of one more neighbour."""
        for row, values in neighbour.rows.items():
            if values is None:
                self._gone.append(len(self._row))
            else:
                self._change(values)
            self._patch(row)
        for values in neighbour.inserted:
            self._change({attribute: values.get(attribute) for attribute in self._codes})
            self._patch(INSERTED)
        self._count += 1

    def _patch(self, row: int) -> None:
        self._neighbour.append(self._count)
        self._row.append(row)

    def _change(self, values: Mapping[str, str | None]) -> None:
        for attribute, value in values.items():
            known = self._known.get(attribute)
            if known is None:
                continue
            if value not in known:
                known[value] = self._code(attribute, value)
            patch, code = self._changes[attribute]
            patch.append(len(self._row))
            code.append(known[value])

    def edits(self) -> Edits:
        """What was collected, without the changes and patches that change nothing."""
        row = np.array(self._row, dtype=np.int64)
        gone = np.zeros(len(row), dtype=np.bool_)
        gone[self._gone] = True
        kept = gone | (row == INSERTED)
        values = {}
        for attribute, (patches, codes) in self._changes.items():
            patch, code = np.array(patches, dtype=np.int64), np.array(codes, dtype=np.int32)
            at = row[patch]
            real = at == INSERTED
            real[~real] = code[~real] != self._codes[attribute][at[~real]]
            values[attribute] = Changed(patch[real], code[real])
            kept[patch[real]] = True
        number = np.cumsum(kept) - 1
        return Edits(
            self._count,
            np.array(self._neighbour, dtype=np.int64)[kept],
            row[kept],
            gone[kept],
            {a: Changed(number[changed.patch], changed.code) for a, changed in values.items() if len(changed.patch)},
        )
