"""`pacas check`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.client.found.found_cells import numbered
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.cells_file import CellsFile
from pacas.formats.relations.relations import scan_relation

FD = ("--fd", "GEN, DIAG -> MED", "--hierarchy", "MED=med.csv")


def test_the_json_has_the_promised_shape(pacas: Any) -> None:
    result = pacas("check", "client.csv", *FD, "--json")
    assert result.code == 1
    assert result.document == {
        "rows": 8,
        "consistent": False,
        "dependencies": [{"fd": "GEN, DIAG -> MED", "violations": 4, "groups": 2}],
        "classes": [
            {"attribute": "MED", "rows": [0, 1, 2], "errors": 3},
            {"attribute": "MED", "rows": [3, 4], "errors": 1},
        ],
    }


def test_a_dependency_that_holds_ends_with_0_and_no_classes(pacas: Any) -> None:
    result = pacas("check", "sp.csv", *FD, "--json")
    assert result.code == 0
    assert result.document == {
        "rows": 6,
        "consistent": True,
        "dependencies": [{"fd": "GEN, DIAG -> MED", "violations": 0, "groups": 0}],
        "classes": [],
    }


def test_a_right_side_of_two_is_split_and_a_general_value_agrees(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text("A,B,MED\n1,x,ibuprofen\n1,y,NSAID\n")
    document = pacas("check", "d.csv", "--fd", "A -> B, MED", "--hierarchy", "MED=med.csv", "--json").document
    assert [(d["fd"], d["violations"]) for d in document["dependencies"]] == [("A -> B", 1), ("A -> MED", 0)]


def test_groups_lists_those_with_most_violations_first_with_their_key(pacas: Any) -> None:
    document = pacas("check", "client.csv", *FD, "--groups", "1", "--key", "ID", "--json").document
    (group,) = document["dependencies"][0]["violating_groups"]
    assert group == {
        "x": {"GEN": "male", "DIAG": "osteoarthritis"},
        "violations": 3,
        "values": [{"value": value, "rows": 1} for value in ("ibuprofen", "intropes", "addaprin")],
        "rows": [
            {"row": 0, "key": "t1", "value": "ibuprofen"},
            {"row": 1, "key": "t2", "value": "intropes"},
            {"row": 2, "key": "t3", "value": "addaprin"},
        ],
    }


def test_for_people_it_prints_the_same(pacas: Any) -> None:
    result = pacas("check", "client.csv", *FD, "--groups", "2", "--key", "ID")
    assert result.code == 1
    assert result.lines == [
        "dependency        violations  groups",
        "GEN, DIAG -> MED           4       2",
        "",
        "GEN = male, DIAG = osteoarthritis: 3 violations of GEN, DIAG -> MED",
        "ibuprofen × 1, intropes × 1, addaprin × 1",
        "row  key  value",
        "0    t1   ibuprofen",
        "1    t2   intropes",
        "2    t3   addaprin",
        "",
        "GEN = female, DIAG = ulcer: 1 violation of GEN, DIAG -> MED",
        "naproxen × 1, tylenol × 1",
        "row  key  value",
        "3    t4   naproxen",
        "4    t5   tylenol",
        "",
        "2 classes to repair: 5 cells in 8 rows; most errors first:",
        "attribute  errors  cells  rows",
        "MED             3      3  0, 1, 2",
        "MED             1      2  3, 4",
    ]


def test_a_consistent_table_is_said_to_be_one(pacas: Any) -> None:
    assert pacas("check", "sp.csv", *FD).lines[-1] == "consistent: 6 rows"


def test_long_lists_are_cut_and_say_so(pacas: Any, folder: Path) -> None:
    rows = [f"{x},{y}" for x in range(12) for y in range(12)]
    (folder / "long.csv").write_text("A,B\n" + "\n".join(rows) + "\n")
    lines = pacas("check", "long.csv", "--fd", "A -> B", "--groups", "1").lines
    assert "… and 2 more rows" in lines
    assert "… and 2 more (all of them with --json)" in lines
    assert lines[-2].endswith("0, 1, 2, 3, 4, 5, 6, 7, …") or any(line.endswith(", 7, …") for line in lines)


def test_values_are_printed_as_they_are(pacas: Any, folder: Path) -> None:
    values = ["[31,60]", "[0, 20000[", "[red]x[/red]", "[/]", ":tada:", "[link=http://x]", "\\[x]", "a\x1b[31mb"]
    rows = [f'1,"{value}"' for value in values]
    (folder / "odd.csv").write_text("[bold],[/]\n" + "\n".join(rows) + "\n")
    result = pacas("check", "odd.csv", "--fd", "[bold] -> [/]", "--groups", "1", "--key", "[/]")
    for value in (*values[:-1], r"a\x1b[31mb", "[bold] = 1:", "[bold] -> [/]"):
        assert value in result.out
    assert "\x1b" not in result.out


def test_a_group_shows_its_values_with_counts_and_the_rare_ones_first(pacas: Any, folder: Path) -> None:
    cities = ["florence"] * 20 + ["flxrence", "", "florence", "flxrence", "florence"]
    (folder / "c.csv").write_text("ZIP,CITY\n" + "".join(f"35630,{city}\n" for city in cities))
    told = pacas("check", "c.csv", "--fd", "ZIP -> CITY", "--groups", "1")
    assert told.lines[4] == "florence × 22, flxrence × 2, (empty) × 1"
    assert [line.split() for line in told.lines[6:10]] == [
        ["21"],
        ["20", "flxrence"],
        ["23", "flxrence"],
        ["0", "florence"],
    ]
    document = pacas("check", "c.csv", "--fd", "ZIP -> CITY", "--groups", "1", "--json").document
    (group,) = document["dependencies"][0]["violating_groups"]
    assert group["values"][1:] == [{"value": "flxrence", "rows": 2}, {"value": None, "rows": 1}]
    assert [row["row"] for row in group["rows"]] == list(range(25))


def test_long_values_that_differ_late_are_told_apart(pacas: Any, folder: Path) -> None:
    word = "word " * 60
    values = [f"{word}first", f"{word}first", f"{word}second{word}", "y"]
    (folder / "wide.csv").write_text("A,B\n" + "".join(f"1,{value}\n" for value in values))
    lines = pacas("check", "wide.csv", "--fd", "A -> B", "--groups", "1").lines
    start, second = f"…{word[-20:]}", f"…{word[-20:]}second{word}"[:59] + "…"
    assert f"{start}first × 2, {second} × 1, y × 1" in lines
    assert [line.split(maxsplit=1)[1] for line in lines if line[:1] in "0123" and line[1:2] == " "][:3] == [
        f"{start}first",
        f"{start}first",
        second,
    ]


def test_a_long_value_is_cut_for_people_and_whole_in_json(pacas: Any, folder: Path) -> None:
    (folder / "wide.csv").write_text(f"A,B\n1,{'word ' * 60}end\n1,y\n")
    lines = pacas("check", "wide.csv", "--fd", "A -> B", "--groups", "1").lines
    assert f"0    {('word ' * 60)[:59]}…" in lines
    assert f"{('word ' * 60)[:59]}… × 1, y × 1" in lines
    document = pacas("check", "wide.csv", "--fd", "A -> B", "--groups", "1", "--json").document
    assert document["dependencies"][0]["violating_groups"][0]["rows"][0]["value"] == f"{'word ' * 60}end"


CASES = {
    "crlf": "A,B\r\n1,x\r\n1,y\r\n",
    "byte order mark": "\ufeffA,B\n1,x\n1,y\n",
    "byte order mark, quoted": '\ufeff"A",B\n1,x\n1,y\n',
    "semicolons": "A;B\n1;x,y\n1;z\n",
    "tabs": "A\tB\n1\tx\n1\ty\n",
    "blank lines at the end": "A,B\n1,x\n1,y\n\n\n",
    "no newline at the end": "A,B\n1,x\n1,y",
    "a line break in quotes": 'A,B\n"1\n2",x\n"1\n2",y\n',
    "a quote inside": 'A,B\n1,5" pipe\n1,y\n',
    "doubled quotes": 'A,B\n1,"say ""x"""\n1,y\n',
    "29 columns": ",".join(["A", "B", *(f"c{i}" for i in range(27))])
    + ("\n1,x" + ",v" * 27)
    + ("\n1,y" + ",v" * 27)
    + "\n",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_tables_of_all_kinds_are_read(pacas: Any, folder: Path, text: str) -> None:
    (folder / "d.csv").write_bytes(text.encode())
    document = pacas("check", "d.csv", "--fd", "A -> B", "--json").document
    assert document["rows"] == 2
    assert document["classes"] == [{"attribute": "B", "rows": [0, 1], "errors": 1}]


@pytest.mark.parametrize(
    "column",
    [
        "first name",
        "a,b",
        "x.y",
        'say "hi"',
        "-dash",
        "größe",
        "数",
        "A->B",
        " padded ",
        "select",
        "a=b",
        "it's",
        "c0",
        "*",
    ],
)
def test_a_column_may_have_any_name(pacas: Any, folder: Path, column: str) -> None:
    quoted = '"' + column.replace('"', '""') + '"'
    (folder / "d.csv").write_text(f"{quoted},B\n1,x\n1,y\n")
    assert pacas("check", "d.csv", "--fd", f"{quoted} -> B", "--json").document["dependencies"][0]["violations"] == 1
    assert pacas("check", "d.csv", "--fd", f"B -> {quoted}", "--groups", "1", "--key", column).code == 0


def test_columns_may_differ_in_case_only(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text("id,ID,Id\n1,x,p\n1,y,p\n")
    document = pacas("check", "d.csv", "--fd", "id -> ID, Id", "--json").document
    assert [d["violations"] for d in document["dependencies"]] == [1, 0]


@pytest.mark.parametrize("name", ["a[1].csv", "a b.csv", "it's.csv", "a?.csv", "a*.csv", "größe.csv", "a=b.csv"])
def test_a_file_may_have_any_name_and_no_other_file_is_read(pacas: Any, folder: Path, name: str) -> None:
    for other in ("a1.csv", "aX.csv", "axx.csv"):
        (folder / other).write_text("A,B\n1,other\n")
    (folder / name).write_text("A,B\n1,x\n1,y\n")
    assert pacas("check", name, "--fd", "A -> B", "--json").document["rows"] == 2


def test_parquet_and_compressed_files_are_read(pacas: Any, folder: Path) -> None:
    pq.write_table(pa.table({"A": [1, 1], "B": [1.0, 2.5]}), folder / "d.parquet")
    (folder / "d.csv.gz").write_bytes(gzip.compress(b"A,B\n1,1\n1,2.5\n"))
    documents = [pacas("check", name, "--fd", "A -> B", "--json").document for name in ("d.parquet", "d.csv.gz")]
    assert documents[0] == documents[1]
    assert documents[0]["dependencies"][0]["violations"] == 1


def test_violating_cells_are_written_as_pandera_writes_them_and_read_back(pacas: Any, folder: Path) -> None:
    check = ("check", "client.csv", "--fd", "GEN, DIAG -> MED", "--key", "ID", "--failures", "failures.csv")
    assert pacas(*check).code == 1
    assert (folder / "failures.csv").read_text().splitlines()[:2] == [
        "schema_context,column,check,check_number,failure_case,index,ID",
        'Column,MED,"GEN, DIAG -> MED",0,ibuprofen,0,t1',
    ]
    for key in ([], ["ID"]):
        cells = CellsFile(folder / "failures.csv").read(key)
        assert [row for row, _ in numbered(cells, scan_relation("client.csv"), DuckEngine())] == [0, 1, 2, 3, 4]
    assert "cannot be written" in pacas(*check[:-1], "no/such.csv").complaint
    assert "client.csv is the table itself" in pacas(*check[:-1], "client.csv").complaint


@pytest.mark.parametrize("key", [(), ("--key", "ID")], ids=["by row", "by key"])
def test_violating_cells_are_written_as_great_expectations_writes_them_and_read_back(
    pacas: Any, folder: Path, key: tuple[str, ...]
) -> None:
    fds = ("--fd", "GEN, DIAG -> MED", "--fd", "ID -> GEN")
    assert pacas("check", "client.csv", *fds, *key, "--failures", "found.json").code == 1
    told = json.loads((folder / "found.json").read_text())
    assert [result["success"] for result in told["results"]] == [False, True]
    assert told["results"][0]["expectation_config"]["kwargs"]["dependency"] == "GEN, DIAG -> MED"
    first = {"MED": "ibuprofen", "ID": "t1"} if key else 0
    assert told["results"][0]["result"]["unexpected_index_list"][0] == first
    cells = numbered(CellsFile(folder / "found.json").read([]), scan_relation("client.csv"), DuckEngine())
    assert cells == [(row, "MED") for row in range(5)]


def test_violating_rows_are_written_as_dbt_and_soda_keep_them_and_read_back(pacas: Any, folder: Path) -> None:
    rows = (folder / "client.csv").read_text().replace('"', "").splitlines()
    check = ("check", "client.csv", "--fd", "GEN, DIAG -> MED", "--fd", "GEN -> MED", "--fd", "ID -> GEN", "--failures")
    assert pacas(*check, "MED=failed.csv").code == 1
    assert (folder / "failed.csv").read_text().splitlines() == rows  # all of its columns, each row once
    cells = numbered(CellsFile(folder / "failed.csv", "MED").read(["ID"]), scan_relation("client.csv"), DuckEngine())
    assert [row for row, _ in cells] == list(range(len(rows) - 1))
    assert pacas(*check, "GEN=failed.csv").code == 1
    assert (folder / "failed.csv").read_text().splitlines() == rows[:1]
    assert "no dependency is about 'MEDS'; did you mean 'MED'" in pacas(*check, "MEDS=failed.csv").complaint
    assert "failed rows are written as CSV" in pacas(*check, "MED=failed.json").complaint
    for name in ("MED=failed.xlsx", "failures.parquet"):
        assert "would hold CSV, whatever its name says" in pacas(*check, name).complaint
    assert "client.csv is the table itself" in pacas(*check, "MED=client.csv").complaint
    assert "--failures takes a FILE, or ATTR=FILE" in pacas(*check, "MED=").complaint
