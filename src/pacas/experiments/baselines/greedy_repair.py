"""Greedy-Repair: make the cells of an X-group equal, the cheapest merge first.

A baseline of the paper's §7, after Bohannon, Fan, Flaster and Rastogi (SIGMOD 2005), for functional dependencies:

1. Each cell of a right side begins as a class of its own. A class's target is the value of one of its cells that is
   written over all of them at the least cost: the sum of weight x distance (`edit_costs`). Ties: the value in the
   lowest row.
2. An X-group that shows incomparable values is resolved by merging the classes of all its cells. It costs the merged
   class's cost less that of its parts. The group of the least cost is resolved first, and each cell then shows its
   class's target, in left sides too. Ties: the order of the dependencies, then the lowest first row.
3. That is repeated until no group is violated. Classes never part, so it ends.

Simplifications: no inclusion dependencies, no insertions; a violation is always resolved on the right side, never by
changing a left one (nor by writing a null); all classes of a group are merged in one step, rather than two at a time,
which gives the same classes wherever dependencies do not meet. As in SPEC, a null or `*` in X groups with nothing, a
null in B differs from any value, and neither is ever written. Hierarchies play no part: values are ground, and text.

A dependency that meets no other (`_meets`) needs no queue: its groups are the same in whatever order they are resolved,
and all their targets are found at once, from distinct values and their weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.engine.contract import Engine, Table
from pacas.engine.questions import embedded_engine
from pacas.errors import InputError
from pacas.experiments.baselines.class_values import ClassValues
from pacas.experiments.baselines.edit_costs import UNIT, EditCosts
from pacas.experiments.baselines.greedy_queue import GreedyQueue, ground_codes


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """A value that is to be written into some rows of an attribute; PrivateClean's Transform."""

    attribute: str
    value: str
    rows: Ints


@dataclass(frozen=True, eq=False, repr=False)
class GreedyRepair:
    """What Greedy-Repair made of a relation."""

    relation: Relation
    updates: tuple[Update, ...]
    """Only of cells that got another value."""
    cost: float
    """Weight x distance, summed over these cells."""

    @property
    def written(self) -> int:
        """How many cells got another value."""
        return sum(len(update.rows) for update in self.updates)

    def __repr__(self) -> str:
        return f"GreedyRepair({self.written:,} cells written, cost {self.cost:,.3f})"


def greedy_repair(
    relation: Relation,
    fds: str | Iterable[str | FunctionalDependency],
    *,
    weights: Sequence[int] | Ints | None = None,
    engine: Engine[Any] | None = None,
) -> GreedyRepair:
    """Repair a relation without anybody's help. `weights` are whole numbers, one per row; by default 1."""
    engine = engine or embedded_engine()
    dependencies = FunctionalDependency.parse_all([fds] if isinstance(fds, str) else fds)
    for fd in dependencies:
        fd.check(relation.columns, relation.name)
    trust = _weights(weights, len(relation))
    named = list(dict.fromkeys(a for fd in dependencies for a in fd.attributes))
    if not named:
        return GreedyRepair(relation, (), 0.0)
    table = engine.open(relation, named)
    columns = engine.columns(table, named)
    meeting = [fd for fd in dependencies if any(_meets(fd, other) for other in dependencies if other is not fd)]
    repaired = GreedyQueue(meeting, columns, len(relation), trust).resolve_all() if meeting else {}
    for fd in dependencies:
        if fd not in meeting:
            repaired[fd.rhs] = _resolved(engine, table, fd, trust)
    updates: list[Update] = []
    cost = 0
    for attribute in sorted(repaired, key=relation.columns.index):
        given, new = columns[attribute], repaired[attribute]
        rows = np.flatnonzero(given.codes != new)
        distances = EditCosts(given.values).between(given.codes[rows].astype(np.int64), new[rows])
        cost += int(distances @ trust[rows])
        updates += updates_of(attribute, rows, new[rows], given.values)
    return GreedyRepair(transform(relation, updates, engine=engine), tuple(updates), cost / UNIT)


def transform(relation: Relation, updates: Iterable[Update], *, engine: Engine[Any] | None = None) -> Relation:
    """The relation with the updates written into it; a column keeps its type where all new values have it."""
    engine = engine or embedded_engine()
    table = relation.table
    by_attribute: dict[str, list[Update]] = {}
    for update in updates:
        by_attribute.setdefault(update.attribute, []).append(update)
    for attribute, mine in by_attribute.items():
        at = relation.columns.index(attribute)
        table = table.set_column(at, attribute, _written(engine, relation, attribute, mine))
    return Relation(table) if by_attribute else relation


def _written(engine: Engine[Any], relation: Relation, attribute: str, updates: list[Update]) -> pa.Array:
    which = np.full(len(relation), -1, dtype=np.int64)
    for number, update in enumerate(updates):
        which[update.rows] = number
    changed, chosen = which >= 0, pa.array(which, mask=which < 0)
    column = relation.table.column(attribute).combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    new = pa.array([update.value for update in updates], pa.string())
    try:
        new = new.cast(column.type)
    except pa.ArrowException:
        column = engine.rows(engine.open(relation, [attribute]), None, [attribute]).column(0).combine_chunks()
    return pc.if_else(changed, new.take(chosen), column)


def _meets(one: FunctionalDependency, other: FunctionalDependency) -> bool:
    """Can a merge for the one change what a merge for the other does?"""
    return one.rhs == other.rhs or one.rhs in other.lhs or other.rhs in one.lhs


def _resolved(engine: Engine[Any], table: Table, fd: FunctionalDependency, weights: Ints) -> Ints:
    """The right side's codes after each X-group that violates the dependency has got its target."""
    column = engine.columns(table, [fd.rhs])[fd.rhs]
    codes: Ints = column.codes.astype(np.int64)
    groups = engine.mixed_groups(table, [fd.lhs], fd.rhs, {}).violating
    if len(groups):
        rows = groups.rows
        values = ClassValues.of(groups.groups, codes[rows], rows, weights[rows])
        targets, _ = values.cheapest(EditCosts(column.values), ground_codes(column.values))
        codes[rows] = targets[groups.groups]
    return codes


def updates_of(attribute: str, rows: Ints, codes: Ints, values: Sequence[str | None]) -> list[Update]:
    """One update per value that is written: values[codes[i]] into rows[i]."""
    order = np.argsort(codes, kind="stable")
    written, starts = np.unique(codes[order], return_index=True)
    parts = np.split(rows[order], starts[1:]) if len(written) else []
    return [Update(attribute, str(values[code]), part) for code, part in zip(written, parts, strict=True)]


def _weights(given: Sequence[int] | Ints | None, rows: int) -> Ints:
    if given is None:
        return np.ones(rows, dtype=np.int64)
    weights = np.asarray(given)
    if len(weights) != rows:
        raise InputError(f"{len(weights):,} weights for {rows:,} rows; give one per row")
    if weights.dtype.kind not in "iu" or weights.min(initial=0) < 0:
        raise InputError("a row's weight is a whole number, from 0")
    return weights.astype(np.int64)
