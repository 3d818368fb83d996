"""Files of cells that other tools have named, and their bad twins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xlsxwriter

from pacas.errors import PacasError
from pacas.formats.cells_file import CellsFile


def test_a_file_or_an_attribute_and_its_failed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CellsFile.parse("MED=a.csv") == (Path("a.csv"), "MED")
    Path("MED=a.csv").write_text("row,attribute\n1,MED\n")
    assert CellsFile.parse("MED=a.csv") == (Path("MED=a.csv"), None)


MILLION = {
    "plain": ("ID,attribute\n", "p{},MED\n", None),
    "pandera": ("schema_context,column,check,check_number,failure_case,index\n", "Column,MED,isin,0,x,{}\n", None),
    "dbt": ("value_field,n_records\n", "x{},1\n", "MED"),
    "soda": ("ID,MED\n", "p{},x\n", "MED"),
}
"""The head and the lines of a file of each tool, and what its lines are about."""


@pytest.mark.slow
@pytest.mark.parametrize("tool", MILLION)
def test_a_million_cells(tmp_path: Path, tool: str) -> None:
    (head, line, attribute), file = MILLION[tool], tmp_path / "cells.csv"
    lines = "".join(map(line.format, range(1_000_000)))
    file.write_text(head + lines)
    assert len(CellsFile(file, attribute).read(["ID"]).cells) == 1_000_000
    file.write_text(head + lines + "a,b,c,d,e,f,g\n")  # and its bad twin: one line is of another width
    with pytest.raises(PacasError) as error:
        CellsFile(file, attribute).read(["ID"])
    assert "cells.csv" in str(error.value) and "1000002" in str(error.value).replace(",", ""), error.value


@pytest.mark.slow
def test_a_million_cells_of_great_expectations(tmp_path: Path) -> None:
    config, file = {"type": "expect_x", "kwargs": {"column": "MED"}}, tmp_path / "cells.json"
    found = {"expectation_config": config, "success": False, "result": {"unexpected_index_list": [*range(1_000_000)]}}
    whole = json.dumps({"success": False, "results": [found]})
    file.write_text(whole)
    assert len(CellsFile(file).read([]).cells) == 1_000_000
    file.write_text(whole[:-1])
    with pytest.raises(PacasError, match=r"cells\.json is not whole JSON"):
        CellsFile(file).read([])


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


@pytest.mark.parametrize("named", ["type", "expectation_type"])  # as releases from 1.0 on, and those before
def test_the_result_of_either_release(tmp_path: Path, named: str) -> None:
    found = {"expectation_config": {named: "expect_x", "kwargs": {"column": "MED"}}, "success": False}
    found |= {"result": {"unexpected_index_list": [{"ID": "t1"}], "unexpected_index_column_names": ["ID"]}}
    (tmp_path / "a.json").write_text(json.dumps({"success": False, "results": [found]}))
    assert CellsFile(tmp_path / "a.json").read([]).cells == [(("t1",), "MED")]


@pytest.mark.parametrize("column", [["MED"], {"MED": 1}, 3])
def test_a_result_whose_column_is_no_text(tmp_path: Path, column: object) -> None:
    found = {"expectation_config": {"type": "expect_x", "kwargs": {"column": column}}, "success": False}
    found |= {"result": {"unexpected_index_list": [0]}}
    (tmp_path / "a.json").write_text(json.dumps({"success": False, "results": [found]}))
    with pytest.raises(PacasError, match=r"a\.json is not a whole validation result"):
        CellsFile(tmp_path / "a.json").read([])


def test_a_workbook_of_several_sheets_is_told_to_be_parted(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        for name in ("notes", "cells"):
            book.add_worksheet(name).write_row(0, 0, ["row", "attribute"])
    with pytest.raises(PacasError, match="any other table stands alone in its file"):  # no option is about its sheets
        CellsFile(tmp_path / "a.xlsx").read([])


def test_a_result_that_names_its_columns_takes_no_attribute(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"success": True, "results": []}))
    assert CellsFile(tmp_path / "a.json").read([]).cells == []
    with pytest.raises(PacasError, match="says itself which columns failed"):
        CellsFile(tmp_path / "a.json", "MED").read([])
    cases = "schema_context,column,check,check_number,failure_case,index,ID\nColumn,ZIP,isin,0,x,0,t1\n"
    (tmp_path / "a.csv").write_text(cases)
    assert CellsFile(tmp_path / "a.csv").read(["ID"]).cells == [(("t1",), "ZIP")]
    with pytest.raises(PacasError, match=r"a\.csv says itself which columns failed; give it without MED="):
        CellsFile(tmp_path / "a.csv", "MED").read(["ID"])
    with pytest.raises(PacasError, match="--cells takes a FILE, or ATTR=FILE"):
        CellsFile.parse("MED=")


@pytest.mark.parametrize(
    ("header", "attribute"), [("row,attribute", None), ("value_field,n_records", "MED"), ("ID,GEN,MED", "MED")]
)
def test_a_check_that_has_found_nothing(tmp_path: Path, header: str, attribute: str | None) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\n")
    assert list(CellsFile(tmp_path / "a.csv", attribute).read(["ID"]).cells) == []
