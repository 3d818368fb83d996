"""Beliefs about groups and rows, on tables that one can look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest

from pacas.client.weighed_rows import row_options
from pacas.client.weighing.model import Model
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.codes import coded_texts


def model(table: Mapping[str, Sequence[str | None]], *fds: str, **hierarchies: Hierarchy) -> Model:
    columns = {name: coded_texts(pa.chunked_array([pa.array(values, pa.string())])) for name, values in table.items()}
    return Model(FunctionalDependency.parse_all(fds), columns, hierarchies, {})


def test_a_value_and_one_below_it_exclude_each_other_on_no_level() -> None:
    tree = Hierarchy.from_rows([("pain", "pain", "*"), ("headache", "pain", "*"), ("fever", "fever", "*")])
    found = model({"A": [*"aabb"], "B": ["pain", "headache", "headache", "fever"]}, "A -> B", B=tree)
    (belief,) = found.beliefs
    assert belief.violated[belief.side.group].tolist() == [False, False, True, True]


def test_a_rows_own_group_is_none_of_those_it_may_belong_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it take the place of another."""
    monkeypatch.setattr(row_options, "MOST", 1)
    found = model({"A": [*"aaaabcc"], "B": [*"xxyyxyy"]}, "A -> B").misplaced
    values = [found.finder.columns["A"].tree.label(value) for value in found.options.value.tolist()]
    options = sorted(zip(found.suspects[found.options.of].tolist(), values, strict=True))
    assert options == [(0, "b"), (1, "b"), (2, "c"), (3, "c")]
