"""Greedy-Repair: make the cells of an X-group equal, at the least cost.

A baseline of the paper's §7, after Bohannon, Fan, Flaster and Rastogi (SIGMOD 2005), for functional dependencies that
do not meet: no two have one right side, and none's right side stands in another's left side. No dependencies of the
paper and of the evaluation do. Theirs merges classes of cells, the cheapest merge first; where no merge changes what
another costs, or which tuples agree on X, the order does not matter, and all groups are resolved at once:

An X-group that shows incomparable values gets its target, the value of one of its cells that is written over all of
them at the least cost: the sum of weight x distance (`EditCosts`). Ties: the value in the lowest row.

Simplifications: no inclusion dependencies, no insertions; a violation is always resolved on the right side, never by
changing a left one (nor by writing a null). As in SPEC, a null or `*` in X groups with nothing, a null in B differs
from any value, and neither is ever written. Hierarchies play no part: values are ground, and text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.client.outcome.changes import as_texts, as_type
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.engine.contract import Engine, Table
from pacas.engine.new_cells import put
from pacas.engine.questions import embedded_engine
from pacas.errors import InputError
from pacas.experiments.baselines.class_values import UNIT, ClassValues, EditCosts, ground_codes


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
    for one, other in combinations(dependencies, 2):
        if meet(one, other):
            raise InputError(
                f"{str(one)!r} and {str(other)!r} meet: a repair by one changes what the other compares; give only one"
            )
    trust = _weights(weights, len(relation))
    named = list(dict.fromkeys(a for fd in dependencies for a in fd.attributes))
    if not named:
        return GreedyRepair(relation, (), 0.0)
    table = engine.open(relation, named)
    columns = engine.columns(table, named)
    repaired = {fd.rhs: _resolved(engine, table, fd, trust) for fd in dependencies}
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
        table = table.set_column(at, attribute, _written(engine, table.column(at), mine))
    return Relation(table) if by_attribute else relation


def _written(engine: Engine[Any], column: pa.ChunkedArray, updates: Sequence[Update]) -> pa.ChunkedArray | pa.Array:
    texts = [update.value for update in updates]
    new = as_type(texts, column.type)
    if new is None:
        column, new = as_texts(column, engine), pa.array(texts, pa.string())
    number = np.repeat(np.arange(len(updates)), [len(update.rows) for update in updates])
    return put(column, np.concatenate([update.rows for update in updates]), new.take(pa.array(number)))


def meet(one: FunctionalDependency, other: FunctionalDependency) -> bool:
    """Can a repair by the one change what a repair by the other does?"""
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
