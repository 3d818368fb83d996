"""Greedy-Repair where dependencies meet: X-groups are resolved one by one, the cheapest merge first.

Needed where one dependency's right side is another's too, or stands in a left side: a merge then changes what other
merges cost, and which tuples agree on X. The queue is lazy: a group that a merge has touched gets a new entry, and its
old one is passed over when it comes up.

A touched group is priced anew from its rows: fast while groups are small, but quadratic in effect where a right side
that is itself repaired groups hundreds of rows by each of its values. None of the paper's dependencies meet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import ROOT
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn
from pacas.experiments.baselines.edit_costs import EditCosts

Key = tuple[int, ...]
"""The codes of a group's values in X."""


def ground_codes(values: Sequence[str | None]) -> NDArray[np.bool_]:
    """Per code: is it a value that tuples are grouped by and that may be written? A null and `*` are not."""
    return np.array([value is not None and value != ROOT for value in values], dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class _Class:
    """Cells that are to be equal. `held` gives, per code, the weight of the cells that held it, and their first row."""

    rows: list[int]
    held: dict[int, tuple[int, int]]
    target: int
    cost: int


class _Attribute:
    """A right side: its cells' classes, and their values as they are now."""

    def __init__(self, column: CodedColumn, weights: Ints) -> None:
        self.current: list[int] = column.codes.tolist()
        self._given: list[int] = column.codes.tolist()
        self._weights: list[int] = weights.tolist()
        self._costs = EditCosts(column.values)
        self._ground = ground_codes(column.values)
        self._root = column.values.index(ROOT) if ROOT in column.values else -1
        self.class_of: dict[int, _Class] = {}
        """Only cells that share their class with others."""

    def is_violated(self, rows: Iterable[int]) -> bool:
        """Do the cells show values that are not comparable?"""
        return len({self.current[row] for row in rows} - {self._root}) > 1

    def merge_cost(self, rows: Iterable[int]) -> int:
        """What it adds to the cost that the classes of the cells are made one."""
        alone, classes = self._parts(rows)
        return self._target(self._held(alone, classes))[1] - sum(each.cost for each in classes)

    def merged(self, rows: Iterable[int]) -> _Class:
        """The classes of the cells as one; it is noted as their class."""
        alone, classes = self._parts(rows)
        held = self._held(alone, classes)
        target, cost = self._target(held)
        merged = _Class([*alone, *(row for each in classes for row in each.rows)], held, target, cost)
        self.class_of.update(dict.fromkeys(merged.rows, merged))
        return merged

    def _parts(self, rows: Iterable[int]) -> tuple[list[int], list[_Class]]:
        """The cells that are alone in their class, and the classes of the others."""
        alone: list[int] = []
        classes: dict[int, _Class] = {}
        for row in rows:
            if (found := self.class_of.get(row)) is None:
                alone.append(row)
            else:
                classes[id(found)] = found
        return alone, list(classes.values())

    def _held(self, alone: list[int], classes: list[_Class]) -> dict[int, tuple[int, int]]:
        held: dict[int, tuple[int, int]] = {}
        single = ((self._given[row], self._weights[row], row) for row in alone)
        several = ((code, *where) for each in classes for code, where in each.held.items())
        for code, weight, first in chain(single, several):
            so_far, earliest = held.get(code, (0, first))
            held[code] = so_far + weight, min(earliest, first)
        return held

    def _target(self, held: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        entries = np.array([(code, *where) for code, where in held.items()], dtype=np.int64)
        code, weight, first = entries.T
        cost = self._costs.of_writing(code, weight)
        least = cost[self._ground[code]].min()
        at = min(np.flatnonzero((cost == least) & self._ground[code]), key=first.__getitem__)
        return int(code[at]), int(least)


class _Groups:
    """One dependency's X-groups, as the values in X are now."""

    def __init__(self, lhs: Sequence[list[int]], ground: Sequence[list[bool]], rows: int) -> None:
        self._lhs = lhs
        self._ground = ground
        self.rows: defaultdict[Key, set[int]] = defaultdict(set)
        self.key_of: list[Key | None] = [None] * rows
        """Per row; None for one that is in no group."""
        for row in range(rows):
            self.move(row)

    def move(self, row: int) -> tuple[Key | None, Key | None]:
        """Put a row where it belongs now; the groups that it leaves and joins."""
        old = self.key_of[row]
        new: Key | None = tuple(codes[row] for codes in self._lhs)
        for ground, code in zip(self._ground, new or (), strict=True):
            if not ground[code]:
                new = None
                break
        if old is not None:
            self.rows[old].discard(row)
        if new is not None:
            self.rows[new].add(row)
        self.key_of[row] = new
        return old, new


class GreedyQueue:
    """The violated X-groups of some dependencies, those that are resolved at the least cost first.

    Groups of equal cost: in the order of the dependencies, then of their first rows.
    """

    def __init__(
        self, fds: Sequence[FunctionalDependency], columns: Mapping[str, CodedColumn], rows: int, weights: Ints
    ) -> None:
        self._fds = fds
        self._right = {fd.rhs: _Attribute(columns[fd.rhs], weights) for fd in fds}
        left = {a for fd in fds for a in fd.lhs}
        codes = {a: self._right[a].current if a in self._right else columns[a].codes.tolist() for a in left}
        ground = {a: ground_codes(columns[a].values).tolist() for a in left}
        self._groups = [_Groups([codes[a] for a in fd.lhs], [ground[a] for a in fd.lhs], rows) for fd in fds]
        self._entries = count()
        self._entry_of: dict[tuple[int, Key], int] = {}
        """The group's one entry that counts."""
        self._queue: list[tuple[int, int, int, int, Key]] = []
        for number, groups in enumerate(self._groups):
            for key in groups.rows:
                self._enter(number, key)

    def resolve_all(self) -> dict[str, Ints]:
        """The codes of each right side once no group is violated."""
        while self._queue:
            _, number, _, entry, key = heappop(self._queue)
            if self._entry_of.get((number, key)) == entry:
                self._resolve(number, key)
        return {a: np.array(attribute.current, dtype=np.int64) for a, attribute in self._right.items()}

    def _enter(self, number: int, key: Key) -> None:
        """Give a group the entry that it should have now, or none."""
        rows, attribute = self._groups[number].rows[key], self._right[self._fds[number].rhs]
        self._entry_of.pop((number, key), None)
        if attribute.is_violated(rows):
            entry = self._entry_of[number, key] = next(self._entries)
            heappush(self._queue, (attribute.merge_cost(rows), number, min(rows), entry, key))

    def _resolve(self, number: int, key: Key) -> None:
        rhs = self._fds[number].rhs
        attribute = self._right[rhs]
        merged = attribute.merged(self._groups[number].rows[key])
        changed = [row for row in merged.rows if attribute.current[row] != merged.target]
        for row in changed:
            attribute.current[row] = merged.target
        for other, (fd, groups) in enumerate(zip(self._fds, self._groups, strict=True)):
            touched: set[Key | None] = set()
            if fd.rhs == rhs:
                touched = {groups.key_of[row] for row in merged.rows}
            elif rhs in fd.lhs:
                touched = {found for row in changed for found in groups.move(row)}
            for found in touched:
                if found is not None:
                    self._enter(other, found)
