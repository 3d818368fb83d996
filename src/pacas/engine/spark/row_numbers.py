"""Row numbers on Spark: from 0 in the order of a key, without a place where all rows have to meet.

The key's range is cut into buckets by a sample; rows are sorted inside their bucket, and a bucket's first number is how
many rows the buckets before it have. What number a row gets depends on the keys alone, not on the sample, so that
a lost partition, computed again, has the numbers that it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pacas.engine.files.watched_files import changed
from pacas.engine.sql.statements import ROW, check_key
from pacas.errors import InputError

BUCKET = 1 << 20
"""Rows of a bucket, about."""
MOST_BUCKETS = 256
PER_BUCKET = 50
"""Keys in the sample for each bucket."""
SEED = 7


@dataclass(frozen=True, slots=True)
class NumberedFrame:
    """A frame with row numbers, and what it held when they were given."""

    frame: DataFrame
    """(row_number, …): the columns."""
    keys: DataFrame
    """(row_number, …): the key."""
    rows: int
    held: DataFrame
    """What the workers keep of it, until it is told to be forgotten."""
    checksums: tuple[int, ...]
    """One for each column: of all its cells and their keys, whatever the order they come in."""


def number_rows(
    frame: DataFrame,
    key: Mapping[str, str],
    columns: Sequence[str],
    where: str,
    bucket: int = BUCKET,
    rows: int | None = None,
) -> NumberedFrame:
    """Number the rows of a frame that has these columns and this key, which must tell all rows apart.

    `key` is what the frame calls the key's columns, and what messages call them. `rows` is how many rows there must be,
    where that is known.
    """
    rows = frame.count() if rows is None else rows
    if rows == 0:
        raise InputError(f"{where} has a header but no rows")
    bounds = _bounds(frame, key, min(MOST_BUCKETS, -(-rows // bucket)), rows)
    whole = F.struct(*(F.col(k) for k in key))
    inside = Window.partitionBy("bucket").orderBy(*(F.col(k) for k in key))
    placed = frame.withColumn("bucket", _bucket(frame, key, bounds, 0, len(bounds))).select(
        *key,
        *columns,
        "bucket",
        (F.row_number().over(inside) - 1).cast("long").alias("place"),
        F.coalesce(F.lag(whole).over(inside) == whole, F.lit(False)).alias("again"),
        F.greatest(F.lit(False), *(F.col(k).isNull() for k in key)).alias("without"),
        F.xxhash64(*(F.col(k) for k in key)).alias("keyed"),
    )
    held = placed.persist()
    sizes, checksums = _measured(held, columns, len(bounds) + 1, rows, key, where)
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    first = F.element_at(F.array(*(F.lit(int(n)).cast("long") for n in before)), F.col("bucket") + 1)
    row = (first + F.col("place")).alias(ROW)
    return NumberedFrame(held.select(row, *columns), held.select(row, *key), rows, held, checksums)


def _measured(
    held: DataFrame, columns: Sequence[str], buckets: int, rows: int, key: Mapping[str, str], where: str
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[int, ...]]:
    """How many rows each bucket has, and the columns' checksums; all that can be wrong with a key is found here."""
    sums = [F.expr(f"bit_xor(xxhash64(keyed, {c}))").alias(c) for c in columns]
    counts = [F.count("*").alias("n"), F.count_if("again").alias("again"), F.count_if("without").alias("without")]
    try:
        found: pa.Table = held.groupBy("bucket").agg(*counts, *sums).toArrow()
        n, again, without = (int(np.sum(found.column(name).to_numpy())) for name in ("n", "again", "without"))
        check_key(key.values(), where, without=without, again=again)
        if n != rows:
            raise changed(where)
    except BaseException:
        held.unpersist()
        raise
    sizes = np.zeros(buckets, dtype=np.int64)
    sizes[found.column("bucket").to_numpy()] = found.column("n").to_numpy()
    return sizes, tuple(int(np.bitwise_xor.reduce(found.column(c).to_numpy())) for c in columns)


def _bounds(frame: DataFrame, key: Iterable[str], buckets: int, rows: int) -> list[tuple[Any, ...]]:
    """Keys that cut the rows into about so many parts of about the same size."""
    if buckets == 1:
        return []
    fraction = min(1.0, PER_BUCKET * buckets / rows)
    sample = frame.select(*key).dropna().sample(fraction, SEED).toArrow()
    drawn = sorted(set(zip(*(column.to_pylist() for column in sample.columns), strict=True)))
    cuts = np.linspace(0, len(drawn), buckets + 1)[1:-1].astype(int)
    return [drawn[cut] for cut in sorted(set(cuts.tolist())) if 0 < cut < len(drawn)]


def _bucket(frame: DataFrame, key: Iterable[str], bounds: Sequence[tuple[Any, ...]], low: int, high: int) -> Column:
    """How many bounds are at or below a row's key: found by halving, a few comparisons a row."""
    if low == high:
        return F.lit(low)
    middle = (low + high) // 2
    types = [frame.schema[k].dataType for k in key]
    bound = F.struct(*(F.lit(v).cast(t).alias(k) for v, t, k in zip(bounds[middle], types, key, strict=True)))
    below = F.struct(*(F.col(k) for k in key)) < bound
    return F.when(below, _bucket(frame, key, bounds, low, middle)).otherwise(
        _bucket(frame, key, bounds, middle + 1, high)
    )
