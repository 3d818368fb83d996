"""What columns are to the people in a table."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pacas
from pacas.engine.duck.engine import DuckEngine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.roles.singling_out import singling_out, values_shown
from pacas.suggest.roles.suggested import ColumnRole
from pacas.suggest.roles.suggesting import suggest_roles

ENGINE = DuckEngine(threads=1)


def coded(columns: dict[str, list[str | None]]) -> CodedTable:
    return CodedTable.read(ENGINE, pacas.Relation.of(columns))


def people(rows: int = 400) -> dict[str, list[str | None]]:
    random = np.random.default_rng(3)
    return {
        "patient_id": [f"p{i // 4}" for i in range(rows)],
        "FullName": [f"name {i}" for i in random.integers(0, 300, rows)],
        "birthDate": [f"19{50 + i % 40}-01-{1 + i % 28:02}" for i in random.integers(0, 2000, rows)],
        "sex": [str(s) for s in random.choice(["f", "m"], rows)],
        "zip": [f"1{i:04}" for i in random.integers(0, 60, rows)],
        "diagnosis": [f"d{i}" for i in random.integers(0, 9, rows)],
        "salary": [str(1000 * i) for i in random.integers(20, 60, rows)],
        "remark": ["none"] * rows,
    }


def test_names_and_values_say_what_a_column_is() -> None:
    roles = {one.attribute: one.role for one in suggest_roles(coded(people()))}
    assert roles == {
        "patient_id": ColumnRole.IDENTIFIER,
        "FullName": ColumnRole.IDENTIFIER,
        "birthDate": ColumnRole.QUASI_IDENTIFIER,
        "sex": ColumnRole.QUASI_IDENTIFIER,
        "zip": ColumnRole.QUASI_IDENTIFIER,
        "diagnosis": ColumnRole.SENSITIVE,
        "salary": ColumnRole.SENSITIVE,
        "remark": ColumnRole.OTHER,
    }


def test_what_singles_rows_out_together_is_in_order_and_grows() -> None:
    together = sorted((one for one in suggest_roles(coded(people())) if one.place), key=lambda one: one.place or 0)
    assert [one.place for one in together] == list(range(1, len(together) + 1))
    shares = [one.together for one in together]
    assert shares == sorted(shares, key=lambda share: share or 0) and (shares[-1] or 0) > 0.5


def test_a_sensitive_column_says_how_many_values_a_group_shows() -> None:
    table = coded({"sex": ["f", "f", "m", "m"] * 20, "diagnosis": ["a", "b", "c", "c"] * 20})
    (_, diagnosis) = suggest_roles(table)
    assert diagnosis.shown == pytest.approx(1.5)


CELLS = st.sampled_from(["a", "b", "c", None])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=25))
def test_the_shares_are_what_counting_finds(rows: list[tuple[str | None, ...]]) -> None:
    columns = dict(zip("ABC", map(list, zip(*rows, strict=True)), strict=True))
    table = coded(columns)
    chosen: list[str] = []
    for name, share in singling_out(table, list(columns)):
        chosen.append(name)
        seen = Counter(zip(*(columns[one] for one in chosen), strict=True))
        assert share == pytest.approx(sum(many for many in seen.values() if many == 1) / len(rows))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=25))
def test_the_values_shown_are_what_counting_finds(rows: list[tuple[str | None, str | None]]) -> None:
    table = coded({"A": [a for a, _ in rows], "B": [b for _, b in rows]})
    both = [(a, b) for a, b in rows if a is not None and b is not None]
    shown = [len({b for other, b in both if other == a}) for a, _ in both]
    assert values_shown(table["B"], table["A"]) == pytest.approx(sum(shown) / max(len(both), 1))


@pytest.mark.parametrize("columns", [{"A": ["x"]}, {"A": [None, None]}, {"A": ["1", "2"], "B": [None, "2"]}], ids=str)
def test_small_tables_have_roles_too(columns: dict[str, list[str | None]]) -> None:
    assert [one.attribute for one in suggest_roles(coded(columns))] == list(columns)
