"""Covering (D7) of a relation that stays on the engine: a pass over the X-groups that may be short of values.

Mostly there is none: the neighbours of any one cell are sure to show k values (`least_shown`), whatever was drawn.
Otherwise the groups come batch by batch, each whole, and of these only the groups with fewer than k values of their own
are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import maxsize

import numpy as np
import pyarrow as pa

from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Index
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.provider.on_engine.covering_neighbours import CoveringCells, CoveringNeighbours
from pacas.provider.on_engine.relation_summary import RelationSummary
from pacas.provider.on_engine.row_subset import RowSubset
from pacas.provider.safety.covering import Change, changes_for, support_of
from pacas.provider.safety.surviving import RelationCounts
from pacas.provider.support.cell_neighbours import NeighbourCandidates, candidates_of
from pacas.provider.support.support_set import SupportSet

AT_A_TIME = 1 << 18
"""Rows that are looked at together."""
MOST_OF_A_GROUP = 10_000
"""Rows by which a group is judged, the first ones: over so many, what the others show makes no difference but to err on
the safe side."""
MOST = 1_000_000
"""Covering neighbours that are kept in memory."""
MOST_WALKS = 20_000_000
"""Steps of walks that are followed; where there would be more, a simpler and lower number is given."""

ALL_ALIVE = RelationCounts(maxsize, 0, False)


def find_covering(summary: RelationSummary, index_by: Callable[[Sequence[str]], Index]) -> CoveringNeighbours:
    """The neighbours that X-groups still need. `index_by` makes an index by the columns given."""
    found = _Collected()
    for number, policy in enumerate(summary.terms.policies):
        if not is_sure(summary, policy):
            _pass(summary, number, policy, index_by(policy.x), found)
    return found.covering()


def is_sure(summary: RelationSummary, policy: Policy) -> bool:
    """Do the neighbours of any one row show k values?"""
    shown = 1
    for attribute, level in policy.y_levels.items():
        column = summary.columns[attribute]
        occurring = np.unique(column.nodes[np.flatnonzero(column.counts)]).astype(np.int64)
        shown += least_shown(column.domain, occurring, summary.of_a_cell[attribute], level)
    return shown >= policy.k


def _pass(summary: RelationSummary, number: int, policy: Policy, index: Index, found: _Collected) -> None:
    for batch in index.batches(AT_A_TIME, maxsize):
        rows, texts = _doubtful(summary, policy, batch.select(["row", *dict.fromkeys([*policy.x, *policy.y])]))
        if not len(rows):
            continue
        subset = RowSubset(summary, rows, texts, [a for a in summary.terms.protected if a in policy.y])
        (margin,) = subset.surviving({}, subset.linked([policy]), ALL_ALIVE).margins
        changes = list(changes_for(margin, maxsize, subset.columns, summary.seed, (number, 0), rows))
        found.add(number, rows, changes, support_of([c for _, c in changes], set(policy.y), subset.columns))
        if found.count > MOST:
            raise InputError(
                f"policy {number + 1} needs over {MOST:,} neighbours more, as many X-groups show fewer than "
                f"k = {policy.k} values; give a higher per_cell, a lower k or a lower level"
            )


def _doubtful(summary: RelationSummary, policy: Policy, batch: pa.Table) -> tuple[Ints, pa.Table]:
    """The rows of groups with fewer than k values of their own: no other group can be short."""
    rows = batch.column("row").to_numpy()
    texts = batch.drop_columns(["row"])
    if not len(rows):
        return rows, texts
    (linked,) = RowSubset(summary, rows, texts, []).linked([policy])
    doubtful = np.append(linked.own_values < policy.k, False)[linked.group]  # −1 finds the False
    return rows[doubtful], texts.filter(pa.array(doubtful))


class _Collected:
    """Covering neighbours as they are found, batch by batch."""

    def __init__(self) -> None:
        self.count = 0
        self._cells: dict[str, list[CoveringCells]] = {}
        self._edits: list[tuple[int, int, int, dict[str, int]]] = []
        """The policy and the first row of the group that needs it, the row that changes, and its new codes."""

    def add(self, policy: int, rows: Ints, changes: Sequence[tuple[int, Change]], support: SupportSet) -> None:
        self.count += len(changes)
        for attribute, cells in support.cells.items():
            kept = CoveringCells(rows[cells.rows], cells.new, cells.divergence)
            self._cells.setdefault(attribute, []).append(kept)
        firsts = [first for first, (_, values) in changes if len(values) > 1]
        codes: list[dict[str, int]] = [{} for _ in firsts]
        for attribute, changed in support.edits.values.items():
            for patch, code in zip(changed.patch.tolist(), changed.code.tolist(), strict=True):
                codes[patch][attribute] = code
        for first, row, values in zip(firsts, rows[support.edits.row].tolist(), codes, strict=True):
            self._edits.append((policy, first, row, values))

    def covering(self) -> CoveringNeighbours:
        """What was found: cells by row and divergence, edits in the order in which the groups come."""
        edits = sorted(self._edits, key=lambda edit: edit[:2])
        return CoveringNeighbours(
            {a: _joined(parts) for a, parts in self._cells.items()},
            np.array([row for _, _, row, _ in edits], dtype=np.int64),
            [codes for *_, codes in edits],
        )


def _joined(parts: Sequence[CoveringCells]) -> CoveringCells:
    rows = np.concatenate([part.rows for part in parts])
    divergence = np.concatenate([part.divergence for part in parts])
    order = np.lexsort((divergence, rows))
    return CoveringCells(rows[order], np.concatenate([part.new for part in parts])[order], divergence[order])


# ---- what neighbours are sure to show --------------------------------------------------------------------------------


def least_shown(hierarchy: Hierarchy, values: Ints, per_cell: int, level: int) -> int:
    """Other values at a level that the neighbours of a cell show, at least: over the ground values (nodes) it may hold.

    Neighbours that diverge at different heights differ at every level below both, so what each height shows adds up.
    """
    candidates = candidates_of(hierarchy)
    wanted = np.full(len(values), per_cell, dtype=np.int32)
    shown = np.zeros(len(values), dtype=np.int64)
    for below in range(level + 1, hierarchy.height + 1):
        share = candidates.share(values, wanted, below)
        run = candidates.run(values, below - 1)
        kinds, which = np.unique(np.stack([run, share], axis=1), axis=0, return_inverse=True)
        _, example = np.unique(which, return_index=True)
        steps = sum(candidates.count(int(values[e]), below) * int(n) for e, n in zip(example, kinds[:, 1], strict=True))
        of_kind = [
            _fewest(candidates, hierarchy, int(values[e]), below, int(n), level, steps <= MOST_WALKS)
            for e, n in zip(example, kinds[:, 1], strict=True)
        ]
        shown += np.array(of_kind, dtype=np.int64)[which.ravel()]
    return int(shown.min(initial=np.iinfo(np.int64).max))


def _fewest(
    candidates: NeighbourCandidates, hierarchy: Hierarchy, value: int, below: int, share: int, level: int, follow: bool
) -> int:
    """The fewest values at a level that a walk of `share` steps shows, from whichever place it begins."""
    count = candidates.count(value, below)
    if share == 0 or count == 0:
        return 0
    if level == 0:
        return min(share, count)
    if not follow:
        largest = int(np.bincount(hierarchy.ancestors[level, candidates.listed(value, below)]).max())
        return -(-min(share, count) // largest)
    labels = hierarchy.ancestors[level, candidates.listed(value, below)]
    walks = (np.arange(count)[:, None] + np.arange(min(share, count)) * candidates.stride(value, below)) % count
    seen = np.sort(labels[walks], axis=1)
    return int((1 + (np.diff(seen, axis=1) != 0).sum(axis=1)).min())
