"""What a steward did by hand: cells put back to what was given, and values written, on top of what a cleaning wrote.

Of several edits of a cell the last one counts. One that writes what stands there anyway keeps it: somebody has looked
at it. An edit moves no money: what was bought stays bought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pacas.client.outcome.changes import Changes
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.steps import PINNED, UNDONE, Edit, Repair, Unrepaired, Why
from pacas.core.histogram import Ints
from pacas.engine.codes import coded_texts
from pacas.errors import InputError


class _Cells(NamedTuple):
    """The edited cells of one attribute, and the last edit of each."""

    rows: Ints
    """Ascending."""
    edit: Ints
    """Its place among all edits."""


def check_edit(edit: Edit, cleaning: Cleaning) -> None:
    """Raise if there are no such cells, or nothing to write into them."""
    if edit.attribute not in cleaning.columns:
        raise InputError(f"{cleaning.source.name} has no column {edit.attribute!r}")
    if not len(edit.rows) or int(edit.rows[0]) < 0 or int(edit.rows[-1]) >= cleaning.rows:
        raise InputError(f"{cleaning.source.name} has rows 0 to {cleaning.rows - 1:,}; some to be edited are not there")
    if edit.value == "":
        raise InputError("an empty value cannot be written by hand; undo puts back what was given")


def edited(cleaning: Cleaning, edits: Sequence[Edit]) -> Cleaning:
    """A cleaning with what was done by hand as its last repairs; cells that were put back are in none."""
    if not edits:
        return cleaning
    for edit in edits:
        check_edit(edit, cleaning)
    all_cells = _last_edits(edits)
    cells = {
        attribute: _changing(found, edits, cleaning.changes.get(attribute)) for attribute, found in all_cells.items()
    }
    undone = _undone(cleaning.repairs, edits, cells)
    pins = list(_pins(cleaning, edits, cells))
    repairs = [*_without(cleaning.repairs, cells), *pins]
    left = [one for one in cleaning.unrepaired if not _is_pinned(one, pins)] + undone
    weighing = None if cleaning.weighing is None else _weighing(cleaning.weighing, repairs, all_cells)
    # how many violations that leaves is counted when somebody asks: it takes a look at the whole table
    return replace(
        cleaning,
        repairs=tuple(repairs),
        unrepaired=tuple(left),
        edits=tuple(edits),
        counted_after=None,
        weighing=weighing,
    )


def _last_edits(edits: Sequence[Edit]) -> dict[str, _Cells]:
    found: dict[str, _Cells] = {}
    for attribute in dict.fromkeys(edit.attribute for edit in edits):
        numbers = [n for n, edit in enumerate(edits) if edit.attribute == attribute]
        rows = np.concatenate([edits[n].rows for n in numbers])
        number = np.repeat(np.array(numbers, dtype=np.int64), [len(edits[n].rows) for n in numbers])
        order = np.argsort(rows, kind="stable")
        last = order[np.flatnonzero(np.diff(rows[order], append=-1))]
        found[attribute] = _Cells(rows[last], number[last])
    return found


def _changing(cells: _Cells, edits: Sequence[Edit], written: Changes | None) -> _Cells:
    """The edited cells, but for those that were only kept as they were written."""
    if written is None:
        return cells
    at = np.minimum(np.searchsorted(written.rows, cells.rows), len(written) - 1)
    there = written.rows[at] == cells.rows
    kept = np.array(
        [
            is_there and edits[n].value == written.new[place]
            for is_there, n, place in zip(there, cells.edit, at, strict=True)
        ],
        dtype=np.bool_,
    )
    return _Cells(cells.rows[~kept], cells.edit[~kept])


def _without(repairs: Sequence[Repair], cells: Mapping[str, _Cells]) -> Iterator[Repair]:
    """The repairs, but for the cells that were edited since."""
    edited_rows = {attribute: set(found.rows.tolist()) for attribute, found in cells.items()}
    for repair in repairs:
        of_column, rows = edited_rows.get(repair.attribute, set()), repair.written.tolist()
        if of_column.isdisjoint(rows):
            yield repair
        else:
            kept = repair.written[np.array([row not in of_column for row in rows])]
            # by hand: there may be many, and `replace` takes as long as all else
            yield Repair(
                repair.attribute,
                repair.rows,
                repair.before,
                repair.places,
                repair.new,
                repair.why,
                kept,
                repair.round,
                repair.purchases,
                repair.violations,
            )


def _undone(repairs: Sequence[Repair], edits: Sequence[Edit], cells: dict[str, _Cells]) -> list[Unrepaired]:
    """The cells that were written and put back, those of one edit together."""
    found = []
    for attribute, (rows, numbers) in cells.items():
        written = [repair.written for repair in repairs if repair.attribute == attribute]
        had = np.isin(rows, np.concatenate(written)) if written else np.zeros(len(rows), dtype=np.bool_)
        for number in np.unique(numbers[had]).tolist():
            if edits[number].value is None:
                found.append(Unrepaired(attribute, rows[had & (numbers == number)], UNDONE))
    return found


def _pins(cleaning: Cleaning, edits: Sequence[Edit], cells: Mapping[str, _Cells]) -> Iterator[Repair]:
    """What was written by hand, those cells together that one edit wrote."""
    for attribute, (rows, numbers) in cells.items():
        by_hand = np.array([edits[number].value is not None for number in numbers.tolist()], dtype=np.bool_)
        pinned, of_edit = rows[by_hand], numbers[by_hand]
        texts = np.array(cleaning.given(attribute, pinned) if len(pinned) else [], dtype=object)
        for number in np.unique(of_edit).tolist():
            value, its = edits[number].value, np.flatnonzero(of_edit == number)
            assert value is not None
            other = np.array([text != value for text in texts[its]], dtype=np.bool_)
            before = coded_texts(pa.chunked_array([texts[its]], pa.string()))
            its_rows = pinned[its]
            yield Repair(
                attribute, its_rows, before, np.arange(len(its)), value, Why.PINNED, its_rows[other], cleaning.rounds
            )


def _is_pinned(left: Unrepaired, pins: Sequence[Repair]) -> bool:
    """Is it left because its value was written by hand, and is that still there?"""
    return left.reason == PINNED and any(
        pin.attribute == left.attribute and bool(np.isin(left.rows, pin.rows).any()) for pin in pins
    )


def _weighing(weighing: Judgement, repairs: Sequence[Repair], cells: dict[str, _Cells]) -> Judgement:
    """What was believed; who edits a cell has looked at it."""
    looked_at = {(attribute, row) for attribute, found in cells.items() for row in found.rows.tolist()}
    by_itself = [repair for repair in repairs if repair.why is not Why.PINNED]
    return replace(
        weighing,
        free=sum(len(repair.written) for repair in by_itself if not repair.purchases),
        paid=sum(len(repair.written) for repair in by_itself if repair.purchases),
        doubtful=tuple(cell for cell in weighing.doubtful if (cell.attribute, cell.row) not in looked_at),
    )
