"""`pacas query`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MIGRAINE = ("query", "provider.toml", "--select", "GEN:0, MED:1", "--where", "DIAG = migraine")


def provide(folder: Path, table: str, toml: str = "") -> None:
    (folder / "d.csv").write_text(table)
    (folder / "p.toml").write_text(f'[relation]\ndata = "d.csv"\n{toml}')


def test_the_json_has_the_promised_shape(pacas: Any) -> None:
    result = pacas(*MIGRAINE, "--json")
    assert result.code == 0
    assert result.document == {"answers": [["female", "NSAID"], ["male", "acetaminophen"]]}


def test_for_people_it_prints_the_same(pacas: Any) -> None:
    assert pacas(*MIGRAINE).lines == ["GEN:0   MED:1", "female  NSAID", "male    acetaminophen", "2 answers"]


def test_no_answer_is_no_error(pacas: Any) -> None:
    result = pacas("query", "provider.toml", "--select", "MED", "--where", "DIAG = none such", "--json")
    assert result.code == 0
    assert result.document == {"answers": []}


def test_one_answer_is_one(pacas: Any) -> None:
    assert pacas("query", "provider.toml", "--select", "MED:3").lines == ["MED:3", "*", "1 answer"]


def test_a_relation_may_be_joined_with_itself_and_with_others(pacas: Any, folder: Path) -> None:
    provide(folder, "A,B\n1,x\n2,y\n", '[relations.more]\ndata = "more.csv"\n')
    (folder / "more.csv").write_text("B,C\nx,p\nx,q\n")
    pairs = pacas("query", "p.toml", "--select", "a.A, b.A", "--from", "relation a, relation b", "--where", "a.A < b.A")
    assert pairs.lines == ["a.A:0  b.A:0", "1      2", "1 answer"]
    joined = pacas(
        "query",
        "p.toml",
        "--select",
        "A, C",
        "--from",
        "relation join more m on B = m.B",
        "--where",
        "C <> q",
        "--json",
    )
    assert joined.complaint == "column 'B' is in relation and in m; write relation.B"
    joined = pacas(
        "query", "p.toml", "--select", "A, C", "--from", "relation join more m on relation.B = m.B", "--json"
    )
    assert joined.document == {"answers": [["1", "p"], ["1", "q"]]}


def test_a_condition_on_a_numeric_column_compares_numbers_even_if_it_is_not_shown(pacas: Any, folder: Path) -> None:
    provide(folder, "A,B\n51,x\n9,y\n", '[hierarchies]\nA = { build = "intervals", widths = [10] }\n')
    for where in ("A = 51.0", "A > 9.5"):
        assert pacas("query", "p.toml", "--select", "B", "--where", where, "--json").document == {"answers": [["x"]]}


def test_a_null_is_an_answer_and_prints_as_nothing(pacas: Any, folder: Path) -> None:
    provide(folder, "A,B\n1,\n2,y\n")
    assert pacas("query", "p.toml", "--select", "A, B", "--json").document == {"answers": [["1", None], ["2", "y"]]}
    assert pacas("query", "p.toml", "--select", "A, B").lines[1:3] == ["1", "2    y"]


@pytest.mark.parametrize("value", ["[31,60]", "[0, 20000[", "[red]x[/red]", "[/]", ":tada:", "x " * 100 + "x"])
def test_values_are_printed_as_they_are_and_on_one_line(pacas: Any, folder: Path, value: str) -> None:
    provide(folder, f'[/],B\n"{value}",y\n')
    assert pacas("query", "p.toml", "--select", "[/], B").lines[1] == f"{value:5}  y"


def test_paths_are_relative_to_the_file(pacas: Any, folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "p.toml").write_text('[relation]\ndata = "../sp.csv"\n[hierarchies]\nMED = "../med.csv"\n')
    result = pacas("query", "elsewhere/p.toml", "--select", "MED:2", "--json")
    assert result.document == {"answers": [["analgesic"]]}


@pytest.mark.parametrize("column", ["first name", "a,b", "x.y", "größe", "it's", "a=b", "and", "c0", 'say "hi"'])
def test_a_column_may_have_any_name(pacas: Any, folder: Path, column: str) -> None:
    quoted = '"' + column.replace('"', '""') + '"'
    provide(folder, f"{quoted},B\n1,x\n2,y\n")
    result = pacas("query", "p.toml", "--select", f"{quoted}:0", "--where", f"{quoted} = 1 and B = x", "--json")
    assert result.document == {"answers": [["1"]]}
