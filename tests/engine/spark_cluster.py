"""A program that has a cluster of its own, with one executor, on the loopback, and kills it while it asks and cleans.

It prints what it saw as one JSON document. A column of its table is computed by a function that tells this process
which executor it runs in, and waits for a word: so an executor can be killed in the very middle of a job.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

sys.path.insert(0, str(Path(__file__).parents[1]))
from jobs_and_cities import cleaner, dirty, provider, shuffled, told
from spark import SETTINGS, class_path

from pacas.client.outcome.steps import BoughtValue, Observer, Unrepaired
from pacas.core.relation import Relation
from pacas.engine.contract import KeyedFrame
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.spark.engine import SparkEngine
from pacas.provider.ledger.memory_ledger import MemoryLedger

ROWS = 400
MASTER = "local-cluster[1,1,512]"


def people() -> pa.Table:
    rng = np.random.default_rng(4)
    return pa.table(
        {
            "ID": np.arange(ROWS) * 7,
            "A": [f"a{n}" for n in rng.integers(0, 60, ROWS)],
            "F": rng.integers(0, 40, ROWS) / 8,  # floats are spelled in Python, on the executors
            "B": [f"b{n}" for n in rng.integers(0, 3, ROWS)],
        }
    )


class Gate:
    """Where workers report. The executor of the first that comes once it is armed is killed; all others may go on."""

    def __init__(self) -> None:
        self.killed: list[int] = []
        self._armed = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.executors: set[int] = set()
        threading.Thread(target=self._serve, daemon=True).start()

    def arm(self) -> None:
        self._armed.set()

    def kill(self, executor: int) -> None:
        os.kill(executor, signal.SIGKILL)
        self.killed.append(executor)

    def _serve(self) -> None:
        while True:
            worker, _ = self._socket.accept()
            with worker:
                executor = int(worker.recv(20))
                self.executors.add(executor)
                if self._armed.is_set():
                    self._armed.clear()
                    self.kill(executor)

    def column(self, name: str, kind: str) -> Column:
        """A column as it is, by way of the gate."""
        port = self.port

        def passed(values: pa.Array) -> pa.Array:
            with open(f"/proc/{os.getppid()}/stat") as stat:  # a worker's parent is a daemon, and its parent is Java
                executor = stat.read().rpartition(")")[2].split()[1]
            with socket.create_connection(("127.0.0.1", port)) as gate:
                gate.sendall(executor.encode())
                gate.recv(1)  # until it is closed
            return values

        passed.__annotations__ = {"values": pa.Array, "return": pa.Array}
        through: Column = F.arrow_udf(passed, kind)(name)
        return through


def started(folder: Path) -> SparkSession:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder)}
    settings = SETTINGS | {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": SETTINGS["spark.driver.extraJavaOptions"],
        "spark.driver.extraClassPath": class_path(),
        "spark.executor.extraClassPath": class_path(),
        "spark.sql.shuffle.partitions": "2",
    }
    builder = SparkSession.builder.master(MASTER)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def asked(engine: Any, table: Any) -> dict[str, Any]:
    """All answers that are to be the same."""
    groups = engine.mixed_groups(table, [["A"]], "B", {})
    index = engine.index(table, ["F"], ["A"], {})
    found = index.find(pa.table({"F": ["0.125", "3", "9"]}))
    index.close()
    return {
        "rows": [column.to_pylist() for column in engine.rows(table, None, ["A", "F"]).columns],
        "groups": [groups.rows.tolist(), groups.offsets.tolist()],
        "found": [column.to_pylist() for column in found.columns],
    }


def settings_of(session: SparkSession) -> dict[str, str]:
    return dict(session.conf.getAll)


def source(session: SparkSession, folder: Path, gate: Gate) -> KeyedFrame:
    order = np.random.default_rng(5).permutation(ROWS)
    (folder / "people").mkdir()
    for part in range(2):
        pq.write_table(people().take(order[part::2]), folder / "people" / f"{part}.parquet")
    frame: DataFrame = session.read.parquet(str(folder / "people"))
    return KeyedFrame(frame.withColumn("F", gate.column("F", "double")), ("ID",))


class Killing(Observer):
    """At the first purchase the executor that holds the rows is killed; then the first that makes up for it."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.at_once = 0

    def settled(self, step: int, outcome: BoughtValue | Unrepaired) -> None:
        if not self.at_once:
            for executor in tuple(self._gate.executors):
                self._gate.kill(executor)
            self.at_once = len(self._gate.killed)
            self._gate.arm()


def cleaned(session: SparkSession, engine: SparkEngine) -> dict[str, Any]:
    """A cleaning in which executors die after a purchase, and the same one undisturbed."""
    embedded, quick = DuckEngine(threads=1), cleaner(["ZIP -> CITY"])
    gate, ledger = Gate(), MemoryLedger()
    frame = session.createDataFrame(shuffled(dirty())).repartition(2, "PERSON")
    data = KeyedFrame(frame.withColumn("CITY", gate.column("CITY", "string")), ("PERSON",))
    killing = Killing(gate)
    found = quick.clean(data, provider(embedded, ledger), observer=killing, engine=engine)
    return {
        "killed at once": killing.at_once,
        "killed in the middle": len(gate.killed) - killing.at_once,
        "found": told(found),
        "expected": told(quick.clean(dirty(), provider(embedded), engine=embedded)),
        "bought": len(list(ledger.entries(1))),
    }


def main(folder: Path) -> dict[str, Any]:
    embedded = DuckEngine(threads=1)
    expected = asked(embedded, embedded.open(Relation.of(people())))
    session = started(folder)
    before = settings_of(session)
    gate = Gate()
    engine = SparkEngine(session, bucket=150)
    gate.arm()
    table = engine.open(source(session, folder, gate), ["A", "F", "B"])  # an executor is killed while rows are numbered
    seen = asked(engine, table)
    del table
    cleaning = cleaned(session, engine)
    engine.close()
    views = session.sql("SHOW VIEWS").toArrow()["viewName"].to_pylist()
    kept = "as they were" if settings_of(session) == before else "changed"
    goes_on = session.range(3).count()
    session.stop()
    more = {"settings": kept, "views": views, "goes on": goes_on, "cleaning": cleaning}
    return {"expected": expected, **seen, "killed": gate.killed, **more}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
