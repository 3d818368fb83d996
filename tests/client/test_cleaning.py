"""The result of a cleaning, as its user meets it: the table, the money, the score, and how it is shown."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from rich.console import Console

from pacas import example
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.score import Score, score
from pacas.client.outcome.steps import BoughtValue, Look, Repair, Why, looks
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.core.money import nanocredits
from pacas.core.relation import Relation
from pacas.engine.codes import CodedColumn
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, SchemaError
from pacas.provider.provider import Provider

ENGINE = DuckEngine(threads=1)

TRUTH = {"MED": ["ibuprofen"] * 3 + ["naproxen", "tylenol", "dolex", "appaprtin", "dolex"]}


def cleaned(data: Any = example.client, budget: Any = 2, **options: Any) -> Cleaning:
    provider = Provider(example.provider, hierarchies=example.hierarchies, match={"MED": example.md}, total=6, seed=7)
    return SafeClean([example.fd], budget, strategy="paper", **options).clean(data, provider, engine=ENGINE)


def test_money_is_told_in_the_credits_in_which_it_was_given() -> None:
    result = cleaned(budget=0.8)
    assert result.budget == 0.8
    assert 0 < result.spent <= 0.8
    assert nanocredits(result.spent) == result.spent_nanocredits == sum(p.price for p in result.purchases)


def test_the_relation_goes_where_the_user_works() -> None:
    result = cleaned()
    frames = (result.relation.to_pandas(), result.relation.to_polars(), result.relation.to_arrow())
    assert [type(frame) for frame in frames] == [pd.DataFrame, pl.DataFrame, pa.Table]
    for frame in (*frames, pl.DataFrame(result.relation)):  # each goes back, and any library may take the relation
        assert Relation.of(frame).table.column("MED").to_pylist()[:3] == ["ibuprofen"] * 3


@pytest.mark.parametrize("of", [Relation.to_pandas, Relation.to_polars, Relation.to_arrow])
def test_any_kind_of_table_may_be_cleaned(of: Any) -> None:
    result = cleaned(of(example.client))
    assert result.relation.table.column("MED").to_pylist()[:3] == ["ibuprofen"] * 3


def test_a_table_with_a_column_twice_is_refused() -> None:
    frame = example.client.to_pandas()
    frame.columns = ["MED" if name == "ID" else name for name in frame.columns]
    with pytest.raises(SchemaError, match="column 'MED' stands 2 times in the table"):
        cleaned(frame)


def test_the_score_compares_the_table_before_and_after() -> None:
    score = cleaned().score(TRUTH, engine=ENGINE)
    assert list(score.attributes) == ["MED"]
    counts = score.total.counts
    assert counts is not None
    assert (counts.wrong, counts.changed, counts.correct, counts.wrong_after) == (2, 3, 2, 1)
    assert score.total.repair_error_before is not None
    assert score.repair_error < score.total.repair_error_before


def test_a_frame_on_duckdb_is_told_where_the_table_is() -> None:
    with pytest.raises(InputError, match=r"take \.relation, .*\.to_pandas\(\)") as error:
        _ = cleaned().frame
    assert "Spark" not in str(error.value)


def test_the_given_relation_is_kept_beside_the_repaired_one() -> None:
    result = cleaned()
    assert result.dirty.table.equals(example.client.table)
    assert result.fds == (example.fd,)
    assert set(result.hierarchies) == {"MED"}


def test_a_repair_knows_what_it_wrote_and_what_it_left() -> None:
    first, second = cleaned().repairs
    assert (first.written.tolist(), second.written.tolist()) == ([1, 2], [3])
    assert (first.violations, second.violations) == (1, 0)
    assert first.round == second.round == 1


def text(result: Cleaning | Score) -> str:
    console = Console(file=StringIO(), width=100, color_system=None)
    console.print(result)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_terminal_shows_a_short_table() -> None:
    shown = text(cleaned())
    assert "4 → 0" in shown and "2 of 2 credits" in shown and "2 (level 0: 2)" in shown and "3 (MED: 3)" in shown
    assert len(shown.splitlines()) <= 20


def test_a_notebook_shows_the_same() -> None:
    shown = cleaned()._repr_html_()
    assert shown.startswith("<table>") and "4 → 0" in shown and shown.count("<tr>") <= 20


def test_a_score_is_shown_in_the_same_way() -> None:
    found = cleaned().score(TRUTH, engine=ENGINE)
    for shown in (text(found), found._repr_html_()):
        assert "Score" in shown and "2 → 1 of 8" in shown and "0.667" in shown and "repair error of MED" in shown
    assert found._repr_html_().startswith("<table>")
    bare = score({"MED": ["x"]}, {"MED": ["y"]}, engine=ENGINE)
    assert "precision" not in text(bare) and "repair error" in text(bare)
    many = {f"<b>{i}": ["x", "y"] for i in range(40)}
    wide = score(many, {name: ["y", "x"] for name in many}, many, engine=ENGINE)
    assert len(text(wide).splitlines()) <= 20 and "34 attributes more" in text(wide)
    assert "<b>" not in wide._repr_html_()


def test_what_is_shown_stays_short_and_escaped_whatever_was_cleaned() -> None:
    names = [f"<b>{i}</b>" for i in range(40)]
    table = {"K": ["k", "l"]} | {name: ["x", "y"] for name in names}
    tree = Hierarchy.flat(["x", "y", "z"])
    provider = Provider(
        {"K": ["k"]} | {name: ["z"] for name in names},
        hierarchies=dict.fromkeys(names, tree),
        match=dict.fromkeys(names, "K = K"),
        total=1,
        seed=1,
    )
    cells = [(0, name) for name in names]
    result = SafeClean([], 1, cells=cells, allocation="uniform").clean(table, provider, engine=ENGINE)
    assert result.written == 40
    assert "<b>" not in result._repr_html_()
    assert len(text(result).splitlines()) <= 20


def test_one_is_in_the_singular() -> None:
    result = cleaned({"GEN": ["male"] * 2, "AGE": [51, 79], "DIAG": ["a"] * 2, "MED": ["dolex", "tylenol"]}, 1)
    assert repr(result).startswith("Cleaning(1 purchase, 0 classes unrepaired, 1 violation before and 0 after, ")
    assert repr(result).endswith(" of 1 credit spent)") and "of 1 credit" in text(result)
    assert "1 credits" not in text(result)


def test_a_cleaning_without_money_shows_zeros() -> None:
    result = cleaned(budget=0)
    assert (result.spent, result.written, result.flagged) == (0.0, 0, 0)
    assert "0 of 0 credits" in text(result)


def test_a_cell_with_a_doubtful_value_is_to_be_looked_at() -> None:
    """Rows 0 and 2 got the value of row 1, whose own quotes were others than those of row 0, which was asked about."""
    rows = np.array([0, 1, 2], dtype=np.int64)
    purchase = BoughtValue("B", rows, 0, 1, "x", 1, "key", differing=rows[1:2])
    column = CodedColumn(np.array([1, 0, 2]), ["x", "y", "z"])
    repair = Repair("B", rows, column, rows, "x", Why.EVIDENCE, rows[[0, 2]], 1, (purchase,))
    assert looks(repair) == [Look.EVIDENCE, Look.EVIDENCE]
    assert looks(replace(repair, why=Why.BOUGHT)) == [Look.NOT_NEEDED] * 2
    other = replace(purchase, differing=rows[2:])
    assert looks(replace(repair, purchases=(other,))) == [Look.NOT_NEEDED, Look.OWN_QUOTES]


def test_a_purchase_made_by_hand_has_no_flags() -> None:
    rows = cleaned().purchases[0].rows
    assert len(BoughtValue("MED", rows, 0, 0, "x", 1, "key").differing) == 0
