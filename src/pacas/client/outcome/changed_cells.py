"""Every cell that a cleaning has changed, and those in doubt that it left, with what each is owed to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pacas.client.outcome.changes import Changes
from pacas.client.outcome.steps import Repair
from pacas.client.outcome.to_look_at import CellToLookAt


class ChangedCell(NamedTuple):
    """A cell, what stood there and what stands there now: a repair wrote it, or somebody should look at it, or both."""

    row: int
    attribute: str
    old: str | None
    new: str | None
    repair: Repair | None
    look: CellToLookAt | None

    @property
    def price(self) -> int | None:
        """What was bought for the cell's whole class, in nanocredits; None where nothing was."""
        bought = () if self.repair is None else self.repair.purchases
        return sum(purchase.price for purchase in bought) if bought else None


def changed_cells(
    changes: Mapping[str, Changes], repairs: Iterable[Repair], look: Iterable[CellToLookAt], columns: Sequence[str]
) -> list[ChangedCell]:
    """By row, then by column."""
    seen = {(cell.row, cell.attribute): cell for cell in look}
    written = {(row, repair.attribute): repair for repair in repairs for row in repair.written.tolist()}
    values: dict[tuple[int, str], tuple[str | None, str | None]] = {
        cell: (found.old, found.new) for cell, found in seen.items()
    } | {
        (row, attribute): (old, new)
        for attribute, changed in changes.items()
        for row, old, new in zip(changed.rows.tolist(), changed.old, changed.new, strict=True)
    }
    place = {attribute: at for at, attribute in enumerate(columns)}
    return [
        ChangedCell(cell[0], cell[1], *values[cell], written.get(cell), seen.get(cell))
        for cell in sorted(values, key=lambda cell: (cell[0], place[cell[1]]))
    ]
