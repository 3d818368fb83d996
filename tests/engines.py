"""The engines that pass the contract suites: each is one parameter of a suite's fixture."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from pacas.engine.contract import Engine
from pacas.engine.duck.engine import DuckEngine


class Roomless(DuckEngine):
    """DuckDB, for a caller that may hold nothing: it answers by SQL alone."""

    def __init__(self, threads: int = 1) -> None:
        super().__init__(threads=threads)
        self.holdable_bytes = 0


def duckdb(request: pytest.FixtureRequest) -> DuckEngine:
    return DuckEngine(threads=2, memory="1GB")


def spilling(request: pytest.FixtureRequest) -> DuckEngine:
    return Roomless(threads=2)


def spark(request: pytest.FixtureRequest) -> Any:
    session = request.getfixturevalue("spark_session").newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")  # tests/engine is about rows in several places
    patch = pytest.MonkeyPatch()
    request.addfinalizer(patch.undo)
    patch.setattr("pacas.engine.spark.sources.SMALL", 1 << 14)  # so that a tenth of a large table is large, too
    return import_module("pacas.engine.spark.engine").SparkEngine(session)


def is_spark(engine: Engine[Any]) -> bool:
    """Whether questions are dear: tenths of a second each, and seconds where the statement is long."""
    return type(engine).__name__ == "SparkEngine"


def scaled(engine: Engine[Any], rows: int) -> int:
    """So many rows; on Spark a tenth of them, as no code is generated there for many."""
    return rows // 10 if is_spark(engine) else rows


ENGINES = [
    pytest.param(duckdb, id="duckdb"),
    pytest.param(spilling, id="spilling"),
    pytest.param(spark, id="spark", marks=pytest.mark.spark),
]
