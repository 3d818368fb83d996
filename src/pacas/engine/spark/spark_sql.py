"""SQL on a Spark session: statements in DuckDB's dialect, tables named for as long as they are needed, Arrow out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from uuid import uuid4

import numpy as np
import pyarrow as pa
import sqlglot
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlglot import exp

BATCH = 1 << 22
"""Rows up to which an answer comes in one piece; a larger one comes partition by partition."""
MOST_BROADCAST = 1 << 20
"""Rows up to which a table of ours is sent to all workers."""

_DIGITS = "[0-9]+(_[0-9]+)*"
NUMBER = (
    f"^[ \t\n\x0b\f\r]*([+-]?({_DIGITS}[.]?({_DIGITS})?|[.]{_DIGITS})([eE][+-]?{_DIGITS})?"
    "|[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])[ \t\n\x0b\f\r]*$"
)
"""What DuckDB takes for a number. Spark would take 1d and 0x1p3 too, and no 1_000."""


class SparkSql:
    """A session, and the names that we have given in it."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        prefix = f"pacas_{uuid4().hex}"  # the session may be somebody else's, too
        self._names = (f"{prefix}_{number}" for number in count())

    def frame(self, sql: str) -> DataFrame:
        return self.session.sql(to_spark(sql))

    def arrow(self, sql: str) -> pa.Table:
        """An answer that is known to be small."""
        return self.frame(sql).toArrow()

    def stream(self, sql: str, most: int) -> Iterator[pa.Table]:
        """An answer of so many rows at most, in batches that fit in memory."""
        return self.batches(self.frame(sql), most)

    def batches(self, frame: DataFrame, rows: int) -> Iterator[pa.Table]:
        """The rows of a frame, at most so many, in its order and in batches that fit in memory.

        A batch is some partitions that follow each other: about BATCH rows, and one partition at least.
        """
        if rows <= BATCH:
            yield frame.toArrow()
            return
        held = frame.persist()
        try:
            partition = F.spark_partition_id()
            counted = held.groupBy(partition.alias("p")).agg(F.count("*").alias("n")).orderBy("p").toArrow()
            ends = np.cumsum(counted.column("n").to_numpy()) // BATCH
            for batch in np.unique(ends):
                numbers = counted.column("p").to_numpy()[ends == batch]
                yield held.where(partition.between(int(numbers[0]), int(numbers[-1]))).toArrow()
        finally:
            held.unpersist()

    def from_arrow(self, table: pa.Table) -> DataFrame:
        frame = self.session.createDataFrame(table)
        return F.broadcast(frame) if len(table) <= MOST_BROADCAST else frame

    def name(self, frame: DataFrame) -> str:
        """Give a frame a name of its own."""
        name = next(self._names)
        frame.createOrReplaceTempView(name)
        return name

    def forget(self, name: str) -> None:
        self.session.catalog.dropTempView(name)

    @contextmanager
    def named(self, frame: DataFrame) -> Iterator[str]:
        """A frame's name, while it is needed."""
        name = self.name(frame)
        try:
            yield name
        finally:
            self.forget(name)

    @contextmanager
    def given(self, table: pa.Table) -> Iterator[str]:
        """The name of a table of ours, while it is needed."""
        with self.named(self.from_arrow(table)) as name:
            yield name

    @contextmanager
    def kept(self, sql: str) -> Iterator[str]:
        """An answer that several statements need: computed once, kept on the workers, and named."""
        frame = self.frame(sql).persist()
        try:
            with self.named(frame) as name:
                yield name
        finally:
            frame.unpersist()


def release(spark: SparkSql, name: str, forget: Callable[[], object]) -> None:
    """Let the session and its workers forget a frame of ours that nobody asks about any more."""
    with suppress(PySparkException, Py4JError, ConnectionError):  # the session may have stopped
        spark.forget(name)
        forget()


def to_spark(sql: str) -> str:
    """A statement of DuckDB's as one of Spark's, with the same answer."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    for step in tree.find_all(exp.CTE):
        step.set("materialized", None)  # Spark decides by itself what it computes once
    translated: str = tree.transform(_number).sql(dialect="spark")
    return translated


def _number(node: exp.Expression) -> exp.Expression:
    """A text as a number where DuckDB takes it for one, else null."""
    if not (isinstance(node, exp.TryCast) and node.to.is_type("double")):
        return node
    text = node.this
    digits = exp.func("REPLACE", text.copy(), exp.Literal.string("_"), exp.Literal.string(""))
    is_number = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(NUMBER))
    return exp.TryCast(this=exp.Case().when(is_number, digits), to=node.to, safe=True)
