"""The repairs page: what is written, doubtful cells first; each may be kept, undone, or written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np

from pacas.client.outcome.steps import Why
from pacas.core.words import counted
from pacas.errors import InputError
from pacas.pages.pieces import Card
from pacas.pages.typed_number import typed_number
from pacas.review.run import DONE
from pacas.review.session import ReviewSession
from pacas.review.views.cell import cell_asked
from pacas.review.views.table import violations_card
from pacas.review.written import IN_DOUBT, UNDONE, CellNumbers, Written, WrittenCell
from pacas.review.written import STATES as WRITTEN_STATES

ROWS = 50
STATES = {"written": "written", "kept": "kept", "pinned": "by hand", "undone": "undone", "left": "left in doubt"}
WHYS = {
    Why.BOUGHT: "the value bought",
    Why.EVIDENCE: "own value that fits what was bought",
    Why.COLUMN: "frequent value that fits what was bought",
    Why.WEIGHED: "own evidence and what was bought",
    Why.OWN: "own evidence",
    Why.PINNED: "by hand",
}


def repairs_page(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    written = session.written()
    if written is None:
        return {"ready": False, "error": session.outlook.error}
    columns = written.cleaning.columns
    counts = np.bincount(written.cells.column[written.cells.state != IN_DOUBT], minlength=len(columns)).tolist()
    return {
        "ready": True,
        **cards_part(session),
        "attributes": sorted((name, n) for name, n in zip(columns, counts, strict=True) if n),
        "done": session.run.state == DONE,
        "output": str(session.job.output),
        "keys": list(session.job.key),
        **list_part(session, asked),
    }


def list_part(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    written = session.known()
    chosen = {name: asked[name] for name in ("attribute", "state", "why") if asked.get(name)}
    cells = _chosen(written, chosen)
    pages = max(-(-len(cells.row) // ROWS), 1)
    page = min(max(typed_number(asked.get("page")) or 1, 1), pages)
    return {
        "cells": [line(cell) for cell in written.listed(cells.chosen(slice((page - 1) * ROWS, page * ROWS)))],
        "found": len(cells.row),
        "chosen": chosen,
        "page": page,
        "pages": pages,
        "query": urlencode(chosen | {"page": ""}),
        "states": STATES,
    }


def line_part(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    """One line again, after something was done to its cell."""
    row, attribute = cell_asked(session, asked)
    written = session.written()
    cell = None if written is None else written.cell(attribute, row)
    return {"cell": None if cell is None else line(cell), "row": row, "attribute": attribute}


def line(cell: WrittenCell) -> dict[str, Any]:
    why = "" if cell.repair is None else WHYS[cell.repair.why]
    return {
        "row": cell.row,
        "attribute": cell.attribute,
        "old": cell.old,
        "new": cell.new,
        "state": cell.state,
        "called": STATES[cell.state],
        "why": why,
        "price": cell.price,
        "bought": bool(cell.repair and cell.repair.purchases),
        "doubtful": cell.look is not None,
        "sure": None if cell.look is None else cell.look.sure,
        "members": 0 if cell.repair is None else len(cell.repair.written),
    }


def _chosen(written: Written, chosen: Mapping[str, str]) -> CellNumbers:
    """The cells of an attribute, of a state, and those that are doubtful, bought or for nothing."""
    cells, columns = written.cells, written.cleaning.columns
    if name := chosen.get("attribute"):
        cells = cells.chosen(cells.column == (columns.index(name) if name in columns else -1))
    if state := chosen.get("state"):
        cells = cells.chosen(cells.state == (WRITTEN_STATES.index(state) if state in STATES else -1))
    if why := chosen.get("why"):
        bought = written.cleaning.repairs.prices(cells.repair) > 0
        kinds = {"doubtful": cells.look >= 0, "bought": bought, "free": ~bought}
        cells = cells.chosen(kinds.get(why, np.zeros(len(cells.row), dtype=np.bool_)))
    return cells


def cards_part(session: ReviewSession) -> dict[str, Any]:
    run, written = session.run, session.written()
    cards = [] if written is None else _cards(written)
    return {"cards": cards, "lacks_edits": run.state == DONE and not run.is_written}


def _cards(written: Written) -> list[Card]:
    given = f"of {counted(written.cleaning.violations_before, 'violation')} given"
    undone = int(np.count_nonzero(written.cells.state == UNDONE))
    return [
        violations_card("Violations left", written.violations, given),
        Card("Written for nothing", f"{written.free:,}", "cells, by own evidence"),
        Card("Written for money", f"{written.paid:,}", "cells, by what was bought"),
        Card("By hand", f"{written.pinned:,}", f"cells; {undone:,} undone"),
        Card("To look at", f"{written.to_look_at:,}", "cells in doubt", written.to_look_at > 0),
    ]


# ---- what somebody does -------------------------------------------------------------------------------------------


def undo(session: ReviewSession, form: Mapping[str, str]) -> str:
    """Put back a cell, the cells of its class, or all of an attribute."""
    if form.get("whose") == "attribute":
        return _undo_attribute(session, form.get("attribute", ""))
    row, attribute = cell_asked(session, form)
    rows = session.known().rows_of_class(attribute, row) if form.get("whose") == "class" else np.array([row])
    return session.edit(attribute, rows, None)


def _undo_attribute(session: ReviewSession, attribute: str) -> str:
    changes = session.known().cleaning.changes.get(attribute)
    if changes is None:
        raise InputError(f"nothing is written into {attribute!r}")
    return session.edit(attribute, changes.rows, None)


def keep(session: ReviewSession, form: Mapping[str, str]) -> str:
    """Say that a cell, its class, or an attribute is right as it was written; what was undone is written again."""
    written = session.known()
    if form.get("whose") == "attribute":
        attribute = form.get("attribute", "")
        changes = written.base.changes.get(attribute)
        if changes is None:
            raise InputError(f"nothing is written into {attribute!r}")
        rows_by_value: dict[str | None, list[int]] = {}
        for row, new in zip(changes.rows.tolist(), changes.new, strict=True):
            rows_by_value.setdefault(new, []).append(row)
        session.edit_each(attribute, ((np.array(rows), new) for new, rows in rows_by_value.items()))
        return f"{len(changes):,} cells of {attribute} kept as they were written"
    row, attribute = cell_asked(session, form)
    base = Written(written.base)
    value = base.new(attribute, np.array([row]))[0]
    if value is None:
        raise InputError("nothing is written into that cell")
    rows = base.rows_of_class(attribute, row) if form.get("whose") == "class" else np.array([row])
    session.edit(attribute, rows, value)
    kept = f"row {row:,}, {attribute}" if len(rows) == 1 else f"{len(rows):,} cells of {attribute}"
    return f"{kept}: kept as written"


def take_guess(session: ReviewSession, form: Mapping[str, str]) -> str:
    """Write what is likeliest into a cell that was left in doubt."""
    row, attribute = cell_asked(session, form)
    found = session.known().cell(attribute, row)
    if found is None or found.state != "left" or found.new is None:
        raise InputError("that cell is not in doubt any more")
    return session.edit(attribute, np.array([row]), found.new)


def pin(session: ReviewSession, form: Mapping[str, str]) -> str:
    """Write a value by hand into a cell, or into all cells of its class."""
    row, attribute = cell_asked(session, form)
    value = form.get("value", "")
    if not value:
        raise InputError("say which value to write; undo puts back what was given")
    rows = np.array([row])
    marks = session.outlook.marks
    if form.get("whose") == "class" and marks is not None and (found := marks.class_of(attribute, row)) is not None:
        rows = found.rows
    return session.edit(attribute, rows, value)


def write(session: ReviewSession, form: Mapping[str, str]) -> str:
    return session.write()
