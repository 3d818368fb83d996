"""Files of cells that other tools have named, and their bad twins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pacas.errors import PacasError
from pacas.formats.cells_file import CellsFile


def test_a_file_or_an_attribute_and_its_failed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CellsFile.parse("MED=a.csv") == (Path("a.csv"), "MED")
    Path("MED=a.csv").write_text("row,attribute\n1,MED\n")
    assert CellsFile.parse("MED=a.csv") == (Path("MED=a.csv"), None)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["plain", "pandera", "great expectations"])
def test_a_million_cells(tmp_path: Path, tool: str) -> None:
    many = range(1_000_000)
    file = tmp_path / ("cells.json" if tool == "great expectations" else "cells.csv")
    if tool == "plain":
        file.write_text("ID,attribute\n" + "".join(f"p{n},MED\n" for n in many))
    elif tool == "pandera":
        head = "schema_context,column,check,check_number,failure_case,index\n"
        file.write_text(head + "".join(f"Column,MED,isin,0,x,{n}\n" for n in many))
    else:
        config = {"type": "expect_x", "kwargs": {"column": "MED"}}
        found = {"expectation_config": config, "success": False, "result": {"unexpected_index_list": list(many)}}
        file.write_text(json.dumps({"success": False, "results": [found]}))
    assert len(CellsFile(file).read(["ID"]).cells) == 1_000_000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", "", "a.json is not whole JSON"),
        ("a.json", '{"success": false, "results"', "a.json is not whole JSON"),
        ("a.json", "[" * 100_000, "a.json is not whole JSON"),
        ("a.json", "[]", "a.json is no validation result of Great Expectations"),
        ("a.json", '{"checks": []}', "a.json is no validation result of Great Expectations"),
        ("a.csv", "", "a.csv is empty"),
        ("a.csv", "ID,GEN\n1,2\n", "no column 'attribute' in a.csv; if its lines are failed rows"),
        ("a.csv", "\0\0", "a.csv is neither text nor Parquet"),
        ("a.csv", "unique_field,n_records\n1,2\n", "of which column; say it: ATTR=a.csv"),
        ("missing.csv", None, "does not exist"),
        ("missing.json", None, "cannot be read"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(PacasError) as error:
        CellsFile(tmp_path / name).read([])
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_result_that_names_its_columns_takes_no_attribute(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"success": True, "results": []}))
    assert CellsFile(tmp_path / "a.json").read([]).cells == []
    with pytest.raises(PacasError, match="says itself which columns failed"):
        CellsFile(tmp_path / "a.json", "MED").read([])
    with pytest.raises(PacasError, match="--cells takes a FILE, or ATTR=FILE"):
        CellsFile.parse("MED=")
