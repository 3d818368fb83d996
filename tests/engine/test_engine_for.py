"""The engine that the front door's verbs ask: the one given, else the one that the data belongs to."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pacas
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.questions import engine_for

ROWS: dict[str, list[Any]] = {"ID": [3, 1, 2, 0], "A": ["a", "a", "b", "b"], "B": ["x", "y", "z", "z"]}
IN_ORDER: dict[str, list[Any]] = {"ID": [0, 1, 2, 3], "A": ["b", "a", "b", "a"], "B": ["z", "y", "z", "x"]}


def found(check: pacas.Check) -> list[tuple[str, list[int], int]]:
    return [(c.attribute, c.rows.tolist(), c.errors) for c in check.classes]


def test_without_a_frame_it_is_the_embedded_one(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "0.parquet")
    for data in (ROWS, pa.table(ROWS), pacas.scan_folder(tmp_path, ["ID"])):
        assert isinstance(engine_for(data, None), DuckEngine)
    given = DuckEngine()
    assert engine_for(ROWS, given) is given


def test_a_folder_is_a_relation_in_python_too(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "0.parquet")
    folder = pacas.scan_folder(tmp_path, ["ID"])
    assert found(pacas.check(folder, ["A -> B"])) == found(pacas.check(IN_ORDER, ["A -> B"])) == [("B", [1, 3], 1)]
    assert pacas.anonymity(folder, pacas.Policy(("A",), ("B",))).k == 1


def test_pyspark_is_loaded_only_where_it_is_asked_for() -> None:
    program = (
        "import sys, pacas; print('pyspark' in sys.modules, 'SparkEngine' in vars(pacas))\n"
        "sys.modules['pyspark'] = None\n"
        "try:\n    pacas.SparkEngine\n"
        "except pacas.InputError as error:\n    print(error)\n"
        "try:\n    pacas.Sparkle\n"
        "except AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "False False",
        "the Spark engine needs pyspark; install it with: pip install 'pacas[spark]'",
        "module 'pacas' has no attribute 'Sparkle'",
    ]


def test_a_frame_of_sparks_is_asked_about_on_its_own_session(spark_session: Any) -> None:
    frame = spark_session.createDataFrame(pa.table(ROWS))
    keyed = pacas.KeyedFrame(frame, "ID")
    engine = engine_for(keyed, None)
    assert isinstance(engine, pacas.SparkEngine)
    assert engine.session is spark_session
    assert engine_for(ROWS, None, keyed).session is spark_session  # type: ignore[attr-defined]  # it is Spark's
    assert found(pacas.check(keyed, ["A -> B"])) == [("B", [1, 3], 1)]
    assert pacas.anonymity(keyed, pacas.Policy(("A",), ("B",))).k == 1
    assert pacas.semantic_distance(keyed, "B")("x", "y") == pacas.semantic_distance(ROWS, "B")("x", "y")
    assert pacas.relation_distance(IN_ORDER, keyed) == {"ID": 0, "A": 0, "B": 0}
    query = pacas.GeneralizedQuery.parse("A:0", "B = z")
    assert pacas.answer(query, {"relation": keyed}) == [["b"]]


def test_a_spark_session_is_left_running_when_its_engine_is_closed(spark_session: Any) -> None:
    with closing(pacas.SparkEngine(spark_session)) as engine:
        assert found(pacas.check(IN_ORDER, ["A -> B"], engine=engine)) == [("B", [1, 3], 1)]
    assert spark_session.range(3).count() == 3


def test_a_spark_frame_without_a_key_is_refused_with_what_to_do(spark_session: Any) -> None:
    frame = spark_session.createDataFrame(pa.table(ROWS))
    with pytest.raises(pacas.InputError, match=r"the rows of a Spark frame have no order; give pacas\.KeyedFrame"):
        pacas.check(frame, ["A -> B"])
    with pytest.raises(pacas.InputError, match="the table needs a key"):
        pacas.KeyedFrame(frame, [])
    with pytest.raises(pacas.InputError, match="no column 'Id' in the table; did you mean 'ID'"):
        pacas.KeyedFrame(frame, ["Id"])
