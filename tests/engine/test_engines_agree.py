"""One cleaning, once on DuckDB and once on Spark: the same purchases for the same money, and the same table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pacas
from pacas.client.cleaning import Cleaning
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine, KeyedFrame
from pacas.engine.duck import DuckEngine

pytestmark = pytest.mark.xdist_group("spark")  # one Java for all

ROWS = 120
FDS = ["EMPLOYER, GRADE -> JOB", "BADGE -> JOB", "ZIP -> CITY"]
JOBS = Hierarchy.from_rows([(f"{family}{n}", family, "*") for family in "xyz" for n in range(4)])
CITIES = Hierarchy.from_rows([(f"city{n}", f"region{n % 3}", "*") for n in range(9)])


def truth() -> pa.Table:
    rng = np.random.default_rng(11)
    employer, grade, zip_ = (rng.integers(0, most, ROWS) for most in (9, 3, 20))
    job = (employer * 3 + grade) % 12
    return pa.table(
        {
            "PERSON": [f"p{n:03}" for n in range(ROWS)],
            "EMPLOYER": [f"e{n}" for n in employer],
            "GRADE": [str(n) for n in grade],
            "BADGE": [f"b{j}{n % 4}" for n, j in enumerate(job)],
            "JOB": [f"{'xyz'[j // 4]}{j % 4}" for j in job],
            "ZIP": [str(n) for n in zip_],
            "CITY": [f"city{n % 9}" for n in zip_],
        }
    )


def dirty() -> pa.Table:
    rng = np.random.default_rng(12)
    table = truth()
    for name, others in {"JOB": [*JOBS.ground_labels, None], "CITY": [*CITIES.ground_labels, "?"]}.items():
        values = table[name].to_pylist()
        for row in rng.choice(ROWS, 15, replace=False):
            values[row] = others[rng.integers(0, len(others))]
        table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))
    return table


def clean(engine: Engine[Any], data: Any) -> Cleaning:
    provider = pacas.Provider(
        truth(),
        match={"JOB": "PERSON = PERSON", "CITY": "PERSON = PERSON"},
        policies=[pacas.Policy(x=("PERSON",), y=("JOB",), k=3)],
        hierarchies={"JOB": JOBS, "CITY": CITIES},
        total=200,
        seed=5,
        engine=engine,
    )
    return pacas.SafeClean(FDS, 6, rounds=2).clean(data, provider, run="run", engine=engine)


@pytest.fixture(scope="module")
def expected() -> Cleaning:
    found = clean(DuckEngine(threads=1), dirty())
    assert found.purchases
    assert found.unrepaired
    return found


@pytest.mark.parametrize("kind", ["table in memory", "frame with a key"])
def test_spark_buys_and_writes_what_duckdb_does(spark_session: Any, expected: Cleaning, kind: str) -> None:
    from pacas.engine.spark import SparkEngine

    engine = SparkEngine(spark_session, bucket=50)
    data: Any = dirty()
    if kind == "frame with a key":
        shuffled = data.take(np.random.default_rng(1).permutation(ROWS))
        data = KeyedFrame(spark_session.createDataFrame(shuffled), ("PERSON",))
    found = clean(engine, data)
    engine.close()
    assert found.relation.table.to_pydict() == expected.relation.table.to_pydict()
    assert list(map(repr, found.purchases)) == list(map(repr, expected.purchases))
    assert (found.spent, found.violations_before, found.violations_after) == (
        expected.spent,
        expected.violations_before,
        expected.violations_after,
    )
    left = [(u.attribute, u.rows.tolist(), u.reason) for u in found.unrepaired]
    assert left == [(u.attribute, u.rows.tolist(), u.reason) for u in expected.unrepaired]
