"""The engines that pass the contract suites: each is one parameter of a suite's fixture."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from pacas.engine.duck import DuckEngine


def duckdb(request: pytest.FixtureRequest) -> DuckEngine:
    return DuckEngine(threads=2, memory="1GB")


def spilling(request: pytest.FixtureRequest) -> DuckEngine:
    """DuckDB with no room for arrays: it answers by SQL alone."""
    engine = DuckEngine(threads=2)
    engine.room = 0
    return engine


def spark(request: pytest.FixtureRequest) -> Any:
    session = request.getfixturevalue("spark_session")
    return import_module("pacas.engine.spark").SparkEngine(session)


ONE_JAVA = pytest.mark.xdist_group("spark")
ENGINES = [
    pytest.param(duckdb, id="duckdb"),
    pytest.param(spilling, id="spilling"),
    pytest.param(spark, id="spark", marks=ONE_JAVA),
]
