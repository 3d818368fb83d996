"""Repairs, applied on Spark: only the new cells travel, to where their rows are.

Rows are found by the key, not by their numbers, so that nothing is numbered again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type

from pacas.engine.contract import KeyedFrame
from pacas.engine.new_cells import NewCells, in_type
from pacas.engine.spark.spark_sql import SparkSql
from pacas.engine.spark.text import quoted, text_of
from pacas.engine.sql.statements import ROW
from pacas.errors import SchemaError

_OURS = "pacas repaired"
"""How the names of our own columns begin, beside those of the frame."""


def repaired(spark: SparkSql, source: KeyedFrame, keys: DataFrame, cells: Mapping[str, NewCells]) -> KeyedFrame:
    """The frame with the new cells; a column keeps its type where all its new values have it, else it becomes text.

    `keys` are the numbered keys of the rows: (row_number, k0, k1, …).
    """
    SchemaError.check_there(cells, source.columns, source.name)
    cells = {attribute: new for attribute, new in cells.items() if len(new.rows)}
    if not cells:
        return source
    kinds = {field.name: field.dataType for field in source.frame.schema.fields}
    table = _one_table(cells, kinds)
    new = spark.from_arrow(table)
    named = [F.col(f"k{i}").alias(f"{_OURS} k{i}") for i in range(len(source.key))]
    found = new.join(keys.select(ROW, *named), on=ROW).drop(ROW)
    joined = source.frame.join(F.broadcast(found) if _is_few(cells) else found, on=_same_key(source), how="left")
    position = {attribute: i for i, attribute in enumerate(cells)}
    columns = [
        _written(table, c, kinds[c], position[c], source.name) if c in position else F.col(quoted(c))
        for c in source.columns
    ]
    return KeyedFrame(joined.select(*columns), source.key, source.name)


def _one_table(cells: Mapping[str, NewCells], kinds: Mapping[str, types.DataType]) -> pa.Table:
    """All new cells: the row, and for each attribute whether it has a new value there, and which."""
    rows = np.unique(np.concatenate([new.rows for new in cells.values()])).astype(np.int64)
    table = pa.table({ROW: rows})
    for i, (attribute, new) in enumerate(cells.items()):
        written = np.zeros(len(rows), dtype=np.bool_)
        texts = np.full(len(rows), None, dtype=object)
        at = np.searchsorted(rows, new.rows)
        written[at] = True
        texts[at] = list(new.values)
        kept = in_type(texts.tolist(), _arrow_type(kinds[attribute]))
        table = table.append_column(f"{_OURS} {i}", pa.array(written))
        table = table.append_column(f"{_OURS} v{i}", pa.array(texts.tolist(), pa.string()) if kept is None else kept)
    return table


def _same_key(source: KeyedFrame) -> Column:
    same = F.lit(True)
    for i, key in enumerate(source.key):
        same = same & (F.col(quoted(key)) == F.col(quoted(f"{_OURS} k{i}")))
    return same


def _written(new: pa.Table, name: str, kind: types.DataType, i: int, where: str) -> Column:
    """A column with its new values: as it is where all of them have its type, else as text."""
    is_new, value = F.col(quoted(f"{_OURS} {i}")), F.col(quoted(f"{_OURS} v{i}"))
    keeps = new.schema.field(f"{_OURS} v{i}").type == _arrow_type(kind)
    old = F.col(quoted(name)) if keeps else text_of(name, kind, where)
    return F.when(is_new, value).otherwise(old).alias(name)


def _arrow_type(kind: types.DataType) -> pa.DataType:
    """A column's type in Arrow; a moment is the same one wherever Spark runs."""
    return to_arrow_type(kind, timezone="UTC")


def _is_few(cells: Mapping[str, NewCells]) -> bool:
    return sum(len(new.rows) for new in cells.values()) <= 1 << 20
