"""Dependencies by which a cleaning would do harm, tried out: nothing is bought, and nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pacas.client.outcome.changes import Changes
from pacas.client.safe_clean import SafeClean
from pacas.core.dependency import FunctionalDependency
from pacas.core.relation import Relation
from pacas.protocol.marketplace import NobodySells
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.exceptions import Exceptions
from pacas.suggest.dependencies.planned import MayBeRight, PlannedChanges

HALF, MOST, TOLD = 0.5, 0.4, 0.8
"""The share of what would be changed that may be right: from a half on, which a few cells have by chance, as much is
spoiled as mended, and it is not known that well. Of a dependency that a provider tells all exceptions are errors: more
of what nothing tells of may be right, but no more of what seems right is.
"""


class TriedCleaning(NamedTuple):
    """What came of it."""

    harmful: set[FunctionalDependency]
    """Those that are to be left out, so that what the others change is mostly wrong."""
    changed: Mapping[str, int]
    """How many cells of each attribute these change."""

    def mends_more(self, other: TriedCleaning) -> bool:
        """Whether of no attribute less is changed than by another one, and of some more."""
        fewer = any(self.changed.get(name, 0) < cells for name, cells in other.changed.items())
        return not fewer and sum(self.changed.values()) > sum(other.changed.values())


def try_cleaning(
    table: CodedTable, fds: Sequence[FunctionalDependency], told: Collection[FunctionalDependency]
) -> TriedCleaning:
    """Clean a table by some dependencies, without harmful ones at last; `told` ones are of a provider."""
    harmful: set[FunctionalDependency] = set()
    relation, cells = _relation(table), dict[str, int]()
    while left := [fd for fd in fds if fd not in harmful]:
        changes = SafeClean(left, 0).clean(relation, NobodySells()).changes
        trusted = _left_sides(left)
        right, spoken = {}, {}
        for name, changed in changes.items():
            one = _may_be_right(table, name, changed, left)
            right[name] = (sum(one) - one.untold * (name in trusted)) * len(changed)
            spoken[name] = one.spoken * len(changed)
        found = {fd for fd in left if fd in told and _share(fd.attributes, right, changes) >= TOLD}
        found |= {fd for fd in left if fd in told and _share(fd.attributes, spoken, changes) >= HALF}
        for name, changed in changes.items():
            if _is_in_doubt(_with_equals(name, left), right, changes):
                found |= set(_behind(table, name, changed, left)).difference(told)
        if not found:
            cells = {name: len(changed) for name, changed in changes.items()}
            break
        harmful |= found
    return TriedCleaning(harmful, cells)


def _left_sides(fds: Sequence[FunctionalDependency]) -> set[str]:
    """Only left sides: a cleaning changes those where more than a right side speaks for it, and hardly ever in vain.

    What nothing else tells of counts as wrong there: one value stands for one other again and again where few are near.
    """
    return {name for fd in fds for name in fd.lhs}.difference(fd.rhs for fd in fds)


def _relation(table: CodedTable) -> Relation:
    """The table as it was read, with all columns: a cleaning looks at those that no dependency is about, too."""
    columns = {}
    for column in table.columns.values():
        texts = pa.array([*column.values, None], pa.string())  # −1 finds the null
        columns[column.name] = texts.take(pa.array(column.codes.astype(np.int64) % len(texts)))
    return Relation(pa.table(columns))


def _may_be_right(table: CodedTable, name: str, changed: Changes, fds: Sequence[FunctionalDependency]) -> MayBeRight:
    """Which shares of an attribute's changed cells may be right."""
    used = {attribute for fd in fds if name in fd.attributes for attribute in fd.attributes}
    return PlannedChanges(table, name, changed.rows, changed.new).may_be_right(used)


def _with_equals(name: str, fds: Sequence[FunctionalDependency]) -> set[str]:
    """An attribute, and those that tell it and are told by it: a change of either mends the same rows."""
    tells = {fd.rhs for fd in fds if fd.lhs == (name,)}
    return {name} | {fd.lhs[0] for fd in fds if fd.rhs == name and fd.lhs[0] in tells and len(fd.lhs) == 1}


def _share(names: Collection[str], right: Mapping[str, float], changes: Mapping[str, Changes]) -> float:
    """Of the changed cells of some attributes, the share that may be right."""
    changed = [name for name in names if name in changes]
    return sum(right[name] for name in changed) / max(sum(len(changes[name]) for name in changed), 1)


def _is_in_doubt(names: Collection[str], right: Mapping[str, float], changes: Mapping[str, Changes]) -> bool:
    """Whether as much may be spoiled as mended: of a few changed cells, within what the share deviates by chance."""
    share, cells = _share(names, right, changes), sum(len(changes[name]) for name in names if name in changes)
    return share >= MOST or share + (share * (1 - share) / cells) ** 0.5 >= HALF


def _behind(
    table: CodedTable, name: str, changed: Changes, fds: Sequence[FunctionalDependency]
) -> list[FunctionalDependency]:
    """The dependencies by which an attribute is changed: those that tell it, or else those that these rows break."""
    telling = [fd for fd in fds if fd.rhs == name]
    told = [fd for fd in fds if name in fd.lhs]
    return telling or [fd for fd in told if Exceptions.of(table, fd).are_among(changed.rows)] or told
