"""What a steward did by hand: cells put back to what was given, and values written, on top of what a cleaning wrote.

Of several edits of a cell the last one counts. One that writes what stands there anyway keeps it: somebody has looked
at it. An edit moves no money: what was bought stays bought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.client.outcome.changes import Changes, net_changes
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.repairs import FREE, PAID, EditedRepairs, ListedRepairs, among
from pacas.client.outcome.steps import PINNED, UNDONE, Edit, Repair, Unrepaired, Why
from pacas.core.histogram import Ints
from pacas.engine.codes import coded_texts
from pacas.errors import InputError


class EditedCells(NamedTuple):
    """The edited cells of one attribute, and the last edit of each."""

    rows: Ints
    """Ascending."""
    edit: Ints
    """Its place among all edits."""
    kept: NDArray[np.bool_]
    """Whether it has the value that it would have without."""


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
    cells = edited_cells(cleaning, edits)
    changing = {attribute: found.rows[~found.kept] for attribute, found in cells.items()}
    pins = ListedRepairs(_pins(cleaning, edits, cells))
    repairs = EditedRepairs(cleaning.repairs, changing, pins)
    left = [one for one in cleaning.unrepaired if not _is_pinned(one, pins)]
    looked_at = {attribute: {*found.rows.tolist()} for attribute, found in cells.items()}
    to_look_at = [cell.row not in looked_at.get(cell.attribute, ()) for cell in cleaning.to_look_at]
    weighing = None if cleaning.weighing is None else _weighing(cleaning.weighing, repairs, to_look_at)
    # how many violations that leaves is counted when somebody asks: it takes a look at the whole table
    return replace(
        cleaning,
        repairs=repairs,
        unrepaired=(*left, *_undone(cleaning.repairs, edits, cells)),
        edits=tuple(edits),
        counted_after=None,
        weighing=weighing,
        known_changes=_changes(cleaning, changing, pins),
        known_to_look_at=tuple(compress(cleaning.to_look_at, to_look_at)),
    )


def edited_cells(cleaning: Cleaning, edits: Sequence[Edit]) -> dict[str, EditedCells]:
    """Per attribute: the cells that were edited, of which the last edit counts."""
    found: dict[str, EditedCells] = {}
    for attribute in dict.fromkeys(edit.attribute for edit in edits):
        numbers = [n for n, edit in enumerate(edits) if edit.attribute == attribute]
        rows = np.concatenate([edits[n].rows for n in numbers])
        number = np.repeat(np.array(numbers, dtype=np.int64), [len(edits[n].rows) for n in numbers])
        order = np.argsort(rows, kind="stable")
        last = order[np.flatnonzero(np.diff(rows[order], append=-1))]
        kept = _kept(rows[last], number[last], edits, cleaning.changes.get(attribute))
        found[attribute] = EditedCells(rows[last], number[last], kept)
    return found


def _kept(rows: Ints, numbers: Ints, edits: Sequence[Edit], written: Changes | None) -> NDArray[np.bool_]:
    """Per edited cell: is it only kept as it was written?"""
    if written is None or not len(written):
        return np.zeros(len(rows), dtype=np.bool_)
    values = [edit.value for edit in edits]
    at = np.minimum(np.searchsorted(written.rows, rows), len(written) - 1)
    same = [values[n] == written.new[place] for n, place in zip(numbers.tolist(), at.tolist(), strict=True)]
    return np.asarray(np.array(same, dtype=np.bool_) & (written.rows[at] == rows))


def _changes(cleaning: Cleaning, edited_rows: Mapping[str, Ints], pins: ListedRepairs) -> dict[str, Changes]:
    """What is written in the end: what was before, but for edited cells, and what was written by hand."""
    by_hand, found = net_changes(pins, cleaning.columns), {}
    for attribute in cleaning.columns:
        parts = [by_hand[attribute]] if attribute in by_hand else []
        if (before := cleaning.changes.get(attribute)) is not None:
            rows = edited_rows.get(attribute)
            parts.insert(0, before if rows is None else _some(before, ~among(before.rows, rows)))
        if any(map(len, parts)):
            found[attribute] = _merged(*parts)
    return found


def _some(changes: Changes, which: NDArray[np.bool_]) -> Changes:
    chosen = which.tolist()
    return Changes(changes.rows[which], [*compress(changes.old, chosen)], [*compress(changes.new, chosen)])


def _merged(one: Changes, other: Changes | None = None) -> Changes:
    """Changes of cells that are not the same."""
    if other is None or not len(other):
        return one
    rows, old, new = np.concatenate([one.rows, other.rows]), one.old + other.old, one.new + other.new
    order = np.argsort(rows)
    return Changes(rows[order], [old[i] for i in order.tolist()], [new[i] for i in order.tolist()])


def _undone(repairs: ListedRepairs, edits: Sequence[Edit], cells: Mapping[str, EditedCells]) -> Iterator[Unrepaired]:
    """The cells that were written and put back, those of one edit together."""
    for attribute, (rows, numbers, _) in cells.items():
        had = repairs.writer(attribute, rows) >= 0
        for number in np.unique(numbers[had]).tolist():
            if edits[number].value is None:
                yield Unrepaired(attribute, rows[had & (numbers == number)], UNDONE)


def _pins(cleaning: Cleaning, edits: Sequence[Edit], cells: Mapping[str, EditedCells]) -> Iterator[Repair]:
    """What was written by hand, those cells together that one edit wrote."""
    by_hand = np.array([edit.value is not None for edit in edits], dtype=np.bool_)
    for attribute, (rows, numbers, kept) in cells.items():
        of_hand = by_hand[numbers] & ~kept
        pinned, of_edit = rows[of_hand], numbers[of_hand]
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


def _weighing(weighing: Judgement, repairs: ListedRepairs, to_look_at: Sequence[bool]) -> Judgement:
    """What was believed; who edits a cell has looked at it."""
    by_kind = repairs.by_kind.tolist()
    doubtful = tuple(compress(weighing.doubtful, to_look_at))  # a cell to look at each, in this order
    return replace(weighing, free=by_kind[FREE], paid=by_kind[PAID], doubtful=doubtful)
