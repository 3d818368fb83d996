"""Repairs, applied on Spark: only the new cells travel, to where their rows are.

Rows are found by the key, not by their numbers, so that nothing is numbered again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as F

from pacas.engine.contract import KeyedFrame, NewCells
from pacas.engine.spark_sql import SparkSql
from pacas.engine.spark_text import quoted, text_of
from pacas.engine.statements import ROW
from pacas.errors import SchemaError

_OURS = "pacas repaired"
"""How the names of our own columns begin, beside those of the frame."""


def repaired(spark: SparkSql, source: KeyedFrame, keys: DataFrame, cells: Mapping[str, NewCells]) -> KeyedFrame:
    """The frame with the new cells; a column keeps its type where all its new values have it, else it becomes text.

    `keys` are the numbered keys of the rows: (row_number, k0, k1, …).
    """
    for attribute in cells:
        if attribute not in source.columns:
            raise SchemaError.missing(attribute, source.columns, source.name)
    cells = {attribute: new for attribute, new in cells.items() if len(new.rows)}
    if not cells:
        return source
    new = spark.from_arrow(_one_table(cells))
    named = [F.col(f"k{i}").alias(f"{_OURS} k{i}") for i in range(len(source.key))]
    found = new.join(keys.select(ROW, *named), on=ROW).drop(ROW)
    joined = source.frame.join(F.broadcast(found) if _is_few(cells) else found, on=_same_key(source), how="left")
    position = {attribute: i for i, attribute in enumerate(cells)}
    kinds = {field.name: field.dataType for field in source.frame.schema.fields}
    columns = [
        _written(new, c, kinds[c], position[c], source.name) if c in position else F.col(quoted(c))
        for c in source.columns
    ]
    return KeyedFrame(joined.select(*columns), source.key, source.name)


def _one_table(cells: Mapping[str, NewCells]) -> pa.Table:
    """All new cells: the row, and for each attribute whether it has a new value there, and which."""
    rows = np.unique(np.concatenate([new.rows for new in cells.values()])).astype(np.int64)
    table = pa.table({ROW: rows})
    for i, new in enumerate(cells.values()):
        written = np.zeros(len(rows), dtype=np.bool_)
        texts = np.full(len(rows), None, dtype=object)
        at = np.searchsorted(rows, new.rows)
        written[at] = True
        texts[at] = list(new.values)
        table = table.append_column(f"{_OURS} {i}", pa.array(written))
        table = table.append_column(f"{_OURS} v{i}", pa.array(texts.tolist(), pa.string()))
    return table


def _same_key(source: KeyedFrame) -> Column:
    same = F.lit(True)
    for i, key in enumerate(source.key):
        same = same & (F.col(quoted(key)) == F.col(quoted(f"{_OURS} k{i}")))
    return same


def _written(new: DataFrame, name: str, kind: types.DataType, i: int, where: str) -> Column:
    is_new, text = F.col(quoted(f"{_OURS} {i}")), F.col(quoted(f"{_OURS} v{i}"))
    if isinstance(kind, types.StringType):
        return F.when(is_new, text).otherwise(F.col(quoted(name))).alias(name)
    lost = new.where(text.isNotNull() & text.try_cast(kind).isNull()).limit(1).count()
    if lost:
        return F.when(is_new, text).otherwise(text_of(name, kind, where)).alias(name)
    return F.when(is_new, text.try_cast(kind)).otherwise(F.col(quoted(name))).alias(name)


def _is_few(cells: Mapping[str, NewCells]) -> bool:
    return sum(len(new.rows) for new in cells.values()) <= 1 << 20
