"""The cells that somebody should look at after a cleaning, whichever way it was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.steps import Look, Repair, looks

LEFT = "left"
"""It stands as it was given, and something else is likelier."""


@dataclass(frozen=True, slots=True)
class CellToLookAt:
    """A cell that was written without being sure, or left in doubt."""

    row: int
    attribute: str
    old: str | None
    """What was given."""
    new: str | None
    """What stands there now."""
    guess: str
    """The likeliest value; the new one, if it was written."""
    look: str
    """Why: `own_quotes`, `evidence` or `unsure` (as of `Look`) if it was written, else `left`."""
    sure: float | None = None
    """How likely the guess is right, where the client weighed."""


def cells_to_look_at(repairs: Iterable[Repair], weighing: Judgement | None) -> tuple[CellToLookAt, ...]:
    """The most doubtful first where the client weighed; else in the order of the repairs."""
    if weighing is None:
        return tuple({(cell.attribute, cell.row): cell for r in repairs for cell in _flagged(r)}.values())
    return tuple(
        CellToLookAt(
            cell.row,
            cell.attribute,
            cell.value,
            cell.guess if cell.written else cell.value,
            cell.guess,
            Look.UNSURE.name.lower() if cell.written else LEFT,
            cell.sure,
        )
        for cell in weighing.doubtful
    )


def _flagged(repair: Repair) -> Iterator[CellToLookAt]:
    if not any(len(purchase.differing) for purchase in repair.purchases):
        return
    old = repair.old
    at = np.searchsorted(repair.rows, repair.written).tolist()
    for row, place, look in zip(repair.written.tolist(), at, looks(repair), strict=True):
        if look:
            yield CellToLookAt(row, repair.attribute, old[place], repair.new, repair.new, look.name.lower())
