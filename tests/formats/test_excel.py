"""Excel files: read, cleaned and written through the packages that `pacas[excel]` brings, and their bad twins."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from python_calamine import CalamineWorkbook

from pacas import read_relation, scan_relation
from pacas.core.relation import Relation
from pacas.engine.files.excel import SheetWriter, sheet_rows
from pacas.errors import FileError, PacasError
from pacas.formats.relations.changed_csv import Change
from pacas.formats.relations.changed_excel import write_changed_sheet
from pacas.formats.relations.relations import write_relation

ROWS: list[list[Any]] = [
    ["ID", "AGE", "SEEN", "FORMULA", "OK"],
    ["t1", 51, dt.date(2026, 3, 1), "=1+1", True],
    ["t2", 0.5, dt.datetime(2026, 3, 1, 12, 30), "NA", False],
    [None] * 5,
    ["t3", None, None, "é ł", None],
]


def book(path: Path, rows: list[list[Any]] = ROWS, sheets: tuple[str, ...] = ("people",)) -> Path:
    made = xlsxwriter.Workbook(str(path))
    dates = made.add_format({"num_format": "yyyy-mm-dd"})
    for name in sheets:
        sheet = made.add_worksheet(name)
        for number, row in enumerate(rows):
            for place, value in enumerate(row):
                if isinstance(value, dt.date):
                    sheet.write_datetime(number, place, value, dates)
                elif isinstance(value, str):
                    sheet.write_string(number, place, value)
                else:
                    sheet.write(number, place, value)
    made.close()
    return path


def test_a_sheet_is_read_as_texts_and_a_row_of_nothing_is_none(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx")
    assert scan_relation(path).columns == ("ID", "AGE", "SEEN", "FORMULA", "OK")
    assert read_relation(path, null="NA").table.to_pydict() == {
        "ID": ["t1", "t2", "t3"],
        "AGE": ["51", "0.5", None],
        "SEEN": ["2026-03-01", "2026-03-01 12:30:00", None],
        "FORMULA": ["=1+1", None, "é ł"],
        "OK": ["true", "false", None],
    }


def test_a_changed_sheet_keeps_every_other_value_and_its_type(tmp_path: Path) -> None:
    path, out = book(tmp_path / "a.xlsx"), tmp_path / "out.xlsx"
    file = scan_relation(path, null="NA")
    changes = {0: [Change(1, "51", "52")], 1: [Change(1, "0.5", "[0,9]"), Change(3, None, "x")]}
    write_changed_sheet(file, changes, out)
    expected = [row for row in sheet_rows(path, "people")]
    expected[1][1], expected[2][1], expected[2][3] = 52, "[0,9]", "x"
    assert list(sheet_rows(out, "people")) == expected
    with pytest.raises(FileError, match="was changed while it was cleaned"):
        write_changed_sheet(file, {0: [Change(1, "50", "52")]}, out)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    table = Relation.of({"A": ["=x", None, "1"], "B": [1, 2, 3], "C": [0.5, None, 2.0]})
    write_relation(table, tmp_path / "a.xlsx")
    assert read_relation(tmp_path / "a.xlsx").table.to_pydict() == {
        "A": ["=x", None, "1"],
        "B": ["1", "2", "3"],
        "C": ["0.5", None, "2"],
    }


def test_what_excel_has_no_room_for_is_written_as_it_is_or_not_at_all(tmp_path: Path) -> None:
    path, early = tmp_path / "a.xlsx", [dt.date(1899, 12, 31), dt.datetime(1700, 1, 1, 5)]
    with SheetWriter(path, ["A", "B"], "'a/b:c") as sheet:
        sheet.write_row(early)
        sheet.write_row(["x" * 32_767, dt.date(1900, 1, 1)])
    assert [*sheet_rows(path, "_a_b_c")][1:] == [
        ["1899-12-31", "1700-01-01 05:00:00"],
        ["x" * 32_767, dt.date(1900, 1, 1)],
    ]
    with pytest.raises(FileError, match="a text of 32,768 characters, and an Excel cell has room for 32,767; write"):
        write_relation(Relation.of({"A": ["x" * 32_768]}), path)


@pytest.mark.slow
def test_a_million_rows(tmp_path: Path) -> None:
    with SheetWriter(tmp_path / "a.xlsx", ["A", "B"]) as sheet:
        for number in range(1_000_000):
            sheet.write_row([number, "x"])
    assert len(read_relation(tmp_path / "a.xlsx")) == 1_000_000


def test_more_rows_than_a_sheet_has_room_for(tmp_path: Path) -> None:
    sheet = SheetWriter(tmp_path / "a.xlsx", ["A"])
    sheet._next = 1_048_576
    with pytest.raises(FileError, match="room for 1,048,575 rows; write"):
        sheet.write_row([1])
    sheet.__exit__()


@pytest.mark.parametrize(
    ("name", "made", "options", "said"),
    [
        ("a.xlsx", lambda p: p.write_bytes(b"no workbook"), {}, "a.xlsx is not a whole Excel file"),
        ("a.xlsx", lambda p: book(p).write_bytes(p.read_bytes()[:-200]), {}, "a.xlsx is not a whole Excel file"),
        ("a.xlsx", lambda p: zipfile.ZipFile(p, "w").close(), {}, "a.xlsx is not a whole Excel file"),
        ("a.xls", lambda p: p.write_bytes(b"\xd0\xcf\x11\xe0" * 9), {}, "a.xls is not a whole Excel file"),
        ("a.xlsx", lambda p: p.write_bytes(b""), {}, "a.xlsx is empty"),
        ("a.xlsx", lambda p: book(p, []), {}, "the sheet 'people' is empty"),
        ("a.xlsx", lambda p: book(p, ROWS[:1]), {}, "a.xlsx has a header but no rows"),
        ("a.xlsx", lambda p: book(p, [["A", "A"], [1, 2]]), {}, "column 'A' stands 2 times"),
        ("a.xlsx", lambda p: book(p, [["A", None], [1, 2]]), {}, "column 2 of a.xlsx has no name"),
        ("a.xlsx", lambda p: book(p, sheets=("a", "b")), {}, "a.xlsx has 2 sheets, 'a', 'b'; say which"),
        ("a.xlsx", book, {"sheet": "x"}, "a.xlsx has no sheet 'x'; there are 'people'"),
        ("a.xlsx", book, {"encoding": "latin-1"}, "an Excel file, of which no encoding is to be said"),
        ("a.csv", lambda p: p.write_text("A\n1\n"), {"sheet": "x"}, "a text, of which no sheet is to be said"),
    ],
)
def test_bad_workbooks(tmp_path: Path, name: str, made: Any, options: dict[str, str], said: str) -> None:
    made(tmp_path / name)
    with pytest.raises(PacasError) as error:
        read_relation(tmp_path / name, **options)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_chosen_sheet_of_several(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", sheets=("a", "b"))
    assert CalamineWorkbook.from_path(str(path)).sheet_names == ["a", "b"]
    assert len(read_relation(path, sheet="b")) == 3


def test_without_the_packages_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "a.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(FileError, match=r"install pacas\[excel\]"):
        read_relation(path)
