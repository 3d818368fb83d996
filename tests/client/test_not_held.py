"""A client whose relation is not held in memory: rows are fetched when they begin to matter, and all is the same."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from lanes import share

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Index
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Request

HELD = DuckEngine(threads=1)
NOT_HELD = DuckEngine(threads=1)
NOT_HELD.holdable_bytes = 0

VALUES = [f"{letter}{i}" for letter in "xyz" for i in range(3)]
TREE = Hierarchy.from_rows([(value, value[0], "*") for value in VALUES])


class Shop:
    """Sells what it is told to be the truth, found by a key; every level costs the same."""

    def __init__(self, truth: Mapping[str, Mapping[str, str]], level: int = 0) -> None:
        self._truth, self._level = truth, level

    def catalogue(self) -> Mapping[str, Offer]:
        return {attribute: Offer(attribute, ("ID",), TREE) for attribute in self._truth}

    def quote(self, request: Request) -> Quote:
        return Quote(10)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        ladder = [10 if level >= self._level else -1 for level in range(TREE.height + 1)]
        return Ladders(np.array([ladder] * len(list(tuples["ID"])), dtype=np.int64))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer:
        value = self._truth[request.attribute][str(request.tuple["ID"])]
        return Answer(str(TREE.generalize_value(value, request.level)), request.level, 10)


def clean(engine: DuckEngine, table: Mapping[str, Sequence[str | None]], shop: Shop, **options: Any) -> Cleaning:
    fds = options.pop("fds", ["A -> B", "B -> C"])
    return SafeClean(fds, 1, strategy="paper", hierarchies={"B": TREE, "C": TREE}, **options).clean(
        table, shop, engine=engine
    )


def told(result: Cleaning) -> tuple[Any, ...]:
    bought = [(p.attribute, p.rows.tolist(), p.row, p.level, p.value, r.new, r.old) for p, r in pairs(result)]
    left = [(u.attribute, u.rows.tolist(), u.reason) for u in result.unrepaired]
    return result.relation.table.to_pylist(), bought, left, result.violations_before, result.violations_after


def pairs(result: Cleaning) -> Any:
    return zip(result.purchases, result.repairs, strict=True)


def test_a_row_that_joins_a_group_that_nobody_held_violates_with_its_rows() -> None:
    table = {"ID": ["0", "1", "2", "3"], "A": ["1", "1", "2", "3"], "B": ["x0", "y0", "z0", "z0"]}
    table["C"] = ["x1", "x1", "y1", "y1"]
    result = clean(NOT_HELD, table, Shop({"B": {"0": "z0", "1": "z0"}}), repair="replace")
    assert result.relation.table.column("B").to_pylist() == ["z0"] * 4
    assert (result.violations_before, result.violations_after) == (1, 4)


def test_a_row_that_takes_a_value_of_its_class_joins_the_rows_that_have_it_elsewhere() -> None:
    table = {"ID": ["0", "1", "2", "3"], "A": ["1", "1", "2", "3"], "B": ["x0", "y0", "y0", "y0"]}
    table["C"] = ["x1", "*", "y1", "y1"]
    result = clean(NOT_HELD, table, Shop({"B": {"0": "y0", "1": "y0"}}))
    assert result.relation.table.column("B").to_pylist() == ["y0"] * 4
    assert (result.violations_before, result.violations_after) == (1, 2)


def test_what_can_be_foreseen_is_looked_up_together() -> None:
    rows = range(200)
    table = {
        "ID": [str(i) for i in rows],
        "A": [str(i // 2) for i in rows],
        "B": [VALUES[(i // 2) % 9] if i % 2 or i > 40 else VALUES[(i // 2 + 3) % 9] for i in rows],
        "C": ["*" if i < 42 else "x0" for i in rows],
    }
    asked: list[int] = []

    class Counting(DuckEngine):
        def index(self, *arguments: Any) -> Index:
            made: Any = super().index(*arguments)
            find = made.find

            def counted(values: Any, most: int | None = None) -> Any:
                asked.append(len(values))
                return find(values, most)

            made.find = counted
            return made

    engine = Counting(threads=1)
    engine.holdable_bytes = 0
    truth = {"B": {str(i): table["B"][i | 1] for i in rows}}
    result = clean(engine, table, Shop(truth))
    assert len(result.purchases) == 21 and asked == [9]


FDS = (["A -> B", "B -> C"], ["A -> B", "B, A -> C", "C -> B"], ["A -> C", "B -> C", "C -> A"])


@pytest.mark.parametrize("seed", range(share(24)))
def test_a_mostly_clean_table_is_cleaned_as_if_it_were_held(seed: int) -> None:
    drawn = random.Random(seed)
    rows = 40
    a = [f"{drawn.choice('xyz')}{drawn.randrange(3)}" for _ in range(rows)]
    b_of, c_of = ({value: drawn.choice(VALUES) for value in VALUES} for _ in "BC")
    truth = {"A": a, "B": [b_of[value] for value in a]}
    truth["C"] = [c_of[value] for value in truth["B"]]
    table: dict[str, list[str | None]] = {"ID": [str(i) for i in range(rows)], **{k: list(v) for k, v in truth.items()}}
    for _ in range(5):
        table[drawn.choice("ABC")][drawn.randrange(rows)] = drawn.choice([*VALUES, "x", "*", "unknown", None])
    named = [(drawn.randrange(rows), drawn.choice("ABC")) for _ in range(drawn.randrange(3))]
    options = {
        "fds": FDS[seed % 3],
        "repair": drawn.choice(["refine", "replace", "ground"]),
        "rounds": drawn.choice([1, 3]),
        "cells": named,
        "max_level": drawn.choice([None, 2]),
    }
    sold = {attribute: dict(zip(table["ID"], truth[attribute], strict=True)) for attribute in "ABC"}
    level = drawn.choice([0, 0, 1])
    results = [
        clean(engine, table, Shop(sold, level), **options)  # type: ignore[arg-type]
        for engine in (HELD, NOT_HELD)
    ]
    assert told(results[0]) == told(results[1])
