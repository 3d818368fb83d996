"""Groups by SQL: what comes to the caller where several left sides connect rows, and that it is put together."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.sql import group_statements

ROOMY, ROOMLESS = DuckEngine(threads=1), DuckEngine(threads=1)
ROOMLESS.holdable_bytes = 0

PEOPLE = 1_000


def people(names: dict[int, str]) -> Relation:
    """Two rows of each person; the number and the address both determine the name, but for the rows given."""
    rows = range(2 * PEOPLE)
    return Relation.of(
        pa.table(
            {
                "SSN": [f"s{i // 2}" for i in rows],
                "EMAIL": [f"e{i // 2}" for i in rows],
                "NAME": [names.get(i, f"n{i // 2}") for i in rows],
            }
        )
    )


def test_groups_with_the_same_rows_on_all_sides_come_only_if_they_show_several_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream, came = ROOMLESS._sql.stream, []

    def watched(sql: str, most: int) -> Any:
        for batch in stream(sql, most):
            came.append(len(batch))
            yield batch

    monkeypatch.setattr(ROOMLESS._sql, "stream", watched)
    found = ROOMLESS.mixed_groups(ROOMLESS.open(people({7: "another"})), [["SSN"], ["EMAIL"]], "NAME", {})
    assert found.rows.tolist() == [6, 7]
    assert sum(came) == 3, "one link, and two rows"


few = st.sampled_from(["1", "2", "3", "4", None])


@examples(60)
@given(st.lists(st.tuples(few, few, few, st.sampled_from(["x", "x", "x", "y", None])), min_size=1, max_size=14))
def test_links_that_are_connected_bit_by_bit_connect_what_they_should(rows: list[tuple[str | None, ...]]) -> None:
    relation = Relation.of(
        pa.table([pa.array(column, pa.string()) for column in zip(*rows, strict=True)], list("ABCV"))
    )
    sides = [["A"], ["B"], ["C", "A"]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_statements, "AT_A_TIME", 0)
        found = ROOMLESS.mixed_groups(ROOMLESS.open(relation), sides, "V", {})
    held = ROOMY.mixed_groups(ROOMY.open(relation), sides, "V", {})
    assert (found.rows.tolist(), found.offsets.tolist()) == (held.rows.tolist(), held.offsets.tolist())
