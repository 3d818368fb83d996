"""Suggested dependencies: what is strong, weak, redundant or a key, and that any table gets an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

import pacas
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.grouping import Keys
from pacas.suggest.dependencies import search
from pacas.suggest.dependencies.evidence import weigh
from pacas.suggest.dependencies.pairs import score_by_chance
from pacas.suggest.dependencies.suggested import SuggestedDependencies, SuggestedDependency

Columns = Mapping[str, Sequence[str | None]]


def fds(listed: Iterable[SuggestedDependency]) -> set[str]:
    return {str(one.fd) for one in listed}


def one(listed: Iterable[SuggestedDependency], fd: str) -> SuggestedDependency:
    return next(found for found in listed if str(found.fd) == fd)


def shops(rows: int = 2_000, errors: float = 0.0, seed: int = 1) -> dict[str, list[str]]:
    """Shops with a name, a town and its county; of the towns' names a share is mistyped, of the counties some wrong."""
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, 150, rows)
    columns = {
        "shop": [f"s-{i}" for i in shop],
        "name": [f"name of {i}" for i in shop],
        "town": [f"town {i % 40}" for i in shop],
        "county": [f"county {i % 40 % 9}" for i in shop],
        "day": [f"day {i}" for i in rng.integers(0, 7, rows)],
    }
    for row in rng.choice(rows, int(errors * rows), replace=False):
        columns["town"][row] += f"x{row}"
        columns["county"][row] = f"county {rng.integers(0, 9)}"
    return columns


def test_what_holds_but_for_errors_is_strong() -> None:
    found = pacas.suggest_dependencies(shops(errors=0.08))
    assert {"shop -> town", "town -> county"} <= fds([*found.strong, *found.redundant])
    town = one([*found.strong, *found.redundant], "shop -> town")
    assert (town.rows, town.groups) == (2_000, 150)
    assert (town.typo, town.blocks) == (160, 0)
    assert town.score == 1.0
    assert town.agreement == pytest.approx(0.92)


def test_what_does_not_hold_is_not_said() -> None:
    found = pacas.suggest_dependencies(shops())
    assert not any("day" in fd for fd in fds([*found.strong, *found.redundant, *found.weak]))


def test_a_right_side_gets_two_left_sides_and_those_that_tell_it_directly_first() -> None:
    found = pacas.suggest_dependencies(shops(errors=0.02))
    assert {fd for fd in fds(found.strong) if fd.endswith("county")} == {"shop -> county", "town -> county"}
    assert {fd for fd in fds(found.redundant) if fd.endswith("county")} == {"name -> county"}


def test_examples_show_what_is_wrong_beside_what_the_group_has() -> None:
    table = shops()
    table["town"][5] = "tovvn"
    example = one(pacas.suggest_dependencies(table).strong, "shop -> town").examples[0]
    assert (example.value, example.rows, example.kind) == ("tovvn", 1, "typo")
    assert example.left == (table["shop"][5],)
    assert example.majority == shops()["town"][5]


def test_blocks_of_another_value_make_a_dependency_weak() -> None:
    table = shops()
    moved = [row for row, shop in enumerate(table["shop"]) if int(shop[2:]) < 15]
    for row in moved[::2]:
        table["town"][row] = "town 39"
    found = pacas.suggest_dependencies(table)
    assert "shop -> town" in fds(found.weak)
    town = one(found.weak, "shop -> town")
    assert len(moved) / 4 < town.blocks < len(moved) / 2
    assert town.because == "other values stand in blocks"


def test_a_value_that_stands_for_none_is_left_out() -> None:
    table = shops(4_000)
    rng = np.random.default_rng(3)
    for row in range(0, 4_000, 20):
        table["shop"][row] = "unknown"
        table["town"][row] = f"town {rng.integers(0, 40)}"
    town = one(pacas.suggest_dependencies(table).strong, "shop -> town")
    assert (town.placeholder, town.rows, town.exceptions) == ("unknown", 3_800, 0)


def test_what_two_attributes_determine_together_is_weak() -> None:
    rng = np.random.default_rng(0)
    month, product = rng.integers(0, 12, 4_000), rng.integers(0, 30, 4_000)
    price = rng.permutation(np.arange(360) % 50)[12 * product + month]
    table = {
        "month": [f"m{i}" for i in month],
        "product": [f"p{i}" for i in product],
        "price": [f"c{i}" for i in price],
        "clerk": [f"k{i}" for i in rng.integers(0, 20, 4_000)],
    }
    found = pacas.suggest_dependencies(table)
    assert fds(found.strong) == set()
    assert "product, month -> price" in fds(found.weak)
    assert not any("clerk" in fd for fd in fds(found.weak))
    assert "product, month -> price" not in fds(pacas.suggest_dependencies(table, pairs=False).weak)


def test_groups_shuffled_within_the_first_attribute_score_what_chance_gives() -> None:
    columns = shops(4_000)
    coded = {name: np.unique(cells, return_inverse=True)[1].astype(np.int32) for name, cells in columns.items()}
    shop, day = (Keys(coded[c], len(set(columns[c])), False) for c in ("shop", "day"))
    assert score_by_chance(shop, day, coded["town"]) == 1.0  # the shop alone tells it
    assert score_by_chance(day, shop, coded["town"]) < 0.1


def test_the_key_of_an_entity_fixes_columns_that_are_too_even_to_tell() -> None:
    table = shops(3_000, errors=0.01)
    state = ["AL" if int(shop[2:]) != 7 else "AK" for shop in table["shop"]]
    rng = np.random.default_rng(5)
    for row in rng.choice(3_000, 15, replace=False):
        state[row] = "AK" if state[row] == "AL" else "AL"
    found = pacas.suggest_dependencies(table | {"state": state, "phone": [f"555-{s}" for s in table["shop"]]})
    state_by_shop = one([*found.strong, *found.redundant], "shop -> state")
    assert state_by_shop.score < 0.75
    assert "determines" in state_by_shop.because


def test_keys_are_listed_apart() -> None:
    table = shops() | {"id": [str(i) for i in range(2_000)], "visit": [f"v/{i}" for i in range(2_000)]}
    found = pacas.suggest_dependencies(table)
    assert found.keys == ("id", "visit")
    assert not any("id" in fd.split() or "visit" in fd for fd in fds([*found.strong, *found.redundant, *found.weak]))


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_suggested_of_columns_drawn_by_themselves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = (2, 3, 9, 40, 200, 900, 1_500)
    table = {f"c{n}": [f"v{x}" for x in rng.choice(n, 3_000, p=rng.dirichlet(np.ones(n)))] for n in sizes}
    table["measure"] = [str(x) for x in rng.integers(0, 600, 3_000)]
    found = pacas.suggest_dependencies(table)
    assert (found.strong, found.redundant, found.weak) == ((), (), ())


def test_the_same_table_gets_the_same_answer_whatever_the_order_of_its_rows_says() -> None:
    table = shops(errors=0.05)
    again = pacas.suggest_dependencies(table)
    assert again.as_json() == pacas.suggest_dependencies(table).as_json()
    backwards = pacas.suggest_dependencies({name: cells[::-1] for name, cells in table.items()})
    assert fds(backwards.strong) == fds(again.strong)


def test_a_sample_finds_what_the_whole_table_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = shops(20_000, errors=0.05)
    whole = pacas.suggest_dependencies(table)
    monkeypatch.setattr("pacas.suggest.dependencies.search.rows_to_screen", lambda _: 2_000)
    sampled = pacas.suggest_dependencies(table)
    assert fds(sampled.strong) == fds(whole.strong)
    assert one(sampled.strong, "shop -> town") == one(whole.strong, "shop -> town")  # counted on all rows


def test_no_value_of_the_table_is_in_a_repr() -> None:
    table = shops()
    table["town"][5] = "secret"
    found = pacas.suggest_dependencies(table)
    assert "secret" not in repr(found) + repr(found.strong) + repr(found.strong[0].examples)


ODD: dict[str, Columns] = {
    "one column": {"a": ["x", "y", "x"]},
    "one row": {"a": ["x"], "b": ["y"]},
    "all null": {"a": [None] * 50, "b": [None] * 50},
    "null on the left": {"a": [None] * 50, "b": ["x", "y"] * 25},
    "names that need quotes": {"a, b": ["x", "y"] * 30, '"': ["p", "q"] * 30, "→": ["1", "2"] * 30},
    "unicode": {"ä": ["ß", "文", "🎉"] * 20, "b": ["1", "2", "3"] * 20},
    "huge cells": {"a": ["x" * 200_000, "y", "z"] * 10, "b": ["p" * 200_000, "q", "r"] * 10},
    "two rows": {"a": ["x", "x"], "b": ["y", "z"]},
}


@pytest.mark.parametrize("columns", ODD.values(), ids=ODD)
def test_odd_tables_get_an_answer(columns: Columns) -> None:
    found = pacas.suggest_dependencies(
        pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})
    )
    listed = [*found.strong, *found.redundant, *found.weak]
    assert all(pacas.FunctionalDependency.parse(str(each.fd)) == (each.fd,) for each in listed)
    assert all(len(e.value) < 100 and len(e.majority) < 100 for each in listed for e in each.examples)


def test_a_table_of_300_columns_gets_an_answer() -> None:
    rng = np.random.default_rng(0)
    table = {f"c{i}": [str(x) for x in rng.integers(0, 2 + i % 40, 500)] for i in range(299)}
    table["copy"] = [f"of {x}" for x in table["c39"]]
    found = pacas.suggest_dependencies(table)
    assert {"c39 -> copy", "copy -> c39"} <= fds(found.strong)


def test_equal_columns_are_weighed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty columns of five kinds: what is weighed grows with the kinds, and what is found with the columns."""
    rng = np.random.default_rng(0)
    kinds = [[f"v{x}" for x in rng.integers(0, 12, 400)] for _ in range(5)]
    table = {f"c{i}_{copy}": kind for i, kind in enumerate(kinds) for copy in range(8)}
    weighing = Mock(wraps=weigh)
    monkeypatch.setattr(search, "weigh", weighing)
    found = pacas.suggest_dependencies(table, pairs=False)
    assert 0 < weighing.call_count <= 25
    assert len(found.strong) == 2 * 40 and len(found.redundant) == 5 * 8 * 7 - 2 * 40


def test_what_is_said_of_equal_columns_is_what_is_said_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(0, 30, 600)
    right = [f"t{(x + (rng.random() < 0.03)) % 30 // 2}" for x in left]
    table = {"a": [f"z{x}" for x in left], "b": right, "c": [f"y{x}" for x in left], "d": right}
    found = pacas.suggest_dependencies(table).as_json()
    monkeypatch.setattr(search, "equal_columns", lambda columns: {})
    assert pacas.suggest_dependencies(table).as_json() == found and found["strong"]


ENGINE = DuckEngine(threads=1)
"""One for all small tables: starting it takes longer than they do."""
cell = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "1", "2", "0.5", "2024-01-01", "x y z w"]))


@given(st.integers(1, 5), st.data())
@examples(60)
def test_any_small_table_gets_an_answer(width: int, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*[cell] * width), min_size=1, max_size=40))
    columns = {f"c{i}": pa.array([row[i] for row in rows], pa.string()) for i in range(width)}
    found = pacas.suggest_dependencies(pa.table(columns), engine=ENGINE)
    assert isinstance(found, SuggestedDependencies)
    for each in (*found.strong, *found.redundant, *found.weak):
        assert 0 < each.score <= 1
        assert 0 <= each.exceptions < each.rows <= len(rows)
        assert each.agreeing_groups <= each.groups


def trials(rare: int, typos: int, rows: int = 2_000) -> dict[str, list[str]]:
    """Trials of ten rows, open to all but for some; `All` is misspelled in rows here and there, in few ways."""
    spelled = ["All" if i // 10 >= rare else "Female" for i in range(rows)]
    for number in range(typos):
        spelled[rare * 10 + 17 * number] = ("lAl", "Al", "Alll")[number % 3]
    return {"trial": [f"t-{i // 10}" for i in range(rows)], "gender": spelled}


def test_misspellings_of_the_usual_value_do_not_hide_what_rare_ones_follow_from() -> None:
    found = pacas.suggest_dependencies(pa.table(trials(rare=6, typos=90)))
    assert one(found.strong, "trial -> gender").typo == 90


def test_a_column_that_is_constant_but_for_misspellings_follows_from_nothing() -> None:
    found = pacas.suggest_dependencies(pa.table(trials(rare=1, typos=90)))
    assert fds([*found.strong, *found.redundant, *found.weak]) == set()


@pytest.mark.parametrize(("usual", "other"), [("A", "B"), ("100", "101")])
def test_short_values_and_numbers_are_not_each_others_misspellings(usual: str, other: str) -> None:
    """Else what stands against a dependency would be left out."""
    columns = trials(rare=6, typos=0)
    columns["gender"] = [usual if v == "All" else "rare" for v in columns["gender"]]
    columns["gender"][100::20] = [other] * len(columns["gender"][100::20])
    found = pacas.suggest_dependencies(pa.table(columns))
    assert "trial -> gender" not in fds([*found.strong, *found.redundant])
