"""A Spark for the tests: `local[2]` in this process, offline, one session for all tests that ask for it.

It starts when a test first asks, and is tuned for tables of a few rows: no code is generated, no plan is adapted or
described, nothing is compressed, and Java looks for Spark's classes first where most of them are.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.shuffle.compress": "false",
    "spark.broadcast.compress": "false",
    "spark.ui.liveUpdate.period": "-1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.python.worker.reuse": "true",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # short jobs: do not optimise
}
FIRST = ("scala-library", "spark-core_", "spark-catalyst_", "spark-sql_", "spark-sql-api_", "spark-common-utils_")
"""The jars that most classes are in, of some two hundred."""


def missing() -> str | None:
    """Why there is no Spark here, if there is none."""
    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").exists() if home else shutil.which("java")):
        return "no Java here; install Debian's openjdk-17-jre-headless, or set JAVA_HOME"
    if find_spec("pyspark") is None or find_spec("sqlglot") is None:
        return "no pyspark here; install pacas[spark]"
    return None


def pretend_java(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let there be a Java, for as long as nobody starts it."""
    (folder / "bin").mkdir()
    (folder / "bin" / "java").touch()
    monkeypatch.setenv("JAVA_HOME", str(folder))


def class_path() -> str:
    """The jars to look into first."""
    import pyspark

    jars = Path(os.environ.get("SPARK_HOME", Path(pyspark.__file__).parent), "jars")
    return os.pathsep.join(str(jar) for name in FIRST for jar in sorted(jars.glob(f"{name}*.jar")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark_session" in getattr(item, "fixturenames", ()) and "spark" not in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} needs Spark, and must say so in its name")


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """The session; a test that asks for it is skipped where there is no Spark."""
    if (reason := missing()) is not None:
        pytest.skip(reason)
    from pacas.engine.spark.session import start_session

    with tempfile.TemporaryDirectory(prefix="pacas-spark-") as folder:
        session = start_session(folder, "local[2]", SETTINGS | {"spark.driver.extraClassPath": class_path()})
        yield session
        session.stop()
