"""Engines by name: DuckDB in this process, or Spark."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pacas.engine.contract import Engine
from pacas.engine.duck import DuckEngine
from pacas.errors import InputError, did_you_mean

ENGINES = ("duckdb", "spark")
"""What `engine` may say in a file or on the command line; the first is what is used where nothing is said."""

NEEDED = ("pyspark", "py4j", "sqlglot")


def open_engine(name: str = ENGINES[0], *, master: str | None = None, memory: str | None = None) -> Engine[Any]:
    """The engine of a name, to be closed by the caller.

    `master` is Spark's. `memory` is what DuckDB may hold before it spills, or what the driver of a Spark that is
    started here gets, such as "2GB".
    """
    if name not in ENGINES:
        raise InputError(f"no engine {name!r}; {did_you_mean(name, ENGINES)}")
    if name == "spark":
        return _spark(master, memory)
    if master is not None:
        raise InputError(
            f"a master ({master}) is Spark's, and the engine is {name}; say engine = 'spark', or leave it out"
        )
    return DuckEngine(memory=memory)


def _spark(master: str | None, memory: str | None) -> Engine[Any]:
    try:
        spark = import_module(".spark", __package__)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in NEEDED:
            raise
        raise InputError(f"the Spark engine needs {missing}; install it with: pip install 'pacas[spark]'") from None
    settings = {} if memory is None else {"spark.driver.memory": memory.lower().removesuffix("b")}
    made: Engine[Any] = spark.SparkEngine(settings=settings, **({} if master is None else {"master": master}))
    return made
