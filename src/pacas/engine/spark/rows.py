"""Rows by their numbers, from Spark: those asked for are put in order here, which takes Spark two passes less."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.engine.spark.spark_sql import SparkSql
from pacas.engine.sql.statements import ROW, OpenedRelation, column_name, rows_sql
from pacas.errors import InputError


def all_rows(spark: SparkSql, table: OpenedRelation, columns: Sequence[str], count: int) -> pa.Table:
    """Columns of all rows, of which there are so many, in their order."""
    return pa.concat_tables(spark.stream(rows_sql(table, columns, None), count)).rename_columns(list(columns))


def chosen_rows(
    spark: SparkSql, table: OpenedRelation, rows: NDArray[np.int64], columns: Sequence[str], count: int
) -> pa.Table:
    """Columns of some of the rows, of which there are so many, in the order asked for."""
    if not len(rows):
        return pa.table([pa.array([], pa.string()) for _ in columns], names=list(columns))
    numbers = pa.table({"row": pa.array(rows, pa.int64()), "position": np.arange(len(rows))})
    names = "".join(f", t.{table.sql_column(c)} AS {column_name(i)}" for i, c in enumerate(columns))
    with spark.given(numbers) as wanted:
        joined = f"{wanted} AS w JOIN {table.sql_name} AS t ON t.{ROW} = w.row"
        found = pa.concat_tables(spark.stream(f"SELECT w.position AS position{names} FROM {joined}", len(rows)))
    if len(found) < len(rows):
        raise InputError(f"{table.name} has rows 0 to {count - 1:,}; some of the rows asked for are not there")
    order = pa.array(np.argsort(found.column("position").to_numpy()))
    return found.drop_columns("position").take(order).rename_columns(list(columns))
