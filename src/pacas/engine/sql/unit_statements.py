"""Rows that belong together, numbered, and the units that groups of them keep back: by SQL, whatever their number.

What is worked out stays with the engine: a number and a size for each group, and the units that are kept back. The
caller gets pairs of groups and units only where units are in several groups, so that one choice bears on another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np
import pyarrow as pa

from pacas.engine.kept_rows import Agreement, Choose, KeptRows, UnitPairs, cost_sql, size_of
from pacas.engine.lots import lot_sql
from pacas.engine.sql.group_statements import linked_sql
from pacas.engine.sql.statements import ROW, OpenedRelation, Sql, column_name
from pacas.errors import InputError

MOST_PAIRS = 1_000_000
"""Pairs of groups and units that come to the caller."""


def first_row_sql(table: OpenedRelation, columns: Sequence[str]) -> str:
    """The row that comes first by its texts, nulls last."""
    order = ", ".join(f"{table.sql_column(c)} NULLS LAST" for c in columns)
    return f"SELECT {ROW} FROM {table.sql_name} ORDER BY {order}, {ROW} LIMIT 1"


def lacking_sql(table: OpenedRelation, other: OpenedRelation, columns: Sequence[str]) -> str:
    """How many rows of a relation another one does not have, as often as they occur."""
    names = [f"k{i}" for i in range(len(columns))]
    mine, theirs = (_counts_sql(one, columns, names) for one in (table, other))
    same = " AND ".join(f"a.{name} IS NOT DISTINCT FROM b.{name}" for name in names)
    more = "sum(greatest(a.n - coalesce(b.n, 0), 0))"
    return f"SELECT coalesce({more}, 0)::BIGINT AS n FROM ({mine}) AS a LEFT JOIN ({theirs}) AS b ON {same}"


def _counts_sql(table: OpenedRelation, columns: Sequence[str], names: Sequence[str]) -> str:
    listed = ", ".join(f"{table.sql_column(c)} AS {name}" for c, name in zip(columns, names, strict=True))
    by = ", ".join(names)
    return f"SELECT {by}, count(*)::BIGINT AS n FROM (SELECT {listed} FROM {table.sql_name}) AS t GROUP BY {by}"


# ---- numbers ---------------------------------------------------------------------------------------------------------


def numbers_sql(table: OpenedRelation, together: Agreement) -> str:
    """Per group what its rows agree in, the number of its first row, and how many there are."""
    keys = _names(together)
    rows = f"SELECT {ROW} AS r, {_keys(table, together)} FROM {table.sql_name}"
    there = "" if together.with_nulls else f" WHERE {_there(together)}"
    counted = f"min(r) AS number, count(*)::BIGINT AS size FROM ({rows}) AS t{there}"
    return f"SELECT {', '.join(keys)}, {counted} GROUP BY {', '.join(keys)}"


def numbered_sql(table: OpenedRelation, together: Agreement, numbers: str) -> str:
    """The relation with two columns more, texts like all others: the number of each row's group, and its size."""
    texts = [f"t.{column_name(i)} AS {column_name(i)}" for i in range(len(table.columns))]
    more = [
        f"CAST(g.{found} AS VARCHAR) AS {column_name(len(texts) + i)}" for i, found in enumerate(("number", "size"))
    ]
    linked = _linked(table, together, "t")
    same = " AND ".join(f"{value} IS NOT DISTINCT FROM g.k{i}" for i, value in enumerate(linked))
    joined = f"{table.sql_name} AS t LEFT JOIN {numbers} AS g ON {same}"
    return f"SELECT t.{ROW} AS {ROW}, {', '.join([*texts, *more])} FROM {joined}"


# ---- what is kept back -----------------------------------------------------------------------------------------------


@contextmanager
def kept_units(sql: Sql, table: OpenedRelation, kept: KeptRows, choose: Choose) -> Iterator[str]:
    """A statement of the units that are kept back, as (u), while what it needs is there."""
    with ExitStack() as stack:
        several = [stack.enter_context(sql.kept(_several_sql(table, kept, found))) for found in kept.found]
        closed = stack.enter_context(sql.given(pa.table({"r": pa.array(kept.closed, pa.int64())})))
        rows = _rows_sql(table, kept, several, closed)
        if kept.unit is not None:
            sold = stack.enter_context(sql.kept(f"SELECT DISTINCT u FROM ({rows}) AS t WHERE can_be_bought"))
            listed = ", ".join(f"t.{name}" for name in _row_names(kept))
            joined = f"({rows}) AS t LEFT JOIN {sold} AS b ON t.u = b.u"
            rows = f"SELECT {listed}, b.u IS NOT NULL AS can_be_bought FROM {joined}"
        short = stack.enter_context(sql.kept(_short_sql(rows, kept)))
        pairs = _pairs_sql(rows, kept, short)
        if kept.unit is not None:
            pairs = f"SELECT * FROM {stack.enter_context(sql.kept(pairs))}"
            if _is_shared(sql, pairs, kept):
                chosen = choose(_pairs(sql, pairs))
                yield f"SELECT u FROM {stack.enter_context(sql.given(pa.table({'u': pa.array(chosen, pa.int64())})))}"
                return
        yield _first_sql(pairs, kept)


def _first_sql(pairs: str, kept: KeptRows) -> str:
    """Of each group the units that cost least, by lot among equal ones; one of each is found without sorting."""
    if kept.keep == 1:
        order = "lot" if kept.unit is None else "lpad(CAST(dear AS VARCHAR), 20, '0') || lot"
        return f"SELECT arg_min(u, {order}) AS u FROM ({pairs}) AS t GROUP BY g"
    first = f"SELECT u, need, row_number() OVER (PARTITION BY g ORDER BY dear, lot) AS place FROM ({pairs}) AS t"
    return f"SELECT u FROM ({first}) AS t WHERE place <= need"


def kept_sql(table: OpenedRelation, kept: KeptRows, units: str) -> str:
    """The relation with one column more: 1 in the rows of these units, which are named by a table (u), else null."""
    texts = [f"t.{column_name(i)} AS {column_name(i)}" for i in range(len(table.columns))]
    flag = f"CASE WHEN k.u IS NOT NULL THEN '1' END AS {column_name(len(texts))}"
    joined = f"{table.sql_name} AS t LEFT JOIN {units} AS k ON {_unit(table, kept, 't')} = k.u"
    return f"SELECT t.{ROW} AS {ROW}, {', '.join([*texts, flag])} FROM {joined}"


def _several_sql(table: OpenedRelation, kept: KeptRows, found: Agreement) -> str:
    """What rows are found by that do not sell their unit: they are too many, or not all of one."""
    keys = ", ".join(_names(found))
    rows = f"SELECT {_unit(table, kept)} AS u, {_keys(table, found)} FROM {table.sql_name}"
    sold = f"count(*) <= {kept.most} AND min(u) = max(u)"
    return f"SELECT {keys} FROM ({rows}) AS t WHERE {_there(found)} GROUP BY {keys} HAVING NOT ({sold})"


def _rows_sql(table: OpenedRelation, kept: KeptRows, several: Sequence[str], closed: str) -> str:
    """Rows with their unit, its cost, what its lot follows from, what groups them, and whether they sell the unit."""
    cost = "1" if kept.unit is None else cost_sql(f"CAST(t.{table.sql_column(size_of(kept.unit))} AS BIGINT)")
    texts = ", ".join(f"t.{table.sql_column(c)} AS l{i}" for i, c in enumerate(kept.drawn_by))
    joins, sells = [f"LEFT JOIN {closed} AS c ON t.{ROW} = c.r"], []
    for number, (found, name) in enumerate(zip(kept.found, several, strict=True)):
        linked = _linked(table, found, "t")
        same = " AND ".join(f"{value} = s{number}.k{i}" for i, value in enumerate(linked))
        joins.append(f"LEFT JOIN {name} AS s{number} ON {same}")
        there = " AND ".join(f"{value} IS NOT NULL" for value in linked)
        sells.append(f"({there} AND s{number}.k0 IS NULL)")
    groups = enumerate(_linked(table, kept.groups, "t"))
    keys = ", ".join(f"CASE WHEN c.r IS NULL THEN {value} END AS k{i}" for i, value in groups)
    listed = f"t.{ROW} AS r, {_unit(table, kept, 't')} AS u, {cost} AS dear, {texts}, {keys}"
    can = " OR ".join(sells)
    return f"SELECT {listed}, {can} AS can_be_bought FROM {table.sql_name} AS t {' '.join(joins)}"


def _row_names(kept: KeptRows) -> list[str]:
    return ["r", "u", "dear", *(f"l{i}" for i in range(len(kept.drawn_by))), *_names(kept.groups)]


def _short_sql(rows: str, kept: KeptRows) -> str:
    """The groups that need units to be kept back, and how many."""
    keys = ", ".join(_names(kept.groups))
    need = f"least({kept.keep}, count(*)) - sum(CASE WHEN can_be_bought THEN 0 ELSE 1 END)"
    found = f"SELECT {keys}, min(r) AS g, ({need})::BIGINT AS need FROM ({rows}) AS t WHERE {_there(kept.groups)}"
    return f"SELECT * FROM ({found} GROUP BY {keys}) AS t WHERE need > 0"


def _pairs_sql(rows: str, kept: KeptRows, short: str) -> str:
    """Which units are in which of these groups, with how many rows."""
    lot = lot_sql(kept.salt, [f"t.l{i}" for i in range(len(kept.drawn_by))])
    same = " AND ".join(f"t.{key} = g.{key}" for key in _names(kept.groups))
    joined = f"FROM ({rows}) AS t JOIN {short} AS g ON {same} WHERE t.can_be_bought"
    pairs = f"SELECT g.g AS g, g.need AS need, t.u AS u, t.dear AS dear, {lot} AS lot {joined}"
    if kept.unit is None:
        return pairs
    return f"SELECT g, need, u, dear, lot, count(*)::BIGINT AS n FROM ({pairs}) AS t GROUP BY g, need, u, dear, lot"


def _is_shared(sql: Sql, pairs: str, kept: KeptRows) -> bool:
    """Does a unit serve several groups, or one with several rows of those that it needs? Then choices are not apart."""
    many = "count(*) > 1" if kept.keep == 1 else "count(*) > 1 OR max(n) > 1"
    counted = f"SELECT u FROM ({pairs}) AS t GROUP BY u HAVING {many} LIMIT 1"
    return len(sql.arrow(counted)) > 0


def _pairs(sql: Sql, pairs: str) -> UnitPairs:
    number = int(sql.arrow(f"SELECT count(*)::BIGINT AS n FROM ({pairs}) AS t").column(0)[0].as_py())
    if number > MOST_PAIRS:
        raise InputError(
            f"a dependency ties rows across X-groups in {number:,} ways, and {MOST_PAIRS:,} are the most where the "
            "relation is larger than memory; declare X among its left side, or sell with DuckDB and more memory"
        )
    found = pa.concat_tables(sql.stream(f"SELECT g, u, n, need, dear, lot FROM ({pairs}) AS t", number))
    group, unit, count, need, cost = (found.column(i).to_numpy().astype(np.int64) for i in range(5))
    lot = np.array([int(digits, 16) for digits in found.column(5).to_pylist()], dtype=np.uint64)
    return UnitPairs(group, unit, count, need, cost, lot)


# ---- columns ---------------------------------------------------------------------------------------------------------


def _names(together: Agreement) -> list[str]:
    return [f"k{i}" for i in range(len(together.columns))]


def _linked(table: OpenedRelation, together: Agreement, alias: str | None = None) -> list[str]:
    """What rows agree in, column by column."""
    prefix = "" if alias is None else f"{alias}."
    return [linked_sql(prefix + table.sql_column(c), together.hierarchies.get(c)) for c in together.columns]


def _keys(table: OpenedRelation, together: Agreement, alias: str | None = None) -> str:
    return ", ".join(f"{value} AS k{i}" for i, value in enumerate(_linked(table, together, alias)))


def _there(together: Agreement) -> str:
    return " AND ".join(f"{key} IS NOT NULL" for key in _names(together))


def _unit(table: OpenedRelation, kept: KeptRows, alias: str | None = None) -> str:
    """The number of a row's unit."""
    prefix = "" if alias is None else f"{alias}."
    return f"{prefix}{ROW}" if kept.unit is None else f"CAST({prefix}{table.sql_column(kept.unit)} AS BIGINT)"
