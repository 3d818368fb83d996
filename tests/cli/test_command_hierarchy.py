"""`pacas hierarchy build`, `check` and `show`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pacas import example, read_hierarchy

AGES = ("hierarchy", "build", "sp.csv", "AGE", "intervals", "widths=10,30", "origin=1")
ROWS = [
    ["32", "[31,40]", "[31,60]", "*"],
    ["45", "[41,50]", "[31,60]", "*"],
    ["51", "[51,60]", "[31,60]", "*"],
    ["61", "[61,70]", "[61,90]", "*"],
    ["67", "[61,70]", "[61,90]", "*"],
    ["79", "[71,80]", "[61,90]", "*"],
]
DOCUMENT = {
    "height": 3,
    "root": "*",
    "levels": [{"level": at, "values": n} for at, n in enumerate((6, 5, 2, 1))],
    "rows": ROWS,
}


def test_build_prints_json(pacas: Any) -> None:
    assert pacas(*AGES, "--json").document == DOCUMENT


@pytest.mark.parametrize("name", ["ages.csv", "ages.json", "ages.csv.gz"])
def test_build_writes_a_file_that_reads_back(pacas: Any, folder: Path, name: str) -> None:
    assert pacas(*AGES, "--output", name).lines == [f"{name}: 4 levels, values per level 6 → 5 → 2 → 1"]
    assert [list(row) for row in read_hierarchy(folder / name).rows()] == ROWS
    assert pacas(*AGES, "-o", name, "--json").document == {**DOCUMENT, "output": name}
    assert "ages.xlsx would hold CSV" in pacas(*AGES, "-o", "ages.xlsx").complaint


def test_build_prints_csv_that_reads_back_whatever_the_values(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text('A\n"ab;c"\n"ab""d"\n"ab\nc"\n"ab,c"\n[red]\n')
    result = pacas("hierarchy", "build", "d.csv", "A", "prefix", "keep=2", "mask=#")
    (folder / "made.csv").write_text(result.out)
    made = read_hierarchy(folder / "made.csv")
    assert sorted(row[0] for row in made.rows()) == sorted(["ab;c", 'ab"d', "ab\nc", "ab,c", "[red]"])


def test_build_by_another_attribute(pacas: Any) -> None:
    document = pacas("hierarchy", "build", "sp.csv", "AGE", "entropy", "by=GEN", "--json").document
    assert document["root"] == "*"
    assert document["levels"][0]["values"] == 6


def test_check_prints_json(pacas: Any, folder: Path) -> None:
    assert pacas("hierarchy", "check", "med.csv", "--json").document == {
        "ok": True,
        "digest": example.med.digest,
        "findings": [],
    }
    (folder / "h.csv").write_text("a;x;*\na;y;*\nb;x;*\n")
    result = pacas("hierarchy", "check", "h.csv", "--json")
    assert result.code == 1
    assert result.document["ok"] is False
    (finding,) = result.document["findings"]
    assert set(finding) == {"severity", "kind", "message", "level", "count", "lines"}
    assert finding["severity"] == "problem"
    assert finding["lines"] == [2]


def test_check_compares_with_data_and_k(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text("MED\nibuprofen\n[red]none such[/]\n")
    result = pacas("hierarchy", "check", "med.csv", "--data", "d.csv", "--attribute", "MED", "--k", "3")
    assert result.code == 1
    assert any("level 2" in line for line in result.lines)
    assert "1 value of the data (in 1 cell) is not in the hierarchy" in result.out
    assert "none such" not in result.out, "the data may be a provider's"
    shown = pacas("hierarchy", "check", "med.csv", "--data", "d.csv", "--attribute", "MED", "--values")
    assert "'[red]none such[/]'" in shown.out


def test_check_says_ok_in_words(pacas: Any) -> None:
    result = pacas("hierarchy", "check", "med.csv")
    said = f"ok 4 levels, values per level 6 → 3 → 2 → 1; sha256 {example.med.digest}"
    assert (result.code, result.lines) == (0, [said])


def test_check_with_another_says_what_the_two_tell_together(pacas: Any, folder: Path) -> None:
    (folder / "a.csv").write_text("1;1-2;*\n2;1-2;*\n3;3-4;*\n4;3-4;*\n")
    (folder / "b.csv").write_text("1;odd;*\n2;even;*\n3;odd;*\n5;even;*\n4;even;*\n")
    (folder / "same.csv").write_text("4;3-4;*\n3;3-4;*\n2;1-2;*\n1;1-2;*\n")
    crossing = pacas("hierarchy", "check", "a.csv", "--with", "b.csv", "--k", "2")
    assert (crossing.code, crossing.lines[1:]) == (
        1,
        ["problem together: 4 of 4 values are left with fewer than 2, 4 of them with no other; sell with one tree"],
    )
    told = pacas("hierarchy", "check", "a.csv", "--with", "b.csv", "--k", "2", "--json").document
    here, there = (read_hierarchy(folder / name).digest for name in ("a.csv", "b.csv"))
    assert (told["ok"], told["digest"]) == (False, here)
    assert told["together"] == {
        "digest": there,
        "k": 2,
        "values": 4,
        "only_here": 0,
        "only_there": 1,
        "fewer_than_k": 4,
        "pinned": 4,
    }
    same = pacas("hierarchy", "check", "a.csv", "--with", "same.csv", "--k", "2")
    assert (same.code, same.lines[1:]) == (0, ["ok together: all 4 values are left with 2 or more"])
    assert pacas("hierarchy", "check", "same.csv", "--json").document["digest"] == here


def test_check_prints_labels_as_they_are(pacas: Any, folder: Path) -> None:
    (folder / "h.csv").write_text("[red];[/];*\n[red];:tada:;*\nb;[/];*\n")
    result = pacas("hierarchy", "check", "h.csv")
    assert result.code == 1
    for label in ("[red]", "[/]", ":tada:"):
        assert f"'{label}'" in result.out


def test_show_prints_json(pacas: Any) -> None:
    document = pacas("hierarchy", "show", "med.csv", "--json").document
    assert set(document) == {"height", "root", "levels", "rows"}
    assert document["rows"][0] == ["ibuprofen", "NSAID", "analgesic", "*"]


def test_show_draws_with_counts_and_limits(pacas: Any) -> None:
    result = pacas("hierarchy", "show", "med.csv", "--data", "sp.csv", "-a", "MED", "--depth", "2", "--children", "1")
    assert result.lines[:4] == [
        "*  6 values  6 rows",
        "├── analgesic  5 values  6 rows",
        "│   ├── NSAID  3 values  4 rows",
        "│   └── … 1 more",
    ]


def test_show_prints_labels_as_they_are(pacas: Any, folder: Path) -> None:
    labels = ["[31,60]", "[0, 20000[", "[red]", "[/]", ":tada:"]
    (folder / "h.csv").write_text("".join(f'"v{i}";"{label}";"*"\n' for i, label in enumerate(labels)))
    out = pacas("hierarchy", "show", "h.csv").out
    for label in labels:
        assert f"── {label}  1 value" in out


def test_build_from_columns_of_the_table(pacas: Any, folder: Path) -> None:
    rows = ["City,County,State", "Troy,Rensselaer,NY", "Albany,Albany,NY", "Newark,Essex,NJ", "Newark,Essex,NJ"]
    (folder / "places.csv").write_text("\n".join([*rows, "Newark,Kent,DE", "Nowhere,,"]) + "\n")
    found = pacas("hierarchy", "build", "places.csv", "City", "columns=State", "--json").document
    assert found["rows"] == [
        ["Albany", "NY", "*"],
        ["Newark", "NJ", "*"],
        ["Nowhere", "no State", "*"],
        ["Troy", "NY", "*"],
    ]
    build = ("hierarchy", "build", "places.csv", "City")
    assert "no column 'Country' in places.csv" in pacas(*build, "columns=Country").complaint
    assert "'City' cannot stand above itself" in pacas(*build, "columns=City").complaint
    assert "columns needs columns, e.g." in pacas(*build, "columns").complaint
    (folder / "flat.csv").write_text("A,B\n1,1\n2,2\n")
    assert "no column groups the values" in pacas("hierarchy", "build", "flat.csv", "A", "columns=B").complaint
