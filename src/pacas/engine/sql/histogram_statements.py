"""Histograms, of a relation and per X-group, counted by SQL: to the caller come values, or pairs, and their counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pacas.core.hierarchy import canonical_number
from pacas.core.histogram import GroupHistogram, Histogram, Ints, Values, sum_by
from pacas.core.query import MAIN
from pacas.engine.contract import Hierarchies
from pacas.engine.sql.answer_statement import Occurrence, Recode
from pacas.engine.sql.group_statements import linked_sql
from pacas.engine.sql.statements import ROW, OpenedRelation


def histogram_sql(table: OpenedRelation, attributes: Sequence[str]) -> str:
    """How often each combination of texts occurs."""
    names = [table.sql_column(a) for a in attributes]
    listed = ", ".join(f"{name} AS v{i}" for i, name in enumerate(names))
    return f"SELECT {listed}, count(*)::BIGINT AS n FROM {table.sql_name} GROUP BY {', '.join(names)}"


def as_histogram(counted: pa.Table, attributes: Sequence[str], hierarchies: Hierarchies) -> Histogram:
    """What `histogram_sql` has found, spellings of one number taken together, most frequent first."""
    numeric = [a in hierarchies and hierarchies[a].numeric for a in attributes]
    merged: dict[Values, int] = {}
    for *values, n in zip(*(column.to_pylist() for column in counted.columns), strict=True):
        key = tuple(
            canonical_number(v) if as_number and v is not None else v
            for v, as_number in zip(values, numeric, strict=True)
        )
        merged[key] = merged.get(key, 0) + n
    ranked = sorted(merged, key=lambda key: (-merged[key], [(v is None, v or "") for v in key]))
    return Histogram(tuple(attributes), ranked, np.array([merged[key] for key in ranked], dtype=np.int64))


def pairs_sql(
    table: OpenedRelation, x: Sequence[str], y: Mapping[str, int], hierarchies: Hierarchies, recode: Recode
) -> str:
    """Each pair of an X-group and a Y-value. A group goes by the number of its first row; null stands for no group."""
    occurrence = Occurrence("q", MAIN, table, hierarchies, recode)
    values = [f"{occurrence.value(a, level)} AS v{i}" for i, (a, level) in enumerate(y.items())]
    keys = [f"{linked_sql(f't.{table.sql_column(a)}', hierarchies.get(a))} AS k{i}" for i, a in enumerate(x)]
    rows = f"SELECT t.{ROW} AS r, {', '.join([*keys, *values])} {occurrence.source(table.sql_name)}"
    linked = " AND ".join(f"k{i} IS NOT NULL" for i in range(len(x)))
    names = [f"v{i}" for i in range(len(y))]
    together = [f"CASE WHEN {linked} THEN k{i} END AS g{i}" for i in range(len(x))]
    grouped = f"SELECT r, {', '.join([*together, *names])} FROM ({rows}) AS rows_"
    group = [f"g{i}" for i in range(len(x))]
    pairs = f"SELECT {', '.join([*group, *names])}, min(r) AS first, count(*)::BIGINT AS n FROM ({grouped}) AS grouped"
    pairs += f" GROUP BY {', '.join([*group, *names])}"
    first = f"CASE WHEN g0 IS NOT NULL THEN min(first) OVER (PARTITION BY {', '.join(group)}) END AS g"
    return f"SELECT {', '.join([first, 'n', *names])} FROM ({pairs}) AS pairs"


def as_group_histogram(batches: Iterable[pa.Table]) -> GroupHistogram:
    """The pairs that were counted, groups in order of their first row."""
    numbers: dict[Values, int] = {}
    first, value, n = [], [], []
    for batch in batches:
        found = batch.column("g").fill_null(-1).to_numpy()
        columns = [column.to_pylist() for column in batch.columns[2:]]
        values = zip(*columns, strict=True) if columns else [()] * len(batch)
        first.append(found)
        n.append(batch.column("n").to_numpy())
        value.append(np.fromiter((numbers.setdefault(v, len(numbers)) for v in values), dtype=np.int64))
    ranked = sorted(numbers, key=lambda v: [(text is None, text or "") for text in v])
    rank: Ints = np.empty(len(ranked), dtype=np.int64)
    rank[[numbers[v] for v in ranked]] = np.arange(len(ranked))
    return _assembled(np.concatenate(first), rank[np.concatenate(value)], np.concatenate(n), ranked)


def _assembled(first: Ints, value: Ints, n: Ints, values: list[Values]) -> GroupHistogram:
    overall = sum_by(value, n, len(values))
    linked = np.flatnonzero(first >= 0)
    unlinked = int(n.sum() - n[linked].sum())
    groups, group = np.unique(first[linked], return_inverse=True)
    order = np.lexsort((value[linked], group))
    there = linked[order]
    return GroupHistogram(group[order], value[there], n[there], len(groups), values, overall, unlinked)
