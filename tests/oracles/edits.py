"""What edits by hand come to, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import Edit, Why

Cell = tuple[str, int]


class Edited(NamedTuple):
    """A cleaning after edits."""

    changes: dict[Cell, tuple[str | None, str]]
    """Per cell that is another than it was given: what was given, and what stands there."""
    states: dict[Cell, str]
    """Per cell that was edited: kept, pinned or undone."""
    to_look_at: list[Cell]
    repairs: list[list[int]]
    """Per repair: the rows that are written by it still; those by hand last."""
    kinds: list[int]
    """Cells that are written by own evidence, by what was bought, by hand."""
    undone: set[Cell]
    """Cells that were written by a repair and are as they were given."""
    listed: list[tuple[str, int, str]]
    """As the page lists them, with their states: doubtful ones, then all others by row and column, then those left."""


def edited(cleaning: Cleaning, edits: Sequence[Edit]) -> Edited:
    by_itself = {
        (attribute, row): (old, new)
        for attribute, changes in cleaning.changes.items()
        for row, old, new in zip(changes.rows.tolist(), changes.old, changes.new, strict=True)
    }
    last = {(edit.attribute, row): edit.value for edit in edits for row in edit.rows.tolist()}
    changes, states = dict(by_itself), {}
    for cell, value in last.items():
        states[cell] = "undone" if value is None else "kept" if by_itself.get(cell, ("", ""))[1] == value else "pinned"
        given = cleaning.dirty.table.column(cell[0])[cell[1]].as_py()
        changes.pop(cell, None)
        if value is not None and value != given:
            changes[cell] = (given, value)
    changed_by_hand = {cell for cell, state in states.items() if state != "kept"}
    written = [
        (r, [row for row in r.written.tolist() if (r.attribute, row) not in changed_by_hand]) for r in cleaning.repairs
    ]
    pins: dict[tuple[str, str, int], list[int]] = {}
    for number, edit in enumerate(edits):
        for row in edit.rows.tolist():
            cell = (edit.attribute, row)
            is_last = not any(e.attribute == edit.attribute and row in e.rows for e in edits[number + 1 :])
            if edit.value is not None and is_last and states[cell] == "pinned":
                pins.setdefault((edit.attribute, edit.value, number), []).append(row)
    attributes = [edit.attribute for edit in edits]

    def in_order(pin: tuple[tuple[str, str, int], list[int]]) -> tuple[int, int]:
        return attributes.index(pin[0][0]), pin[0][2]

    by_hand = [
        [row for row in rows if (attribute, row) in changes]
        for (attribute, _, _), rows in sorted(pins.items(), key=in_order)
    ]
    kinds = [
        sum(len(rows) for r, rows in written if not r.purchases and r.why is not Why.PINNED),
        sum(len(rows) for r, rows in written if r.purchases),
        sum(map(len, by_hand)),
    ]
    looks = [cell for cell in cleaning.to_look_at if (cell.attribute, cell.row) not in states]
    ever = {(r.attribute, row) for r in cleaning.repairs for row in r.written.tolist()}
    undone = {cell for cell in ever if states.get(cell) == "undone"}
    place = {name: at for at, name in enumerate(cleaning.columns)}
    sure = {(cell.attribute, cell.row): cell.sure or 0.0 for cell in looks}
    shown = [*changes, *(cell for cell in by_itself if states.get(cell) == "undone")]
    shown.sort(key=lambda cell: (cell not in sure, sure.get(cell, 0.0), cell[1], place[cell[0]]))
    left = [cell for cell in looks if cell.look == "left" and cell.guess != cell.old]
    left.sort(key=lambda cell: (-(cell.sure or 0.0), cell.row, place[cell.attribute]))
    listed = [(attribute, row, states.get((attribute, row), "written")) for attribute, row in shown]
    listed += [(cell.attribute, cell.row, "left") for cell in left]
    return Edited(
        changes,
        states,
        [(cell.attribute, cell.row) for cell in looks],
        [rows for _, rows in written] + by_hand,
        kinds,
        undone,
        listed,
    )
