"""Cells that were found elsewhere: by row and by key, from tables and results of other tools, good and bad."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.client.found.found_cells import FoundCells, numbered
from pacas.client.found.given_cells import as_found_cells
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError

ENGINE = DuckEngine()
TABLE = Relation.of({"ID": ["a", "b", "b", None], "N": [1, 2, 3, 3], "MED": ["x", "x", "y", "z"]})


def rows(given: Any, key: Any = None) -> list[tuple[int, str]]:
    return numbered(as_found_cells(given, key), TABLE, ENGINE)


@given(st.lists(st.text("ab\"' ,é0", min_size=1, max_size=4), min_size=1, max_size=8, unique=True), st.data())
def test_by_key_and_by_row_name_the_same_cells(ids: list[str], data: st.DataObject) -> None:
    table = Relation.of({"ID": ids, "A": ids, "B": ids})
    chosen = data.draw(st.lists(st.tuples(st.sampled_from(range(len(ids))), st.sampled_from("AB"))))
    by_key = as_found_cells([(ids[row], attribute) for row, attribute in chosen], "ID")
    assert numbered(by_key, table, ENGINE) == numbered(as_found_cells(chosen, None), table, ENGINE) == chosen
    listed = {"ID": [ids[row] for row, _ in chosen], "attribute": [attribute for _, attribute in chosen]}
    if chosen:
        assert numbered(as_found_cells(listed, "ID"), table, ENGINE) == chosen


@pytest.mark.parametrize(
    "keys",
    [
        [1.0, 2.5, -3.0],
        [1, 2, 3],
        [True, False, None],
        [datetime(2026, 1, 2, 3, 4, 5, 600), datetime(2026, 1, 3), None],
    ],
    ids=["floats", "numbers", "truths", "times"],
)
def test_a_key_is_read_as_its_column_is(keys: list[Any]) -> None:
    table = Relation.of({"ID": keys, "MED": ["x", "y", "z"]})
    chosen = [row for row, key in enumerate(keys) if key is not None]
    found = as_found_cells([(keys[row], "MED") for row in chosen], "ID")
    assert numbered(found, table, ENGINE) == [(row, "MED") for row in chosen]
    mixed = as_found_cells([(keys[0], "MED"), ("another", "MED")], "ID")
    with pytest.raises(InputError, match="1 of 2 keys in no row of the table, such as ID = 'another'"):
        numbered(mixed, table, ENGINE)


def test_a_key_of_several_columns_and_numbers() -> None:
    assert rows([(("b", 3), "MED")], ["ID", "N"]) == [(2, "MED")]
    assert rows({"N": [1.0, 2.0], "attribute": ["MED", "ID"]}, "N") == [(0, "MED"), (1, "ID")]
    assert rows({"row": [2], "attribute": ["MED"]}, "N") == [(2, "MED")]


def test_values_that_dbt_found_are_meant_wherever_they_stand() -> None:
    found = FoundCells([(("x",), "MED")], ("MED",), every=True)
    assert numbered(found, TABLE, ENGINE) == [(0, "MED"), (1, "MED")]


PANDERA = {"schema_context": ["Column"], "column": ["MED"], "check": ["isin"], "failure_case": ["x"], "index": [1]}


def failed(**changed: Any) -> dict[str, Any]:
    config = {"type": "expect_x", "kwargs": {"column": "MED"}}
    result = {"unexpected_count": 1, "unexpected_index_list": [1]} | changed
    return {"success": False, "results": [{"success": False, "expectation_config": config, "result": result}]}


def test_forms_of_other_tools() -> None:
    assert rows(PANDERA) == [(1, "MED")]
    assert rows(failed()) == [(1, "MED")]
    by_key = failed(unexpected_index_list=[{"MED": "x", "N": 2}], unexpected_index_column_names=["N"])
    assert rows(by_key) == [(1, "MED")]
    of_a_table = as_found_cells(PANDERA | {"schema_context": ["DataFrameSchema"]}, None)
    assert (of_a_table.left_out, of_a_table.cells) == (1, [])


@pytest.mark.parametrize("columns", [("row", "attribute"), (*PANDERA,), ("ID", "attribute")])
def test_a_tool_that_has_found_nothing_names_no_cell(columns: tuple[str, ...]) -> None:
    assert rows({column: [] for column in columns}, "ID" if "ID" in columns else None) == []


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        ([("c", "MED"), ("a", "MED")], "ID", "the cells: 1 of 2 keys in no row of the table, such as ID = 'c'"),
        ([("b", "MED")], "ID", "1 of 1 key in more than one row of the table, such as ID = 'b'; give a key"),
        ([(None, "MED")], "ID", "in no row of the table, such as ID = ''"),
        (PANDERA | {"ID": [None]}, "ID", "1 of 1 key in no row of the table, such as ID = ''"),
        ([(("b", 3), "MED")], "ID", "a cell is named by ID and its attribute"),
        ([("a", "MED")], "IDD", "no column 'IDD'"),
        ({"ID": ["a"], "attribute": [None]}, "ID", "cell 1: the attribute is missing"),
        ({"row": ["x"], "attribute": ["MED"]}, None, "cell 1: a row is a number from 0 on, not 'x'"),
        ({"row": [1]}, None, "no column 'attribute' in the table of cells"),
        ({"attribute": ["MED"]}, None, "no column 'row' in the table of cells; give it, or say with a key"),
        ({"attribute": ["MED"]}, "ID", "no column 'ID' in the table of cells"),
        ({"value_field": ["x"], "n_records": [1]}, None, "lists values that a dbt test has found"),
        (PANDERA | {"index": ["t1"]}, None, "a row is a number from 0 on, not 't1'; keys stand in a column that"),
        (failed(unexpected_index_list=None), None, "expect_x does not list its rows; validate with"),
        (failed(unexpected_index_list=["t1"]), None, "expect_x lists rows by no number; validate with"),
        (failed(unexpected_index_list=[3], unexpected_index_column_names=["N"]), None, "not a whole validation result"),
        ({"success": False, "results": [{}]}, None, "not a whole validation result"),
        ("found.csv", "ID", "cells: 'found.csv' is a name; give the table that it names"),
        ({"success": False, "results": [{"success": False}]}, None, "not a whole validation result"),
    ],
)
def test_bad_cells(given: Any, key: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        rows(given, key)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
