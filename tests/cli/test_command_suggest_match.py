"""`pacas suggest match`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def tables(folder: Path) -> None:
    rows = [(f"{10_000 + i % 20}", f"city {i % 7 % 20}", i % 20 % 7) for i in range(200)]
    sold = "".join(f"p{i},{zip_},town {city}\n" for i, (zip_, _, city) in enumerate(rows))
    (folder / "sold.csv").write_text("ID,ZIP,CITY\n" + sold)
    mine = "".join(f"{zip_},TOWN {city}\n" for zip_, _, city in rows[:120])
    (folder / "mine.csv").write_text("Postcode,town\n" + mine)


def test_the_providers_own_table_says_what_tells_what(pacas: Any) -> None:
    told = pacas("suggest", "match", "sold.csv", "--json").document
    assert told["columns"] == []
    first = told["matches"][0]
    assert (first["attribute"], first["match"], first["tells"], first["answers"]) == ("ZIP", "ID = ID", 1.0, 1.0)
    cities = [one["match"] for one in told["matches"] if one["attribute"] == "CITY"]
    assert cities == ["ZIP = ZIP", "ID = ID"]


def test_with_both_tables_columns_are_told_apart_and_the_clients_rows_count(pacas: Any) -> None:
    told = pacas("suggest", "match", "mine.csv", "--provider-table", "sold.csv", "--json").document
    columns = {one["client"]: (one["provider"], one["written_alike"]) for one in told["columns"]}
    assert columns == {"Postcode": ("ZIP", True), "town": ("CITY", False)}
    (match,) = (one for one in told["matches"] if one["attribute"] == "CITY")
    assert (match["match"], match["answers"]) == ("Postcode = ZIP", 1.0)


def test_the_section_can_be_pasted(pacas: Any) -> None:
    text = pacas("suggest", "match", "sold.csv", "-a", "CITY", "--toml").out
    assert tomllib.loads(text) == {"match": {"CITY": "ZIP = ZIP"}}


def test_people_read_tables(pacas: Any) -> None:
    lines = pacas("suggest", "match", "mine.csv", "--provider-table", "sold.csv").lines
    assert lines[0].split() == ["your", "column", "the", "provider's", "score", "because"]
    assert any("written otherwise" in line for line in lines)
    assert any(line.split()[:2] == ["CITY", "ZIP"] for line in lines)


def test_an_attribute_that_is_not_there_is_one_line(pacas: Any) -> None:
    assert (
        "no column 'CITI' in sold.csv; did you mean 'CITY'?"
        in pacas("suggest", "match", "sold.csv", "-a", "CITI").complaint
    )
