"""One cleaning, once on DuckDB and once on Spark: the same purchases for the same money, and the same table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from jobs_and_cities import cleaner, dirty, provider, shuffled, told

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
