"""Spark fails in the middle: a job is cancelled, an executor is killed, a table changes. One line says so, or nothing
is to be seen of it; what was bought is neither lost nor bought again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs_and_cities import cleaner, dirty, provider, shuffled, told
from spark import missing

from pacas.client.outcome.steps import BoughtValue, Observer, Order, PlannedStep, Unrepaired
from pacas.engine.contract import KeyedFrame
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.folder import scan_folder
from pacas.errors import InputError, PacasError
from pacas.formats.journal.journal import Journal
from pacas.formats.relations.relations import scan_relation
from pacas.provider.ledger.memory_ledger import MemoryLedger


@pytest.fixture(scope="module")
def engine(spark_session: Any) -> Iterator[Any]:
    from pacas.engine.spark.engine import SparkEngine

    made = SparkEngine(spark_session)
    yield made
    made.close()


# ---- jobs that are cancelled -----------------------------------------------------------------------------------------


class Cancelling(Observer):
    """A journal's companion: from when the first purchase is settled, every Spark job is cancelled that then runs."""

    def __init__(self, journal: Journal, session: Any) -> None:
        self._journal, self._context = journal, session.sparkContext
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._cancel)

    def recall(self, step: int) -> BoughtValue | Unrepaired | Order | None:
        return self._journal.recall(step)

    def recall_ahead(self, step: int) -> Sequence[PlannedStep]:
        return self._journal.recall_ahead(step)

    def withdrawn(self, step: int) -> None:
        self._journal.withdrawn(step)

    def ordering(self, *steps: PlannedStep) -> None:
        self._journal.ordering(*steps)

    def settled(self, step: int, outcome: BoughtValue | Unrepaired) -> None:
        self._journal.settled(step, outcome)
        self.begin()

    def begin(self) -> None:
        if not self._thread.is_alive():
            self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        self._journal.close()

    def _cancel(self) -> None:
        while not self._over.is_set():
            self._context.cancelAllJobs()


def test_a_cleaning_whose_jobs_are_cancelled_goes_on_and_pays_nothing_twice(
    engine: Any, spark_session: Any, tmp_path: Path
) -> None:
    embedded = DuckEngine(threads=1)
    quick = cleaner(["ZIP -> CITY"])
    undisturbed = quick.clean(dirty(), provider(embedded), engine=embedded)
    assert undisturbed.rounds == 2, "there are questions after purchases"
    ledger = MemoryLedger()
    shop = provider(embedded, ledger)
    data = KeyedFrame(spark_session.createDataFrame(shuffled(dirty())), ("PERSON",), "the lake")
    path, parts = tmp_path / "out.journal", {"data": "dirty"}

    for resume in (False, True):
        journal = Journal(path, parts, resume=resume)
        cancelling = Cancelling(journal, spark_session)
        if resume:
            cancelling.begin()
        with pytest.raises(PacasError, match=r"^the lake: the Spark job was cancelled; begin again$"):
            quick.clean(data, shop, run=journal.run, observer=cancelling, engine=engine)
        cancelling.end()
        assert journal.ordered

    journal = Journal(path, parts, resume=True)
    assert journal.steps > 0
    finished = quick.clean(data, shop, run=journal.run, observer=journal, engine=engine)
    journal.finish(len(finished.purchases), finished.spent_nanocredits)
    assert told(finished) == told(undisturbed)
    bought = [entry.purchase for entry in ledger.entries(1)]
    assert len(bought) == len(finished.purchases)
    assert sum(purchase.price for purchase in bought) == finished.spent_nanocredits


# ---- executors that are killed ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def killed_executors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a program saw that has a cluster of its own, and kills its executor."""
    if (reason := missing()) is not None:
        pytest.skip(reason)
    if not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here, by which a worker finds the executor that it belongs to")
    program = Path(__file__).with_name("spark_cluster.py")
    folder = tmp_path_factory.mktemp("cluster")
    done = subprocess.run(
        [sys.executable, program, folder], capture_output=True, text=True, timeout=600, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def test_rows_have_the_numbers_they_had_after_an_executor_was_killed_while_they_got_them(
    killed_executors: dict[str, Any],
) -> None:
    assert len(killed_executors["killed"]) == 1
    assert killed_executors["rows"] == killed_executors["expected"]["rows"]


def test_questions_have_their_answers_after_an_executor_was_killed(killed_executors: dict[str, Any]) -> None:
    assert killed_executors["groups"] == killed_executors["expected"]["groups"]
    assert killed_executors["found"] == killed_executors["expected"]["found"]


def test_a_cleaning_ends_as_if_no_executor_had_been_killed_and_buys_nothing_twice(
    killed_executors: dict[str, Any],
) -> None:
    cleaning = killed_executors["cleaning"]
    assert cleaning["killed at once"] == 1
    assert cleaning["killed in the middle"] == 1
    assert cleaning["found"] == cleaning["expected"]
    assert cleaning["bought"] == len(cleaning["found"]["purchases"]) > 0


def test_a_session_of_the_users_own_keeps_its_settings_and_goes_on(killed_executors: dict[str, Any]) -> None:
    assert killed_executors["settings"] == "as they were"
    assert killed_executors["views"] == []
    assert killed_executors["goes on"] == 3


# ---- tables that change ----------------------------------------------------------------------------------------------

PEOPLE: dict[str, list[Any]] = {"ID": [3, 1, 2, 4], "A": ["x", "y", "x", "y"], "B": ["1", "2", "3", "2"]}
OTHERS: dict[str, list[Any]] = {"ID": [3, 1, 2, 5], "A": ["x", "y", "x", "secret"], "B": ["1", "2", "3", "secret"]}
MORE: dict[str, list[Any]] = {"ID": [9], "A": ["secret"], "B": ["secret"]}


def rewritten(path: Path, columns: dict[str, list[Any]]) -> None:
    """Another file of the same name, as another writer leaves it: at another moment, whatever the clock's steps."""
    pq.write_table(pa.table(columns), path)
    os.utime(path, ns=(1, 1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "people"
    path.mkdir()
    pq.write_table(pa.table(PEOPLE), path / "0.parquet")
    return path


def changed(engine: Any, ask: Any) -> None:
    with pytest.raises(InputError, match="has changed since it was first read; let its writers finish") as caught:
        ask()
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("kind", "how"), [("file", "replaced"), ("folder", "replaced"), ("scanned folder", "removed")])
def test_a_file_that_is_another_one_between_two_questions_is_noticed(
    engine: Any, folder: Path, kind: str, how: str
) -> None:
    path = folder / "0.parquet"
    source = {
        "file": lambda: scan_relation(path),
        "folder": lambda: scan_folder(folder, ["ID"]),
        "scanned folder": lambda: engine.scan(str(folder), "ID"),
    }[kind]()
    table = engine.open(source, ["A", "B"])
    index = engine.index(table, ["A"], ["B"], {})
    assert engine.mixed_groups(table, [["A"]], "B", {}).rows.tolist() == ([0, 2] if kind == "file" else [1, 2])
    if how == "replaced":
        rewritten(path, OTHERS)
    else:
        path.unlink()
    changed(engine, lambda: engine.mixed_groups(table, [["A"]], "B", {}))
    changed(engine, lambda: engine.rows(table, np.array([0]), ["A"]))
    changed(engine, lambda: index.find(pa.table({"A": ["x"]})))


@pytest.mark.parametrize("kind", ["folder", "scanned folder"])
def test_a_file_that_is_added_to_a_folder_is_noticed_when_it_is_opened_again_or_written(
    engine: Any, folder: Path, tmp_path: Path, kind: str
) -> None:
    source = scan_folder(folder, ["ID"]) if kind == "folder" else engine.scan(str(folder), "ID")
    table = engine.open(source, ["A"])
    pq.write_table(pa.table(MORE), folder / "1.parquet")
    assert engine.histogram(table, ["A"], {}).counts.tolist() == [2, 2], "what was opened is what it was"
    changed(engine, lambda: engine.open(source, ["B"]))
    changed(engine, lambda: engine.write(table, {}, tmp_path / "written"))
    assert not (tmp_path / "written").exists()


def test_a_folder_that_has_changed_is_what_it_is_now_once_it_is_scanned_anew(engine: Any, folder: Path) -> None:
    source = scan_folder(folder, ["ID"])
    assert len(engine.open(source, ["A"])) == 4
    pq.write_table(pa.table(MORE), folder / "1.parquet")
    changed(engine, lambda: engine.open(source, ["A"]))
    assert len(engine.open(scan_folder(folder, ["ID"]), ["A"])) == 5


def test_a_table_to_which_rows_are_added_is_noticed(engine: Any, spark_session: Any, tmp_path: Path) -> None:
    frame = spark_session.createDataFrame(pa.table(PEOPLE))
    frame.write.option("path", str(tmp_path / "people")).saveAsTable("changing_people")
    try:
        source = engine.scan("changing_people", "ID")
        table = engine.open(source, ["A"])
        assert engine.open(source, ["A", "B"]).columns == ("A", "B")
        spark_session.createDataFrame(pa.table(MORE)).write.insertInto("changing_people")
        changed(engine, lambda: engine.open(source, ["B"]))
        changed(engine, lambda: engine.write(table, {}, tmp_path / "written"))
    finally:
        spark_session.sql("DROP TABLE changing_people")


def test_a_digest_tells_a_table_from_one_that_has_changed(engine: Any, spark_session: Any) -> None:
    def digest(columns: dict[str, list[Any]], key: str = "ID") -> str:
        found: str = engine.digest(KeyedFrame(spark_session.createDataFrame(pa.table(columns)), (key,)))
        return found

    reordered = {name: values[::-1] for name, values in PEOPLE.items()}
    assert digest(PEOPLE) == digest(reordered), "rows have no order"
    swapped = PEOPLE | {"B": ["3", "2", "1", "2"]}
    null = PEOPLE | {"B": ["1", "2", None, "2"]}
    typed = PEOPLE | {"B": [1, 2, 3, 2]}
    renamed = {"ID": PEOPLE["ID"], "A": PEOPLE["A"], "C": PEOPLE["B"]}
    nested = PEOPLE | {"B": [{"x": n} for n in (1, 2, 3, 2)]}
    others = [swapped, null, typed, renamed, nested, OTHERS, {n: [*PEOPLE[n], *MORE[n]] for n in PEOPLE}]
    assert len({digest(PEOPLE), *map(digest, others)}) == len(others) + 1


# ---- sessions --------------------------------------------------------------------------------------------------------


def test_a_session_of_spark_connect_is_refused_in_one_line() -> None:
    for needed in ("pyspark", "sqlglot"):
        pytest.importorskip(needed, reason="no pyspark here; install pacas[spark]")
    from pacas.engine.spark.engine import SparkEngine

    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(InputError, match="Spark Connect") as caught:
        SparkEngine(session)
    assert "\n" not in str(caught.value)
