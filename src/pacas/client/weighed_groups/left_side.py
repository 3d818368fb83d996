"""A left side X and its groups: the rows that agree on ground values in all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from pacas.client.weighed_groups.tuple_index import TupleIndex
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.core.histogram import Ints
from pacas.engine.grouping import Groups


class LeftSide:
    """The X-groups of a relation, numbered from 0."""

    def __init__(self, columns: Sequence[WeighedColumn]) -> None:
        self.attributes = tuple(column.name for column in columns)
        self._columns = list(columns)
        grouped = np.logical_and.reduce([column.groups[column.codes] for column in columns])
        rows = np.flatnonzero(grouped)
        self._index = TupleIndex([column.codes[rows] for column in columns], [len(column) for column in columns])
        self.count = self._index.count if len(rows) else 0
        self.group: Ints = np.full(len(grouped), -1, dtype=np.int64)
        """Per row: its group, −1 for a row that is in none."""
        self.group[rows] = self._index.number
        self.members = Groups.of(self.group, self.count)
        self.size: Ints = np.diff(self.members.offsets)
        self._kin: dict[str, GroupKin] = {}

    @cached_property
    def first(self) -> Ints:
        """Per group: its first row."""
        return self.members.members[self.members.offsets[:-1]]

    @cached_property
    def values(self) -> Mapping[str, Ints]:
        """Per attribute: what each group holds."""
        return {column.name: column.codes[self.first] for column in self._columns}

    def find(self, values: Mapping[str, Ints]) -> Ints:
        """The groups of tuples that are given by attribute, −1 where there is none."""
        if not self.count:
            return np.full(len(values[self.attributes[0]]), -1, dtype=np.int64)
        return self._index.find([values[a] for a in self.attributes])

    def kin(self, attribute: str) -> GroupKin:
        """Its groups by all of the left side but one attribute."""
        if attribute not in self._kin:
            self._kin[attribute] = GroupKin(self, [column for column in self._columns if column.name != attribute])
        return self._kin[attribute]


class GroupKin:
    """Groups that agree on the rest of their left side: those to which an error in one attribute leads."""

    def __init__(self, side: LeftSide, rest: Sequence[WeighedColumn]) -> None:
        self._rest = [column.name for column in rest]
        self._index = TupleIndex([side.values[a] for a in self._rest], [len(column) for column in rest])
        self.number: Ints = self._index.number if rest else np.zeros(side.count, dtype=np.int64)
        """Per group: a number that it shares with its kin."""
        self.order: Ints = np.argsort(self.number, kind="stable")
        """The groups, kin beside kin."""
        self._ranked = self.number[self.order]
        self.reach: Ints = np.concatenate([[0], np.cumsum(side.size[self.order])])
        """How many rows the groups have that come before each in that order."""

    @property
    def count(self) -> int:
        return int(self._ranked[-1]) + 1 if len(self._ranked) else 0

    def rows_of(self, number: Ints) -> tuple[Ints, Ints]:
        """Where in `reach` the rows of some numbers begin and end."""
        low, high = np.searchsorted(self._ranked, number), np.searchsorted(self._ranked, number, side="right")
        return self.reach[low], self.reach[high]

    def find(self, values: Mapping[str, Ints], which: Ints) -> Ints:
        """The numbers of some tuples that are given by attribute, −1 for one that has no kin."""
        if not self._rest:
            return np.zeros(len(which), dtype=np.int64)
        return self._index.find([values[a][which] for a in self._rest])
