"""Statements of DuckDB's, translated for Spark."""

from __future__ import annotations

import re

import duckdb
import pytest

pytest.importorskip("sqlglot", reason="no sqlglot here; install pacas[spark]")

from pacas.engine.spark.spark_sql import NUMBER, to_spark

TEXTS = [
    *["5", "+5", "-5", "5.", ".5", "5.25", "1e5", "1E+2", "1e-2", "1e400", " 5 ", "\t5\n", "1_000", "1_0.5_5", "1e1_0"],
    *["inf", "-Infinity", "+INF", "nan", "NaN"],
    *[
        "",
        " ",
        ".",
        "1d",
        "1f",
        "0x1p3",
        "1e",
        "e5",
        "5 6",
        "1__0",
        "_1",
        "1_",
        "1._5",
        "infi",
        "٣",
        "five",
        "5;",
        "--5",
    ],
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_a_number_to_spark_where_it_is_one_to_duckdb(text: str) -> None:
    ((number,),) = duckdb.execute("SELECT TRY_CAST(? AS DOUBLE)", [text]).fetchall()
    assert bool(re.search(NUMBER, text)) == (number is not None)


def test_what_spark_does_not_know_is_left_out_or_guarded() -> None:
    translated = to_spark(
        "WITH a AS MATERIALIZED (SELECT c0 AS x0, count(*) AS n FROM t GROUP BY ALL) "
        "SELECT x0 AS \"0\" FROM a WHERE TRY_CAST(x0 AS DOUBLE) > 5 AND x0 IS NOT DISTINCT FROM 'it''s \\' "
        'ORDER BY "0"'
    )
    assert "MATERIALIZED" not in translated
    assert "TRY_CAST(CASE WHEN x0 RLIKE" in translated
    assert "ORDER BY `0` NULLS LAST" in translated
    assert r"'it\'s \\'" in translated
