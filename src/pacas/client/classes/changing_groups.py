"""A dependency X → B whose tuples change groups while cells are repaired, and the errors that come and go with them.

Where a class of an attribute in X is repaired, its tuples leave their X-groups and join others. How many violating
pairs a class takes part in then changes for classes all over these groups. Nothing is recounted: a batch of tuples with
one value that leaves or joins a group changes exactly the pairs that it forms with the tuples of incomparable value.

Where not all rows are held, the groups with violations are whole, and any other one is made whole before the first row
joins it: as long as its own rows agree, none that leaves it takes a violation away. Most rows join a group that can be
foreseen, as a class mostly ends with a value that it has: those are made whole together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.client.classes.current_relation import CurrentColumn, CurrentRelation
from pacas.client.classes.equivalence import pairs_touching
from pacas.core.consistency import GroupedRows
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Codes
from pacas.core.histogram import NO_ROWS, Ints

MANY_BATCHES = 48
"""From here on, the groups of all batches are counted at once, before and after."""

SMALL_TREE = 2048
"""Up to here, what a value is incomparable with is kept in a table."""

FEW = 64
"""Classes are looked up by number, rather than sorted, if more than one in so many of them is met."""

MANY_VALUES = 1 << 24
"""How many values may turn up in a column where not all rows are held."""

FORESEEN = 1 << 20
"""How many rows and values are looked at together to foresee what may be joined."""

Fetch = Callable[[FunctionalDependency, list[list[str | None]]], None]
"""Told to hold all rows whose left side has one of these values, given by column."""
Changed = Callable[[Ints, Ints], None]
"""Told by how much the errors of some classes change: their numbers, each once, and the differences."""


class ChangingGroups:
    """The X-groups of a dependency on the current relation."""

    def __init__(
        self,
        fd: FunctionalDependency,
        violating: GroupedRows,
        current: CurrentRelation,
        class_of: Mapping[str, Ints],
        classes: int,
        changed: Changed,
        fetch: Fetch | None = None,
    ) -> None:
        """`class_of` gives each row's class in an attribute, −1 for none that is left; the caller keeps it so.

        `fetch` is given where not all rows are held.
        """
        self.fd = fd
        self.violations = int(violating.violations.sum())
        self._right = current[fd.rhs]
        self._members_of = class_of
        self._in_classes = [a for a in fd.attributes if a in class_of]
        self._classes = classes
        self._changed = changed
        self._fetch = fetch
        self._keys = GroupKeys([current[a] for a in fd.lhs], classes if fetch is None else MANY_VALUES)
        self._first, count = self._keys.number(np.arange(current.size))
        self._whole = {*self._first[violating.first_rows].tolist()}
        """The groups that are known to be whole, where not all rows are held."""
        self._group = self._first.copy()
        self._order = np.argsort(self._first, kind="stable")
        self._offsets = np.searchsorted(self._first[self._order], np.arange(count + 1))
        self._joined: dict[int, Ints] = {}
        """Per group: rows that are not among its first ones; some may have left again."""

    def leave(self, rows: Ints) -> None:
        """Take rows out of their groups, as their values are about to change."""
        batches = list(self._batches(rows, self._group[rows]))
        if len(batches) > MANY_BATCHES:
            self._recount(self._group[rows], lambda: self._group.__setitem__(rows, -1))
            return
        for group, code, batch in batches:
            self._group[batch] = -1
            self._count(group, code, batch, -1)

    def join(self, rows: Ints) -> None:
        """Put rows into the groups where they belong now."""
        groups, _ = self._keys.number(rows)
        if self._fetch is not None:
            self._make_whole(self._fetch, self._keys.codes(rows), groups)
        batches = list(self._batches(rows, groups))
        if len(batches) > MANY_BATCHES:
            self._recount(groups, lambda: self._enter_all(rows, groups))
            return
        for group, code, batch in batches:
            self._count(group, code, batch, +1)
            self._enter(group, batch)

    def admit(self, rows: Ints) -> None:
        """Rows that nobody held before: each is in the group that it has always been in."""
        groups, _ = self._keys.number(rows)
        self._first = np.concatenate([self._first, np.full(len(rows), -1, dtype=np.int64)])
        self._group = np.concatenate([self._group, np.full(len(rows), -1, dtype=np.int64)])
        self._enter_all(rows, groups)

    def foresee(self, cells: Mapping[str, GroupedRows]) -> None:
        """Make all groups whole that rows join if a class on the left side ends with a value that it has already."""
        for position, attribute in enumerate(self.fd.lhs):
            classes = cells.get(attribute)
            if self._fetch is None or classes is None or not len(classes):
                continue
            rows, values = _each_value(classes, self._keys.columns[position].codes[classes.rows])
            codes = self._keys.codes(rows)
            codes[position] = values
            self._make_whole(self._fetch, codes, self._keys.find(codes))

    def _make_whole(self, fetch: Fetch, codes: list[Codes], groups: Ints) -> None:
        """Hold all rows of some groups, given with the codes of their left sides."""
        numbers, first = np.unique(groups, return_index=True)
        torn = np.array([g >= 0 and g not in self._whole for g in numbers.tolist()], dtype=np.bool_)
        if torn.any():
            self._whole.update(numbers[torn].tolist())
            fetch(self.fd, self._keys.texts([column[first[torn]] for column in codes]))

    @property
    def _class_of(self) -> Iterator[Ints]:
        return (self._members_of[a] for a in self._in_classes)

    # ---- a few batches ----------------------------------------------------------------------------------------

    def _batches(self, rows: Ints, groups: Ints) -> Iterator[tuple[int, int, Ints]]:
        """The rows that are in a group, by group and value."""
        batches: dict[tuple[int, int], list[int]] = {}
        codes = self._right.codes[rows]
        for row, group, code in zip(rows.tolist(), groups.tolist(), codes.tolist(), strict=True):
            if group >= 0:
                batches.setdefault((group, code), []).append(row)
        for (group, code), batch in batches.items():
            yield group, code, np.array(batch, dtype=np.int64)

    def _count(self, group: int, code: int, batch: Ints, sign: int) -> None:
        """Add or take off the pairs of a batch, all of one value, and the others in its group."""
        clashing = self._clashing(self._members(group), code)
        if not len(clashing):
            return
        self.violations += sign * len(batch) * len(clashing)
        for class_of in self._class_of:
            others, own = class_of[clashing], class_of[batch]
            others, own = others[others >= 0], own[own >= 0]
            if len(others) + len(own):
                self._count_in_classes(others, own, len(batch), len(clashing), sign)

    def _count_in_classes(self, others: Ints, own: Ints, batch: int, clashing: int, sign: int) -> None:
        """A pair counts for a class once, whether it has one end in it or both."""
        if len(others) * FEW < self._classes:
            numbers, at = np.unique(np.concatenate([others, own]), return_inverse=True)
        else:
            numbers, at = np.arange(self._classes), np.concatenate([others, own])
        there = np.bincount(at[: len(others)], minlength=len(numbers))
        here = np.bincount(at[len(others) :], minlength=len(numbers))
        touched = np.flatnonzero(there + here)
        there, here = there[touched], here[touched]
        self._changed(numbers[touched], sign * (batch * there + here * (clashing - there)))

    def _clashing(self, members: Ints, code: int) -> Ints:
        """The rows whose value is incomparable with a code's."""
        tree, codes = self._right.hierarchy, self._right.codes[members]
        if len(tree) > SMALL_TREE:
            clash = ~tree.comparable(codes, code)
        else:
            if code not in (tables := self._right.clash_tables):
                tables[code] = ~tree.comparable(np.arange(len(tree), dtype=np.int32), code)
            clash = tables[code][codes]
        clashing: Ints = np.compress(clash, members)
        return clashing

    def _members(self, group: int) -> Ints:
        rows = self._joined.get(group, NO_ROWS)
        if group < len(self._offsets) - 1:
            first = self._order[self._offsets[group] : self._offsets[group + 1]]
            rows = np.concatenate([first, rows]) if len(rows) else first
        members: Ints = rows[self._group[rows] == group]
        return members

    def _enter(self, group: int, batch: Ints) -> None:
        others = batch[self._first[batch] != group]
        if len(others):
            before = self._joined.get(group, NO_ROWS)
            self._joined[group] = np.concatenate([before[self._group[before] == group], others])
        self._group[batch] = group

    # ---- many batches -----------------------------------------------------------------------------------------

    def _enter_all(self, rows: Ints, groups: Ints) -> None:
        order = np.argsort(groups, kind="stable")
        affected, starts = np.unique(groups[order], return_index=True)
        for group, batch in zip(affected.tolist(), np.split(rows[order], starts[1:]), strict=True):
            if group >= 0:
                self._enter(group, batch)

    def _recount(self, groups: Ints, move: Callable[[], None]) -> None:
        """Count whole groups before and after rows move in or out of them."""
        affected = np.unique(groups[groups >= 0])
        before = self._contribution(affected)
        move()
        difference = self._contribution(affected) - before
        self.violations += int(difference[-1])
        numbers = np.flatnonzero(difference[:-1])
        self._changed(numbers, difference[numbers])

    def _contribution(self, affected: Ints) -> Ints:
        """Per class: the violating pairs inside some groups that it takes part in; and, last, how many there are."""
        rows = np.concatenate([self._members(group) for group in affected.tolist()])
        rows = rows[np.lexsort((rows, self._group[rows]))]
        offsets = np.append(np.searchsorted(self._group[rows], affected), len(rows))
        grouped = GroupedRows(rows, offsets, self._right.codes[rows], self._right.hierarchy)
        counts = np.zeros(self._classes + 1, dtype=np.int64)
        for class_of in self._class_of:
            counts[:-1] += pairs_touching(grouped, class_of[rows], self._classes)
        counts[-1] = grouped.violations.sum()
        return counts


def _each_value(classes: GroupedRows, codes: Codes) -> tuple[Ints, Codes]:
    """Each row of the classes with each value of its class; of very many, those of the first classes.

    Two classes: rows 2 and 5, whose values are 7 and 8, and row 9, whose value is 7.

    >>> from pacas.core.hierarchy import Hierarchy
    >>> classes = GroupedRows(np.array([2, 5, 9]), np.array([0, 2, 3]), np.array([7, 8, 7]), Hierarchy.flat(()))
    >>> rows, values = _each_value(classes, classes.codes)
    >>> list(zip(rows.tolist(), values.tolist()))
    [(2, 7), (2, 8), (5, 7), (5, 8), (9, 7)]
    """
    width = int(codes.max(initial=0)) + 1
    group, value = np.divmod(np.unique(classes.groups * width + codes), width)
    values = np.bincount(group, minlength=len(classes))
    kept = int(np.searchsorted(np.cumsum(values * classes.sizes), FORESEEN))
    rows = classes.rows[: classes.offsets[kept]]
    times = np.repeat(values[:kept], classes.sizes[:kept])
    start = np.repeat((np.cumsum(values) - values)[:kept], classes.sizes[:kept])
    within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(rows, times), value[np.repeat(start, times) + within].astype(np.int32)


class GroupKeys:
    """Numbers for combinations of ground values: each gets one when it is first seen, and keeps it."""

    def __init__(self, columns: list[CurrentColumn], spare: int) -> None:
        """`spare` more values may turn up in each column later."""
        self.columns = columns
        self._room = [len(column.hierarchy) + spare for column in columns]
        fits = float(np.prod([float(room) for room in self._room])) < 2**62
        self._type: Any = np.int64 if fits else object
        self._first: NDArray[Any] = np.zeros(0, dtype=self._type)
        self._later: dict[Any, int] = {}
        self._seen = False

    def number(self, rows: Ints) -> tuple[Ints, int]:
        """The group of each row, −1 for a row with a null or a general value in X; and how many groups there are."""
        return self.find(self.codes(rows)), len(self._first) + len(self._later)

    def codes(self, rows: Ints) -> list[Codes]:
        """What rows have on the left side, by column."""
        return [column.codes[rows] for column in self.columns]

    def texts(self, codes: list[Codes]) -> list[list[str | None]]:
        """Left sides, given by column as codes, as they are written."""
        return [
            [column.hierarchy.label(code) for code in of.tolist()]
            for column, of in zip(self.columns, codes, strict=True)
        ]

    def find(self, codes: list[Codes]) -> Ints:
        """The groups of left sides, given by column."""
        key: NDArray[Any] = np.zeros(len(codes[0]), dtype=self._type)
        ground = np.ones(len(key), dtype=np.bool_)
        for column, room, of in zip(self.columns, self._room, codes, strict=True):
            ground &= column.groups[of]
            key = key * room + of.astype(self._type)
        groups = np.full(len(key), -1, dtype=np.int64)
        groups[ground] = self._find(key[ground]) if self._seen else self._begin(key[ground])
        return groups

    def _begin(self, keys: NDArray[Any]) -> Ints:
        self._first, numbers = np.unique(keys, return_inverse=True)
        self._seen = True
        return numbers

    def _find(self, keys: NDArray[Any]) -> Ints:
        at = np.searchsorted(self._first, keys)
        for i, key in enumerate(keys.tolist()):
            if at[i] == len(self._first) or self._first[at[i]] != key:
                at[i] = self._later.setdefault(key, len(self._first) + len(self._later))
        return at
