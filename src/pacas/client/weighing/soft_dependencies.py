"""Cells that are improbable given their row: what stands beside them nearly always goes with another value.

A soft dependency is one that nobody declared: nearly all rows with one county have the same service area. A cell that
breaks it is wrong, or the cell beside it is, or it is an exception, and right. What speaks for an error: other columns
that say the same, for they would all be wrong; a text that is a slip for what they say; and that exceptions are
seldom, are none that come again, and go with no other column. A cell that any of these columns, or a dependency,
speaks for stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.exceptions import goes_with
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.client.weighed_rows.slips import is_another_number, written_for
from pacas.client.weighed_rows.witnesses import LOOKED_AT, beside
from pacas.client.weighing.model import Model
from pacas.client.weighing.rare_values import NONE, RareCells
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints

SUPPORT = 20
"""Rows that must share a value, before it says what stands beside it."""
LIKE = 0.8
"""The share of them that must agree."""
UNLIKE = 0.15
"""Of all such rows no more may be exceptions."""
OF_CHANCE = 0.25
"""Nor more than this share of those that there would be if the most frequent value were said of all."""
MOST = 6
"""Columns that are asked about an attribute."""
EXCEPTIONS = 2.0
"""For each exception that comes again there are so many that do not."""
AT_FIRST = 0.02
"""The share of an attribute's cells that is thought wrong."""
ROUNDS = 10
FEWER = 4
"""Where witnesses are chosen by a part of the rows, so many share a value."""


@dataclass(frozen=True, slots=True, eq=False)
class _Witness:
    """A column that nearly determines an attribute."""

    says: Ints
    """Per row: the value that stands beside its own nearly always; -1 where nothing does."""
    once: Mask
    """Per row: is what it shows beside it an exception that does not come again?"""
    right: float
    """The share of such exceptions that are none the less right."""


def soft_cells(model: Model) -> Mapping[str, RareCells]:
    """Per attribute: the cells that break a soft dependency, what was likeliest meant, and how likely that is."""
    outvoted = [(belief, _outvoted(belief)) for belief in model.beliefs]
    found = {}
    for name, column in model.columns.items():
        told: Mask = np.zeros(model.rows, dtype=np.bool_)
        """What is for dependencies to weigh, or what one speaks for."""
        for belief, lost in outvoted:
            if name in belief.fd.attributes:
                told |= lost
            if name == belief.fd.rhs:
                told |= (belief.side.group >= 0) & (belief.side.size[belief.side.group] > 1)
        cells = _cells(column, _witnesses(model.columns, name, ~told), ~told)
        if len(cells.rows):
            found[name] = cells
    return found


def _outvoted(belief: Belief) -> Mask:
    return belief.is_outvoted(belief.side.group, belief.column.codes)


# ---- who says what ----------------------------------------------------------------------------------------------


def _witnesses(columns: Mapping[str, WeighedColumn], name: str, open_: Mask) -> list[_Witness]:
    """The columns that determine an attribute best, of those that nearly do. They are chosen by some rows."""
    column, rows = columns[name], len(open_)
    others = {other: c for other, c in columns.items() if other != name and _occur(c) <= rows / FEWER}
    step = -(-rows // LOOKED_AT)
    least = SUPPORT if step == 1 else FEWER
    some = {other: _unlike(c.codes[::step], column, step, least) for other, c in others.items()}
    chosen = sorted(
        (unlike, number, other) for number, (other, unlike) in enumerate(some.items()) if unlike is not None
    )
    found = []
    for _, _, other in chosen[:MOST]:
        outside = [c.codes for also, c in columns.items() if also not in (name, other)]
        if (witness := _witness(others[other], column, open_, outside)) is not None:
            found.append(witness)
    return found


def _occur(column: WeighedColumn) -> int:
    return int((column.frequency > 0).sum())


def _unlike(codes: Ints, column: WeighedColumn, step: int, least: int) -> float | None:
    """The share of exceptions, if a column nearly determines an attribute."""
    pairs, _, count, total = beside(codes, column.codes[::step], len(column))
    there, most, _ = _most(pairs, count, len(column))
    some = total[there] >= least
    return _share_unlike(total[there[some]], most[some], column)


def _most(pairs: Ints, count: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """The codes that occur, how often what stands beside each most often does, and which that is."""
    code = pairs // size
    order = np.lexsort((pairs, -count, code))
    first = order[np.flatnonzero(np.diff(code[order], prepend=-1))]
    return code[first], count[first], pairs[first] % size


def _share_unlike(total: Ints, most: Ints, column: WeighedColumn) -> float | None:
    if not len(total):
        return None
    unlike = 1 - float(most.sum() / total.sum())
    by_chance = 1 - float(column.frequency.max() / max(len(column.codes), 1))
    return unlike if unlike <= min(UNLIKE, OF_CHANCE * by_chance) else None


def _witness(other: WeighedColumn, column: WeighedColumn, open_: Mask, outside: Sequence[Ints]) -> _Witness | None:
    """What a column says of an attribute; None if it does not determine it after all.

    Where exceptions are no errors, it may still speak for what is there.
    """
    pairs, at, count, total = beside(other.codes, column.codes, len(column))
    there, most, value = _most(pairs, count, len(column))
    sized = (total[there] >= SUPPORT) & other.groups[there]
    unlike = _share_unlike(total[there[sized]], most[sized], column)
    tells = sized & (most >= LIKE * total[there]) & column.known[value]
    if unlike is None or not tells.any():
        return None
    said = np.full(len(total), -1, dtype=np.int64)
    said[there[tells]] = value[tells]
    says = said[other.codes]
    against = (says >= 0) & (says != column.codes) & column.groups[column.codes] & open_
    rate = np.bincount(other.codes, weights=against, minlength=len(total)) / np.maximum(total, 1)
    once = against & (count[at] == 1)
    again = len(np.unique(at[against & ~once]))
    right = (EXCEPTIONS * again + 1) / (int(once.sum()) + 1)
    if right >= 1 or any(goes_with(against, rate[other.codes], codes) > 0 for codes in outside):
        return _Witness(np.where(says == column.codes, says, -1), np.zeros_like(once), 1.0)
    return _Witness(says, once, right)


# ---- what that makes of cells -----------------------------------------------------------------------------------


def _cells(column: WeighedColumn, witnesses: Sequence[_Witness], open_: Mask) -> RareCells:
    """Cells that all who say something speak against, and say the same."""
    against = np.zeros(len(open_), dtype=np.int64)
    meant = np.full(len(open_), -1, dtype=np.int64)
    agreed = open_ & column.groups[column.codes]
    right = np.zeros(len(open_))
    for witness in witnesses:
        speaks = witness.says >= 0
        agreed &= ~speaks | (witness.once & ((meant < 0) | (meant == witness.says)))
        meant = np.where(speaks, witness.says, meant)
        against += speaks
        right = np.maximum(right, np.where(speaks, witness.right, 0.0))
    rows = np.flatnonzero(agreed & (against > 0))
    if not len(rows):
        return NONE
    shown, meant = column.codes[rows], meant[rows]
    share = np.maximum(column.frequency[shown] / len(open_), 0.5 / len(open_))
    written = np.where(is_another_number(column, shown, meant), share, written_for(column, shown, meant))
    chance = _likely(written / share, right[rows], against[rows], len(open_))
    return RareCells(rows, meant, chance)


def _likely(slip: Floats, right: Floats, against: Ints, rows: int) -> Floats:
    """How likely each cell is wrong: beside that it is an exception, and that all who speak against it are wrong.

    `slip` is how much likelier what stands there is written for what was meant than for anything. The share of wrong
    cells is learnt.
    """
    wrong = AT_FIRST
    for _ in range(ROUNDS):
        exception = right / np.maximum(1 - right, 1e-9)
        chance = slip / (slip + exception + wrong ** (against - 1.0))
        wrong = float(np.clip((chance.sum() + 0.5) / (rows + 1), 1e-4, 0.5))
    return np.asarray(chance)
