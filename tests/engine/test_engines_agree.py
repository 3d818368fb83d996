"""One cleaning, once on DuckDB and once on Spark: the same purchases for the same money, and the same table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from jobs_and_cities import cleaner, dirty, provider, shuffled, told
from run_worlds import Counted, OneByOne, RunWorld, sold
from run_worlds import told as run_told

from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.folder import scan_folder


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    engine = DuckEngine(threads=1)
    found = told(cleaner().clean(dirty(), provider(engine), run="run", engine=engine))
    assert found["purchases"]
    assert found["unrepaired"]
    return found


@pytest.mark.parametrize("kind", ["table in memory", "folder"])
def test_spark_buys_and_writes_what_duckdb_does(
    spark_session: Any, expected: dict[str, Any], tmp_path: Path, kind: str
) -> None:
    from pacas.engine.spark.engine import SparkEngine

    engine = SparkEngine(spark_session, bucket=50)
    data: Any = dirty()
    if kind == "folder":
        table = shuffled(data)
        for part in range(2):
            pq.write_table(table.slice(part * 60, 60), tmp_path / f"{part}.parquet")
        data = scan_folder(tmp_path, ["PERSON"])
    shop = provider(engine if kind == "table in memory" else None)  # a provider's questions are the same every time
    found = cleaner().clean(data, shop, run="run", engine=engine)
    assert told(found) == expected
    engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("sells", ["in memory", "on Spark"])
def test_runs_that_are_planned_on_spark_buy_what_duckdb_buys_one_by_one(spark_session: Any, sells: str) -> None:
    from pacas.engine.spark.engine import SparkEngine

    world = RunWorld(5, 20, "apart", "by group", "paper", "list", "paper", 2000, {})
    duck = DuckEngine(threads=1)
    alone = world.provider(duck)
    one_by_one = world.clean(OneByOne(alone), duck)
    engine = SparkEngine(spark_session, bucket=50)
    provider = world.provider(engine if sells == "on Spark" else duck)
    market = Counted(provider)
    cleaning = world.clean(market, engine)
    assert run_told(cleaning) == run_told(one_by_one)
    assert sold(provider) == sold(alone)
    assert max(answered for _, answered in market.runs) > 3, "in runs"
    engine.close()
