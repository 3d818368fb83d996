"""Covering (D7) of a relation that stays on the engine: a pass over the X-groups that may be short of values.

Mostly there is none: the neighbours of any one cell show k values already (`reach.py`). Otherwise the groups come batch
by batch, each whole, and of these only the groups with fewer than k values of their own are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import maxsize

import numpy as np
import pyarrow as pa

from pacas.core.anonymity import Policy
from pacas.engine.contract import Index
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.provider.on_engine.covering_neighbours import Cover, CoverCells
from pacas.provider.on_engine.reach import least_shown
from pacas.provider.on_engine.relation_summary import Whole
from pacas.provider.on_engine.row_subset import Part
from pacas.provider.safety.covering import Change, changes_for, support_of
from pacas.provider.safety.surviving import Beyond
from pacas.provider.support.support_set import SupportSet

AT_A_TIME = 1 << 18
"""Rows that are looked at together."""
MOST_OF_A_GROUP = 10_000
"""Rows by which a group is judged, the first ones: over so many, what the others show makes no difference but to err on
the safe side."""
MOST = 1_000_000
"""Covering neighbours that are kept in memory."""

ALL_ALIVE = Beyond(maxsize, 0, False)


def cover(whole: Whole, index_by: Callable[[Sequence[str]], Index]) -> Cover:
    """The neighbours that X-groups still need. `index_by` makes an index by the columns given."""
    found = _Found()
    for number, policy in enumerate(whole.terms.policies):
        if not is_sure(whole, policy):
            _pass(whole, number, policy, index_by(policy.x), found)
    return found.cover()


def is_sure(whole: Whole, policy: Policy) -> bool:
    """Do the neighbours of any one row show k values?"""
    shown = 1
    for attribute, level in policy.y_levels.items():
        column = whole.columns[attribute]
        occurring = np.unique(column.nodes[np.flatnonzero(column.counts)]).astype(np.int64)
        shown += least_shown(column.domain, occurring, whole.of_a_cell[attribute], level)
    return shown >= policy.k


def _pass(whole: Whole, number: int, policy: Policy, index: Index, found: _Found) -> None:
    for batch in index.batches(AT_A_TIME, maxsize):
        rows, texts = _doubtful(whole, policy, batch.select(["row", *dict.fromkeys([*policy.x, *policy.y])]))
        if not len(rows):
            continue
        part = Part(whole, rows, texts, [a for a in whole.terms.protected if a in policy.y])
        (margin,) = part.surviving({}, part.linked([policy]), ALL_ALIVE).margins
        changes = list(changes_for(margin, maxsize, part.columns, whole.seed, (number, 0), rows))
        found.add(number, rows, changes, support_of([c for _, c in changes], set(policy.y), part.columns))
        if found.count > MOST:
            raise InputError(
                f"policy {number + 1} needs over {MOST:,} neighbours more, as many X-groups show fewer than "
                f"k = {policy.k} values; give a higher per_cell, a lower k or a lower level"
            )


def _doubtful(whole: Whole, policy: Policy, batch: pa.Table) -> tuple[Ints, pa.Table]:
    """The rows of groups with fewer than k values of their own: no other group can be short."""
    rows = batch.column("row").to_numpy()
    texts = batch.drop_columns(["row"])
    if not len(rows):
        return rows, texts
    (linked,) = Part(whole, rows, texts, []).linked([policy])
    doubtful = np.append(linked.own_values < policy.k, False)[linked.group]  # −1 finds the False
    return rows[doubtful], texts.filter(pa.array(doubtful))


class _Found:
    """Covering neighbours as they are found, batch by batch."""

    def __init__(self) -> None:
        self.count = 0
        self._cells: dict[str, list[CoverCells]] = {}
        self._edits: list[tuple[int, int, int, dict[str, int]]] = []
        """The policy and the first row of the group that needs it, the row that changes, and its new codes."""

    def add(self, policy: int, rows: Ints, changes: Sequence[tuple[int, Change]], support: SupportSet) -> None:
        self.count += len(changes)
        for attribute, cells in support.cells.items():
            kept = CoverCells(rows[cells.rows], cells.new, cells.divergence)
            self._cells.setdefault(attribute, []).append(kept)
        firsts = [first for first, (_, values) in changes if len(values) > 1]
        codes: list[dict[str, int]] = [{} for _ in firsts]
        for attribute, changed in support.edits.values.items():
            for patch, code in zip(changed.patch.tolist(), changed.code.tolist(), strict=True):
                codes[patch][attribute] = code
        for first, row, values in zip(firsts, rows[support.edits.row].tolist(), codes, strict=True):
            self._edits.append((policy, first, row, values))

    def cover(self) -> Cover:
        """All of them: cells by row and divergence, edits in the order in which the groups come."""
        edits = sorted(self._edits, key=lambda edit: edit[:2])
        return Cover(
            {a: _joined(parts) for a, parts in self._cells.items()},
            np.array([row for _, _, row, _ in edits], dtype=np.int64),
            [codes for *_, codes in edits],
        )


def _joined(parts: Sequence[CoverCells]) -> CoverCells:
    rows = np.concatenate([part.rows for part in parts])
    divergence = np.concatenate([part.divergence for part in parts])
    order = np.lexsort((divergence, rows))
    return CoverCells(rows[order], np.concatenate([part.new for part in parts])[order], divergence[order])
