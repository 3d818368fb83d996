"""Chains of dependencies between columns: City → County → State, from the table's own rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pacas.core.builders.labelled_values import labelled_tree
from pacas.core.dependency import FunctionalDependency
from pacas.engine.grouping import Ints, count_pairs
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.hierarchies.built_tree import DraftHierarchy
from pacas.suggest.mapping.column_names import words_of

SEEN = 3
"""How often a value must stand in a column to count as one of its values: rarer ones may be typos."""
SHRINKS = 2
"""How many times as many values a column has, at least, as the one above it."""

PLACES = set(
    words_of(
        "address area borough city continent country county district facility hospital location neighborhood "
        "neighbourhood region residence state street zip"
    )
)
UNRELATED = ", by the rows: the names have nothing in common"
SAYS_NOTHING = set(words_of("code description detailed major name number of provider recode summary the type"))
"""Words that two columns may share without being about the same thing."""


class ColumnChains:
    """The columns that stand above each other, by dependencies of one column on another."""

    def __init__(self, table: CodedTable, dependencies: Iterable[FunctionalDependency]) -> None:
        self._table = table
        self._sizes = {name: int((column.counts >= SEEN).sum()) for name, column in table.columns.items()}
        self._above: dict[str, list[str]] = {}
        self._found: dict[str, tuple[str, ...]] = {}
        for fd in dependencies:
            if len(fd.lhs) == 1 and {fd.lhs[0], fd.rhs} <= set(table.columns) and self._shrinks(fd.lhs[0], fd.rhs):
                self._above.setdefault(fd.lhs[0], []).append(fd.rhs)

    def _shrinks(self, lower: str, upper: str) -> bool:
        return self._sizes[upper] >= 2 and SHRINKS * self._sizes[upper] <= self._sizes[lower]

    def above(self, name: str) -> tuple[str, ...]:
        """The chain above a column that is most about the same thing, then the longest."""
        if name not in self._found:
            chains = [(upper, *self.above(upper)) for upper in self._above.get(name, ())]
            self._found[name] = max(
                chains, key=lambda chain: (_relation(name, chain[0]), len(chain), self._sizes[chain[0]]), default=()
            )
        return self._found[name]

    def draft(self, name: str) -> DraftHierarchy | None:
        """The hierarchy of a column by the chain above it, if there is one."""
        path = self.above(name)
        if not path:
            return None
        columns = [self._table[upper] for upper in path]
        how = f"columns {' → '.join(path)}" + ("" if _relation(name, path[0]) else UNRELATED)
        return DraftHierarchy(how, labelled_tree(_labels(self._table[name], columns)))


def _relation(a: str, b: str) -> int:
    """How far two columns are about the same thing, by their names."""
    one, other = set(words_of(a)), set(words_of(b))
    return bool((one & other) - SAYS_NOTHING) + bool(one & PLACES and other & PLACES)


def _labels(column: ProfiledColumn, above: Sequence[ProfiledColumn]) -> Mapping[str, tuple[str, ...]]:
    """Each value's labels: what stands above it most often, what stands above that most often, …"""
    at = np.arange(len(column.values))
    labels = []
    lower = column
    for upper in above:
        parent = np.append(majority(lower, upper), -1)
        at = parent[at]
        labels.append([upper.values[code] if code >= 0 else f"no {upper.name}" for code in at.tolist()])
        lower = upper
    return dict(zip(column.values, zip(*labels, strict=True), strict=True))


def majority(lower: ProfiledColumn, upper: ProfiledColumn) -> Ints:
    """Per value of a column the one of another that most of its rows have, the first of equals; −1: none has any."""
    both = np.flatnonzero((lower.codes >= 0) & (upper.codes >= 0))
    child, parent, rows = count_pairs(lower.codes[both], upper.codes[both], max(len(upper.values), 1))
    order = np.lexsort((parent, -rows, child))
    first = order[np.flatnonzero(np.diff(child[order], prepend=-1))]
    found = np.full(len(lower.values), -1, dtype=np.int64)
    found[child[first]] = parent[first]
    return found
