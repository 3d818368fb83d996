"""At the paper's quotes, what is told of prices holds for every row, and does not follow where values stand."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.strategies import tree_rows

import pacas
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.provider.support.support_set import Generated

HELD, ASKED = DuckEngine(threads=1), DuckEngine(threads=1)
ASKED.holdable_bytes = 0


@examples(60)
@given(tree_rows(), st.data())
def test_every_row_costs_what_the_bounds_allow(paths: list[list[str]], data: st.DataObject) -> None:
    tree = Hierarchy.from_rows(paths)
    values = data.draw(st.lists(st.sampled_from(tree.ground_labels), min_size=1, max_size=8))
    support = Generated(per_cell=data.draw(st.integers(1, 7)))
    total = data.draw(st.sampled_from(["1", "7", "3.333333333"]))

    def opened(sold: list[str], engine: DuckEngine) -> pacas.Provider:
        table = pa.table({"K": [str(row) for row in range(len(sold))], "A": sold})
        return pacas.Provider(
            table, match={"A": "K = K"}, hierarchies={"A": tree}, support=support, total=total, seed=7, engine=engine
        )

    provider = opened(values, HELD)
    bounds = provider.catalogue()["A"].bounds
    for other in (opened(data.draw(st.permutations(values)), HELD), opened(values, ASKED)):
        assert other.catalogue()["A"].bounds == bounds
    ladders = provider.quote_batch("A", {"K": [str(row) for row in range(len(values))]}).prices.tolist()
    if bounds is None:  # a tree with one value has no neighbours
        assert len(tree.ground_labels) == 1
    else:
        assert all(low <= price <= high for row in ladders for price, (low, high) in zip(row, bounds, strict=True))
