"""Engines by name: DuckDB in this process, or Spark."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pacas.engine.contract import Engine, memory_bytes
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, did_you_mean

ENGINES = ("duckdb", "spark")
"""What `engine` may say in a file or on the command line; the first is what is used where nothing is said."""

NEEDED = ("pyspark", "py4j", "sqlglot")
SPARKS_LEAST = 500_000_000
"""Bytes below which Spark does not start."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Which engine, as a file or a command line says it; what is None was not said."""

    name: str | None = None
    master: str | None = None
    memory: str | None = None

    def __post_init__(self) -> None:
        if self.name is not None and self.name not in ENGINES:
            raise InputError(f"no engine {self.name!r}; {did_you_mean(self.name, ENGINES)}")
        if self.memory is not None:
            memory_bytes(self.memory)

    @property
    def engine(self) -> str:
        return self.name or ENGINES[0]

    def over(self, other: EngineChoice) -> EngineChoice:
        """What is said here, and where nothing is, what the other says; a master goes with its own engine only."""
        master = self.master or (other.master if self.engine == other.engine or self.name is None else None)
        return EngineChoice(self.name or other.name, master, self.memory or other.memory)

    def open(self) -> Engine[Any]:
        return open_engine(self.engine, master=self.master, memory=self.memory)


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
            f"a master ({master}) is Spark's, and the engine is {name}; say engine 'spark', or leave the master out"
        )
    return DuckEngine(memory=memory)


def spark_engine(session: Any) -> Engine[Any]:
    """Spark on a session of the caller's own, which is left running."""
    made: Engine[Any] = spark_engine_type()(session)
    return made


def _spark(master: str | None, memory: str | None) -> Engine[Any]:
    settings = {} if memory is None else {"spark.driver.memory": f"{_driver_megabytes(memory)}m"}
    chosen = {} if master is None else {"master": master}
    made: Engine[Any] = spark_engine_type()(settings=settings, **chosen)
    return made


def _driver_megabytes(memory: str) -> int:
    amount = memory_bytes(memory)
    if amount < SPARKS_LEAST:
        raise InputError(f"{memory!r} is too little memory for Spark's driver; give 512MB or more, or engine 'duckdb'")
    return amount >> 20


def spark_engine_type() -> Any:
    """The Spark engine's class, loaded only where Spark is asked for."""
    try:
        return import_module("pacas.engine.spark.engine").SparkEngine
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in NEEDED:
            raise
        raise InputError(f"the Spark engine needs {missing}; install it with: pip install 'pacas[spark]'") from None


def __getattr__(name: str) -> Any:
    """`SparkEngine`, loaded when it is asked for: it needs pyspark."""
    if name == "SparkEngine":
        return spark_engine_type()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
