"""Groups of rows, found by SQL: what is grouped by, which groups show more than one value, which belong together.

For relations that are not held in memory, on any engine. A group goes by the number of its first row. The mixed groups
and their rows come to the caller, and nothing of the others; where several left sides connect rows, the links between
groups that have some of their rows in common come, each once, and the caller connects them. So there are as many passes
over the data for a thousand rows as for a billion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.core.consistency import GroupedRows
from pacas.core.hierarchy import EXACT, NUMBER, ROOT, Hierarchy
from pacas.engine.codes import coded_texts
from pacas.engine.contract import Hierarchies
from pacas.engine.sql.statements import ROW, OpenedRelation, Sql, literal

Ints = NDArray[np.int64]

_WHOLE = f"^({NUMBER.pattern})\\z"

AT_A_TIME = 1 << 20
"""Links that are connected together."""
MIXED = "count(*) > 1"
"""A group shows more than one value, where its values are listed each once; a null is one."""
_OF_A_GROUP = (("node", "f"), ("n", "n"))
"""What is kept of a row's group on each side, and how that is called there."""


# ---- what rows are grouped by ----------------------------------------------------------------------------------------


def linked_sql(column: str, hierarchy: Hierarchy | None) -> str:
    """A value by which rows are equal: its text, or its number where the hierarchy says so."""
    if hierarchy is None or not hierarchy.numeric:
        return column
    number = f"CASE WHEN regexp_matches({column}, {literal(_WHOLE)}) THEN TRY_CAST({column} AS DOUBLE) END"
    spelled = f"CAST({number} + 0.0 AS VARCHAR)"  # −0 is 0
    return f"CASE WHEN abs({number}) < {EXACT:.0f} THEN {spelled} ELSE {column} END"


def ground_sql(column: str, hierarchy: Hierarchy | None) -> str:
    """A ground value by which rows are equal; a null or general one is null, and groups with nothing."""
    value = linked_sql(column, hierarchy)
    general = [ROOT] if hierarchy is None else hierarchy.general_labels
    labels = ", ".join(
        linked_sql(literal(label), hierarchy) if NUMBER.fullmatch(label) else literal(label) for label in general
    )
    return f"CASE WHEN {value} IN ({labels}) THEN NULL ELSE {value} END"


# ---- mixed groups ----------------------------------------------------------------------------------------------------


def mixed_groups(
    sql: Sql, table: OpenedRelation, lhss: Sequence[Sequence[str]], rhs: str, hierarchies: Hierarchies
) -> GroupedRows:
    """The contract's mixed groups, over one left side or several."""
    text = table.sql_column(rhs)
    value = f"{linked_sql(text, hierarchies.get(rhs))} AS v, {text} AS c"
    keyed = [f"SELECT {ROW}, {_keys(table, lhs, hierarchies)}, {value} FROM {table.sql_name}" for lhs in lhss]
    hierarchy = hierarchies.get(rhs) or Hierarchy.flat(())
    found = _MixedRows()
    if len(lhss) == 1:
        _of_one_side(sql, keyed[0], len(lhss[0]), found)
    else:
        _of_several_sides(sql, keyed, [len(lhs) for lhs in lhss], found)
    return found.grouped(hierarchy)


def _keys(table: OpenedRelation, lhs: Sequence[str], hierarchies: Hierarchies) -> str:
    return ", ".join(f"{ground_sql(table.sql_column(a), hierarchies.get(a))} AS k{i}" for i, a in enumerate(lhs))


def _groups_sql(keyed: str, width: int, more: str, having: str) -> str:
    keys = ", ".join(f"k{i}" for i in range(width))
    there = " AND ".join(f"k{i} IS NOT NULL" for i in range(width))
    values = f"SELECT {keys}, v, min({ROW}) AS r, count(*)::BIGINT AS m FROM ({keyed}) AS t WHERE {there}"
    values += f" GROUP BY {keys}, v"  # not min(v) and max(v): over texts, Spark sorts all rows for them
    listed = f"{keys}, min(r) AS first, sum(m)::BIGINT AS n{more}"
    return f"SELECT {listed} FROM ({values}) AS each_once GROUP BY {keys} HAVING {having}"


def _same_keys(width: int, group: str) -> str:
    return " AND ".join(f"t.k{i} = {group}.k{i}" for i in range(width))


def _of_one_side(sql: Sql, keyed: str, width: int, found: _MixedRows) -> None:
    with sql.kept(_groups_sql(keyed, width, "", MIXED)) as groups:
        rows = sql.arrow(f"SELECT sum(n)::BIGINT AS n FROM {groups}").column(0)[0].as_py()
        if rows:
            joined = f"({keyed}) AS t JOIN {groups} AS g ON {_same_keys(width, 'g')}"
            found.add(sql.stream(f"SELECT g.first AS first, t.{ROW} AS r, t.c AS c FROM {joined}", rows))


def _of_several_sides(sql: Sql, keyed: Sequence[str], widths: Sequence[int], found: _MixedRows) -> None:
    with ExitStack() as stack:
        groups = [
            stack.enter_context(sql.kept(_groups_sql(side, width, f", {MIXED} AS mixed", "sum(m) > 1")))
            for side, width in zip(keyed, widths, strict=True)
        ]
        mixed = [sql.arrow(f"SELECT first FROM {name} WHERE mixed").column(0).to_numpy() for name in groups]
        if not any(map(len, mixed)):
            return
        rows = stack.enter_context(sql.kept(_assigned_sql(keyed, widths, groups)))
        links = sql.arrow(f"SELECT count(*)::BIGINT AS n FROM {rows}").column(0)[0].as_py()
        chosen = _chosen(sql, rows, len(keyed), links, mixed)
        nodes = stack.enter_context(sql.given(chosen))
        joined = f"{rows} AS t JOIN {nodes} AS g ON t.node = g.node"
        found.add(sql.stream(f"SELECT g.first AS first, t.r AS r, t.c AS c FROM {joined}", links))


def _assigned_sql(keyed: Sequence[str], widths: Sequence[int], groups: Sequence[str]) -> str:
    """Each row that is in a group of some side: its groups, as nodes of a graph, and the first of them that it has.

    Of each group it has the number of rows, and whether one of them is mixed.
    """
    sides = range(len(keyed))
    nodes = []
    for i, (side, width, name) in enumerate(zip(keyed, widths, groups, strict=True)):
        joined = f"({side}) AS t JOIN {name} AS g ON {_same_keys(width, 'g')}"
        node = f"g.first * {len(keyed)} + {i} AS node, g.n AS n, CASE WHEN g.mixed THEN 1 ELSE 0 END AS mixed"
        nodes.append(f"SELECT t.{ROW} AS r, t.c AS c, {i} AS side, {node} FROM {joined}")
    each = ", ".join(f"min(CASE WHEN side = {i} THEN {of} END) AS {to}{i}" for i in sides for of, to in _OF_A_GROUP)
    listed = ", ".join(f"{to}{i}" for i in sides for _, to in _OF_A_GROUP)
    # a row has one c: it is grouped by, too, as Spark would sort all rows for its least
    united = f"SELECT r, c, {each}, max(mixed) AS mixed FROM ({' UNION ALL '.join(nodes)}) AS s GROUP BY r, c"
    first = ", ".join(f"f{i}" for i in sides)
    return f"SELECT r, c, {listed}, mixed, coalesce({first}) AS node FROM ({united}) AS u"


def _links_sql(rows: str, sides: int) -> str:
    """The groups that rows have in common, each combination once.

    Left out is what is a component by itself and shows one value: groups of several sides that have the same rows.
    """
    listed = ", ".join(f"{to}{i}" for i in range(sides) for _, to in _OF_A_GROUP)
    shared = " OR ".join(f"coalesce(n{i}, count(*)) <> count(*)" for i in range(sides))
    groups = ", ".join(f"f{i}" for i in range(1, sides))
    return f"SELECT node, {groups} FROM {rows} GROUP BY node, {listed} HAVING max(mixed) = 1 OR {shared}"


def _chosen(sql: Sql, rows: str, sides: int, most: int, mixed: Sequence[Ints]) -> pa.Table:
    """The nodes of all components that hold a mixed group, each with the first row of its component."""
    links: Ints = np.empty((0, 2), dtype=np.int64)
    further: list[Ints] = []
    for batch in sql.stream(_links_sql(rows, sides), most):
        further += _pairs(batch)
        if sum(map(len, further)) > max(AT_A_TIME, len(links)):  # so that all of it takes twice the last time
            links, further = _spanning(np.vstack([links, *further])), []
    starts = np.concatenate([first * sides + i for i, first in enumerate(mixed)])
    alone = np.column_stack([starts, starts])
    nodes, component = _components(np.vstack([links, *further, alone]))
    wanted = np.isin(component, component[np.searchsorted(nodes, starts)])
    first = np.full(component.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, component, nodes // sides)
    return pa.table({"node": nodes[wanted], "first": first[component[wanted]]})


def _pairs(batch: pa.Table) -> list[Ints]:
    """Links from the first group of each line to its others."""
    node, *others = (column.fill_null(-1).to_numpy() for column in batch.columns)
    pairs = (np.column_stack([node, other])[(other >= 0) & (other != node)] for other in others)
    return [found for found in pairs if len(found)]


def _spanning(links: Ints) -> Ints:
    """Links that connect what the given ones connect, and no more of them than there are nodes."""
    if not len(links):
        return links
    nodes, component = _components(links)
    _, first = np.unique(component, return_index=True)
    return np.column_stack([nodes[first[component]], nodes])


def _components(links: Ints) -> tuple[Ints, Ints]:
    """The nodes that links name, sorted, and the number of each one's component."""
    from scipy.sparse import coo_array  # here: slow to import, rarely needed
    from scipy.sparse.csgraph import connected_components

    nodes, ends = np.unique(links, return_inverse=True)
    ends = ends.reshape(links.shape)
    graph = coo_array((np.ones(len(ends), dtype=np.bool_), (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes)))
    return nodes, connected_components(graph, directed=False)[1].astype(np.int64)


class _MixedRows:
    """The rows of mixed groups, as they come: the group's first row, the row, its value."""

    def __init__(self) -> None:
        self._first: list[Ints] = []
        self._row: list[Ints] = []
        self._codes: list[NDArray[Any]] = []
        self._numbers: dict[str | None, int] = {}

    def add(self, batches: Iterable[pa.Table]) -> None:
        for batch in batches:
            if not len(batch):
                continue
            column = coded_texts(batch.column("c"))
            numbers = [self._numbers.setdefault(v, len(self._numbers)) for v in column.values]
            self._first.append(batch.column("first").to_numpy())
            self._row.append(batch.column("r").to_numpy())
            self._codes.append(np.array(numbers, dtype=np.int32)[column.codes])

    def grouped(self, hierarchy: Hierarchy) -> GroupedRows:
        """Group after group in order of their first row, rows ascending."""
        values = sorted(self._numbers, key=lambda v: (v is None, v or ""))
        known = hierarchy.admit(values)
        nodes = known.encode(self._numbers) if values else np.empty(0, dtype=np.int32)
        first, row = _joined(self._first), _joined(self._row)
        order = np.lexsort((row, first))
        codes = nodes[_joined(self._codes).astype(np.int64)[order]]
        first = first[order]
        starts = np.flatnonzero(np.append(True, first[1:] != first[:-1])) if len(first) else first
        return GroupedRows(row[order], np.append(starts, len(first)), codes, known)


def _joined(parts: Sequence[NDArray[Any]]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
