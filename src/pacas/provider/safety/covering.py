"""Covering (D7): neighbours that a generated support set still needs, so that it is safe before anything is sold.

A group that is short of k values at L gets neighbours in which one of its rows has another value at L. Which row and
which values is drawn by keyed hash: who knows the rule but not the seed learns nothing from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np

from pacas.engine.grouping import Ints
from pacas.provider.column import Column
from pacas.provider.safety.linked_values import LinkedValues
from pacas.provider.safety.margins import Margins
from pacas.provider.support.cell_neighbours import draws_of
from pacas.provider.support.edits import Edits, Neighbour, edits_of
from pacas.provider.support.support_set import SupportSet, cells_of

Change = tuple[int, dict[str, int]]
"""A row, and the nodes that its cells have instead."""


def covering(
    margins: Sequence[Margins], alive: int, simple: Iterable[str], columns: Mapping[str, Column], seed: bytes, turn: int
) -> SupportSet:
    """Neighbours for the groups that are short; none if no group is, or nothing helps."""
    changes: list[Change] = []
    for policy, margin in enumerate(margins):
        changes += (change for _, change in changes_for(margin, alive, columns, seed, (policy, turn)))
    return support_of(changes, set(simple), columns)


def changes_for(
    margin: Margins,
    alive: int,
    columns: Mapping[str, Column],
    seed: bytes,
    turn: tuple[int, int],
    numbers: Ints | None = None,
) -> Iterator[tuple[int, Change]]:
    """What one policy's short groups need, each with the number of its group's first row, which it is drawn by.

    `numbers` are those of the rows, where they are a part of the relation's that holds every group whole.
    """
    lacking = margin.lacking(alive)
    groups = np.flatnonzero(lacking)
    if not len(groups):
        return
    values = _OtherValues(margin.linked, columns)
    members = margin.linked.members
    shown = margin.shown_values(groups, alive)
    first = members.members[members.offsets[groups]]
    first = first if numbers is None else numbers[first]
    random = draws_of(seed, ("cover", *turn), first)
    for group, of_group, drawn in zip(groups.tolist(), first.tolist(), random.tolist(), strict=True):
        rows = members.one(group)
        row = int(rows[drawn % len(rows)])
        found = values.others(row, shown[group], drawn // len(rows))
        for _, change in zip(range(int(lacking[group])), found, strict=False):
            yield of_group, (row, change)


class _OtherValues:
    """The Y-values at levels L that there can be, and ground values that have them."""

    def __init__(self, linked: LinkedValues, columns: Mapping[str, Column]) -> None:
        self._linked, self._columns = linked, columns
        self._levels = linked.policy.y_levels
        self._ground = {a: _ground_by_node(columns[a], level) for a, level in self._levels.items()}

    def others(self, row: int, shown: set[int], random: int) -> Iterator[dict[str, int]]:
        """What a row's Y-cells may hold so that its group shows a value at L that it does not show yet.

        Its own value comes last: a neighbour that changes nothing is needed only where no other one leaves it alone.
        """
        own = None
        nodes = [list(ground) for ground in self._ground.values()]
        count = prod(map(len, nodes))
        for number in range(count):
            at_level = dict(zip(self._levels, _digits((random + number) % count, nodes), strict=True))
            if self._linked.y_of_nodes(at_level) not in shown:
                change = {a: self._pick(a, node, random) for a, node in at_level.items() if self._differs(a, row, node)}
                if change:
                    yield change
                else:
                    own = change
        if own is not None:
            yield own

    def _differs(self, attribute: str, row: int, node: int) -> bool:
        column = self._columns[attribute]
        return bool(column.hierarchy.ancestors[self._levels[attribute], column.cells[row]] != node)

    def _pick(self, attribute: str, node: int, random: int) -> int:
        ground = self._ground[attribute][node]
        return int(ground[random % len(ground)])


def _ground_by_node(column: Column, level: int) -> dict[int, Ints]:
    """The ground values below each value of a level."""
    ground = np.flatnonzero(column.domain.is_ground)
    at_level = column.domain.ancestors[level, ground]
    return {int(node): ground[at_level == node] for node in np.unique(at_level)}


def _digits(number: int, choices: Sequence[Sequence[int]]) -> Iterator[int]:
    """The number's choice from each sequence: numbers up to their product give all combinations."""
    for choice in choices:
        number, place = divmod(number, len(choice))
        yield choice[place]


def support_of(changes: Sequence[Change], simple: set[str], columns: Mapping[str, Column]) -> SupportSet:
    """One changed cell of a simple attribute is a cell neighbour; other changes are edits."""
    single: dict[str, list[tuple[int, int]]] = {}
    several: list[Neighbour] = []
    for row, values in changes:
        if len(values) == 1 and set(values) <= simple:
            ((attribute, node),) = values.items()
            single.setdefault(attribute, []).append((row, node))
        else:
            labels = {a: columns[a].hierarchy.label(node) for a, node in values.items()}
            several.append(Neighbour({row: labels}))
    cells = {}
    for attribute, found in single.items():
        rows, nodes = np.array(found, dtype=np.int64).T
        cells[attribute] = cells_of(attribute, rows, nodes.astype(np.int32), columns[attribute])[0]
    codes = {a: column.codes for a, column in columns.items()}
    edits = edits_of(several, codes, lambda a, value: columns[a].code[value]) if several else Edits.none()
    return SupportSet(cells, edits)
