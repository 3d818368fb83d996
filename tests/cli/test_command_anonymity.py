"""`pacas anonymity`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PUBLIC = ("anonymity", "public.csv", "--x", "GEN,AGE,ZIP", "--y", "MED")
LEVEL = ("--level", "MED=1", "--hierarchy", "MED=med.csv")


def test_the_json_has_the_promised_shape(pacas: Any) -> None:
    result = pacas(*PUBLIC, "--k", "3", "--json")
    assert result.code == 0
    assert result.document == {"holds": True, "k": 3, "groups": 2, "failing_groups": 0, "unlinked_rows": 0}


def test_k_is_the_largest_that_holds_and_the_exit_code_is_about_the_one_given(pacas: Any) -> None:
    for k, code, failing in (("1", 0, 0), ("2", 1, 1), ("3", 1, 2)):
        result = pacas(*PUBLIC, *LEVEL, "--k", k, "--json")
        assert result.code == code
        assert result.document["holds"] is (code == 0)
        assert (result.document["k"], result.document["failing_groups"]) == (1, failing)


def test_without_y_tuples_are_counted(pacas: Any) -> None:
    assert pacas("anonymity", "public.csv", "--x", "GEN", "--k", "6", "--json").document["k"] == 6


def test_where_x_is_always_null_any_k_holds(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text("A,B\n,x\n,y\n")
    result = pacas("anonymity", "d.csv", "--x", "A", "--y", "B", "--k", "9", "--measures", "--json")
    assert result.code == 0
    assert result.document == {"holds": True, "k": None, "groups": 0, "failing_groups": 0, "unlinked_rows": 2}


def test_measures_adds_diversity_and_closeness(pacas: Any) -> None:
    document = pacas(*PUBLIC, *LEVEL, "--measures", "--json").document
    assert document["l_diversity"] == {"distinct": 1, "entropy": pytest.approx(1)}
    assert document["t_closeness"] == pytest.approx(1 / 3)


def test_for_people_it_prints_the_same(pacas: Any) -> None:
    assert pacas(*PUBLIC, *LEVEL, "--k", "3", "--measures").lines == [
        "(GEN, AGE, ZIP) linked to at least 3 of MED at level 1: does not hold",
        "largest k that holds: 1; 2 of 2 groups fall short",
        "l-diversity: distinct 1, entropy 1",
        "t-closeness: 0.3333",
    ]


def test_names_are_quoted_to_hold_a_comma_and_printed_as_they_are(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text('"a,b",[red],[/]\n1,2,3\n1,2,4\n')
    lines = pacas("anonymity", "d.csv", "--x", '"a,b", [red]', "--y", "[/]", "--level", "[/]=0", "--k", "2").lines
    assert lines[0] == "(a,b, [red]) linked to at least 2 of [/] at level 0: holds"
