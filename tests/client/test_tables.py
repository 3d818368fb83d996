"""What a cleaning did, as tables that go where the user works; they agree with each other and with the cleaning."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pacas
from pacas import example
from pacas.client.outcome.cleaning import Cleaning
from pacas.errors import InputError

FD = str(example.fd)


@cache
def cleaned(budget: str = "2", strategy: str = "paper") -> Cleaning:
    provider = pacas.Provider(
        example.provider, hierarchies=example.hierarchies, match={"MED": example.md}, total=6, seed=7
    )
    return pacas.SafeClean([FD], budget, strategy=strategy).clean(example.client, provider)


def test_the_repaired_relation_goes_where_the_user_works() -> None:
    result = cleaned()
    frames = (result.to_pandas(), result.to_polars(), result.to_arrow())
    assert [type(frame) for frame in frames] == [pd.DataFrame, pl.DataFrame, pa.Table]
    assert all(pa.table(frame).column("MED").to_pylist()[:3] == ["ibuprofen"] * 3 for frame in frames)


def test_changes_are_the_cells_that_differ() -> None:
    result = cleaned()
    lines = result.changes_table().to_arrow().to_pylist()
    before, after = result.dirty.to_arrow().to_pylist(), result.to_arrow().to_pylist()
    differing = [(row, "MED") for row in range(result.rows) if before[row] != after[row]]
    assert [(line["row"], line["attribute"]) for line in lines] == differing
    for line in lines:
        assert (before[line["row"]]["MED"], after[line["row"]]["MED"]) == (line["old"], line["new"])
        assert (line["why"], line["price_nanocredits"]) == ("evidence", 10**9) or line["why"] == "bought"


def test_a_cell_that_was_left_in_doubt_is_among_the_changes() -> None:
    result = cleaned("0", "weigh")
    lines = result.changes_table().to_arrow().to_pylist()
    left = [line for line in lines if line["look"] == "left"]
    assert [(line["row"], line["guess"], line["sure"]) for line in left] == [
        (c.row, c.guess, c.sure) for c in sorted(result.to_look_at, key=lambda c: c.row) if c.look == "left"
    ]
    assert left and all(line["why"] is None and line["old"] == line["new"] for line in left)


def test_money_adds_up_over_purchases_and_classes() -> None:
    result = cleaned()
    bought = result.purchases_table().to_arrow().to_pydict()
    classes = result.classes_table().to_arrow().to_pydict()
    assert sum(bought["price_nanocredits"]) == sum(classes["price_nanocredits"]) == result.spent_nanocredits
    assert sum(classes["written"]) == result.written == len(result.changes_table())
    assert bought["key"] == [purchase.key for purchase in result.purchases]
    assert set(classes["outcome"]) == {"repaired"}


def test_what_is_left_says_why() -> None:
    result = cleaned("0")
    lines = result.unrepaired_table().to_arrow().to_pylist()
    assert [line["reason"] for line in lines] == [left.reason for left in result.unrepaired]
    assert [line["rows"] for line in lines] == [left.rows.tolist() for left in result.unrepaired]
    assert result.classes_table().to_arrow()["outcome"].to_pylist() == [line["reason"] for line in lines]


def test_a_table_without_lines_has_its_columns() -> None:
    empty = cleaned("0")
    assert (len(empty.purchases_table()), len(empty.changes_table())) == (0, 0)
    assert empty.purchases_table().columns == cleaned().purchases_table().columns
    assert empty.purchases_table().to_arrow().schema == cleaned().purchases_table().to_arrow().schema


def test_the_classes_of_a_check_are_a_table() -> None:
    found = pacas.check(example.client, [FD], example.hierarchies)
    assert found.classes_table().to_arrow().to_pylist() == [
        {"attribute": c.attribute, "rows": c.rows.tolist(), "errors": c.errors} for c in found.classes
    ]
    assert pacas.check({"A": ["a"], "B": ["b"]}, ["A -> B"]).classes_table().columns == ["attribute", "rows", "errors"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_named(library: str, monkeypatch: Any) -> None:
    result = cleaned()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=f"^to_{library}.. needs {library}, which is not installed here; pip install"):
        getattr(result, f"to_{library}")()
