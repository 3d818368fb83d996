"""`pacas distance`."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest


def test_the_json_has_the_promised_shape(pacas: Any) -> None:
    result = pacas("distance", "sp.csv", "AGE", "51", "[31,60]", "--hierarchy", "AGE=age.csv", "--json")
    assert result.code == 0
    assert result.document == {
        "distance": pytest.approx(log2(3) / 2),
        "penalties": [0.0, pytest.approx(log2(3) / 2)],
        "lca": "[31,60]",
        "left_out": 0,
    }


def test_for_people_it_prints_the_same(pacas: Any) -> None:
    assert pacas("distance", "sp.csv", "AGE", "45", "51", "--hierarchy", "AGE=age.csv").lines == [
        "distance  1.58496",
        "E(45)  0",
        "E(51)  0",
        "meet in  [31,60]",
    ]


def test_without_a_hierarchy_values_meet_in_the_root_and_unknown_ones_are_said_to_be(pacas: Any) -> None:
    lines = pacas("distance", "sp.csv", "MED", "ibuprofen", "aspirin").lines
    assert lines[2:] == ["E(aspirin)  0  (not in the hierarchy: a leaf under the root)", "meet in  *"]


def test_nulls_and_general_cells_are_counted_out(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text('A,MED\n1,\n2,NSAID\n3,"ibuprofen"\n4,"tylenol"\n')
    arguments = ("distance", "d.csv", "MED", "ibuprofen", "tylenol", "--hierarchy", "MED=med.csv")
    assert pacas(*arguments, "--json").document["left_out"] == 2
    assert pacas(*arguments).lines[-1] == "2 cells did not count: null or general"


@pytest.mark.parametrize("value", ["[red]", "[/]", "[0, 20000[", ":tada:", "[bold]x[/bold]"])
def test_values_are_printed_as_they_are(pacas: Any, folder: Path, value: str) -> None:
    (folder / "d.csv").write_text(f'A\n"{value}"\nx\n')
    assert f"E({value})  0" in pacas("distance", "d.csv", "A", value, "x").lines


def test_a_negative_number_goes_after_two_dashes(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text("A\n-5\n3\n")
    assert pacas("distance", "d.csv", "A", "--json", "--", "-5", "3").document["distance"] == 2.0


def test_a_hierarchy_for_a_column_that_is_not_there_is_not_ignored(pacas: Any) -> None:
    complaint = pacas("distance", "sp.csv", "AGE", "45", "51", "--hierarchy", "AEG=age.csv").complaint
    assert complaint == "no column 'AEG' in sp.csv; did you mean 'AGE'?"


def test_an_empty_value_is_null_and_counts_as_the_root(pacas: Any) -> None:
    null = pacas("distance", "sp.csv", "MED", "", "ibuprofen", "--hierarchy", "MED=med.csv", "--json")
    root = pacas("distance", "sp.csv", "MED", "*", "ibuprofen", "--hierarchy", "MED=med.csv", "--json")
    assert json.loads(null.out)["distance"] == json.loads(root.out)["distance"] > 0
