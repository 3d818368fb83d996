"""Rows by what they hold, ready to be looked up many times: kept on Spark's workers, an entry's rows on one of them.

A row's place among the rows of its entry is worked out once, so that cutting a long entry is a comparison.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from pacas.engine.contract import Hierarchies
from pacas.engine.spark.spark_sql import SparkSql, release
from pacas.engine.sql.group_statements import linked_sql
from pacas.engine.sql.statements import ROW, OpenedRelation, column_name

Asking = Callable[[], AbstractContextManager[None]]
"""What surrounds a question about a table."""


class SparkIndex:
    """The entries of a table: (k0, k1, …, row_number, place, c0, c1, …), an entry's rows all on one worker."""

    def __init__(
        self,
        spark: SparkSql,
        table: OpenedRelation,
        by: Sequence[str],
        columns: Sequence[str],
        hierarchies: Hierarchies,
        asking: Asking,
    ) -> None:
        self._spark, self._asking = spark, asking
        self._table = table  # what is kept of it is needed where an entry is lost and made again
        self._by, self._columns = tuple(by), tuple(columns)
        self._linked = [hierarchies.get(attribute) for attribute in by]
        self._keys = [f"k{i}" for i in range(len(by))]
        self._held = self._entries().persist(StorageLevel.MEMORY_AND_DISK)
        self._name = spark.name(self._held)
        self._release = weakref.finalize(self, release, spark, self._name, self._held.unpersist)
        self._release.atexit = False

    def __len__(self) -> int:
        return self._rows

    @cached_property
    def _rows(self) -> int:
        with self._asking():
            return int(self._held.count())

    def find(self, values: pa.Table, most: int | None = None) -> pa.Table:
        if not len(values):
            return self._result(None)
        texts = [values.column(attribute).cast(pa.string()) for attribute in self._by]
        lines = pa.table([np.arange(len(values)), *texts], names=["line", *self._keys])
        with self._asking(), self._spark.named(self._spark.from_arrow(lines)) as name:
            return self._result(self._spark.arrow(self._find_sql(name, most)))

    def batches(self, rows: int, most: int) -> Iterator[pa.Table]:
        parts = -(-len(self) // rows)
        kept = [column_name(i) for i in range(len(self._columns))]
        chosen = self._held.where(F.col("place") <= most)
        for part in range(parts):
            inside = F.pmod(F.xxhash64(*self._keys), F.lit(parts)) == part
            with self._asking():
                found = chosen.where(inside).select(ROW, *kept).toArrow()
            yield found.take(pa.array(np.argsort(found.column(0).to_numpy()))).rename_columns(["row", *self._columns])

    def close(self) -> None:
        self._release()

    def _entries(self) -> DataFrame:
        table = self._table
        keys = [
            f"{linked_sql(table.sql_column(attribute), hierarchy)} AS {key}"
            for attribute, hierarchy, key in zip(self._by, self._linked, self._keys, strict=True)
        ]
        kept = [f"{table.sql_column(attribute)} AS {column_name(i)}" for i, attribute in enumerate(self._columns)]
        rows = self._spark.frame(f"SELECT {', '.join([*keys, ROW, *kept])} FROM {table.sql_name}")
        place = F.expr(f"row_number() OVER (PARTITION BY {', '.join(self._keys)} ORDER BY {ROW})")
        return rows.dropna(subset=self._keys).repartition(*self._keys).withColumn("place", place)

    def _find_sql(self, lines: str, most: int | None) -> str:
        keys = [
            f"{linked_sql(key, hierarchy)} AS {key}" for key, hierarchy in zip(self._keys, self._linked, strict=True)
        ]
        kept = [f"e.{column_name(i)}" for i in range(len(self._columns))]
        asked = f"(SELECT line, {', '.join(keys)} FROM {lines}) AS v"
        same = " AND ".join(f"e.{key} = v.{key}" for key in self._keys)
        few = "" if most is None else f" WHERE e.place <= {most + 1}"
        listed = ", ".join(["v.line", f"e.{ROW}", *kept])
        return f"SELECT {listed} FROM {self._name} AS e JOIN {asked} ON {same}{few}"

    def _result(self, found: pa.Table | None) -> pa.Table:
        """What was found, sorted here: it is in no order, and Spark would need two more passes for one."""
        names = ["line", "row", *self._columns]
        if found is None:
            kinds = [pa.int64(), pa.int64(), *[pa.string()] * len(self._columns)]
            return pa.Table.from_arrays([pa.array([], kind) for kind in kinds], names=names)
        order = np.lexsort((found.column(1).to_numpy(), found.column(0).to_numpy()))
        return found.take(pa.array(order)).rename_columns(names)
