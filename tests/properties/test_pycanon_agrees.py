"""Agreement with pyCANON, the published package of anonymity measures.

Where its conventions differ from ours:

- its entropy l is cut down to a whole number, and may miss one by a rounding error (three equal shares give 2);
- t-closeness is of the ordered kind iff the column's type is numeric, ours iff all its values are numbers;
- for a numeric column with a single value it divides by zero, where t is 0;
- its recursive (c,l)-diversity takes the least frequent value for r₁, so that it is not compared;
- several sensitive attributes are judged one by one, where we judge their combinations, as (X,Y)-anonymity does: so
  the comparison is on one attribute.
"""

from __future__ import annotations

import warnings
from math import floor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacas.core.anonymity import Policy, check_anonymity
from pacas.core.criteria.closeness import Closeness
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.entropy import EntropyDiversity
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine, DuckTable
from pacas.formats.relations.relations import scan_relation

ENGINE = DuckEngine(threads=1)


@pytest.fixture(scope="module")
def pycanon() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pycanon import anonymity
    return anonymity


def compare(pycanon: Any, frame: pd.DataFrame, table: DuckTable, x: list[str], s: str) -> None:
    histogram = ENGINE.group_histogram(table, x, {s: 0}, {})
    tuples = check_anonymity(ENGINE.group_histogram(table, x, {}, {}), Policy(tuple(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert tuples.k == pycanon.k_anonymity(frame, x)
        assert DistinctValues(1).strictest(histogram) == pycanon.l_diversity(frame, x, [s])
        ours, theirs = EntropyDiversity(1).strictest(histogram), pycanon.entropy_l_diversity(frame, x, [s])
        assert ours is not None and theirs in {floor(ours - 1e-9), floor(ours + 1e-9)}
        if frame[s].nunique() > 1:
            assert Closeness(1).strictest(histogram) == pytest.approx(pycanon.t_closeness(frame, x, [s]), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_random_tables(pycanon: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 120))
    frame = pd.DataFrame(
        {
            "A": rng.choice(list("abc"), size),
            "B": rng.choice(list("xy"), size),
            "text": rng.choice(["flu", "cold", "ulcer", "gout"], size, p=[0.6, 0.2, 0.15, 0.05]),
            "whole": rng.choice([1, 2, 10, 300], size),
            "real": rng.choice([-0.5, 2.25, 10.0], size),
        }
    )
    table = ENGINE.open(Relation.of(frame))
    for x in (["A"], ["A", "B"]):
        for s in ("text", "whole", "real"):
            compare(pycanon, frame, table, x, s)


def test_three_equal_shares_are_three_for_us(pycanon: ModuleType) -> None:
    frame = pd.DataFrame({"A": ["a"] * 3, "S": ["x", "y", "z"]})
    histogram = ENGINE.group_histogram(ENGINE.open(Relation.of(frame)), ["A"], {"S": 0}, {})
    assert EntropyDiversity(1).strictest(histogram) == pytest.approx(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert pycanon.entropy_l_diversity(frame, ["A"], ["S"]) in (2, 3)


@pytest.mark.parametrize(
    ("x", "s"),
    [
        (["sex", "race"], "marital-status"),
        (["sex", "race"], "occupation"),
        (["sex", "race"], "hours-per-week"),
        (["education"], "education-num"),
    ],
)
def test_adult(pycanon: ModuleType, adult: tuple[pd.DataFrame, DuckTable], x: list[str], s: str) -> None:
    compare(pycanon, *adult, x, s)


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> tuple[pd.DataFrame, DuckTable]:
    path = shared_data / "adult" / "adult_full.csv.gz"
    if not path.is_file():
        pytest.skip("no Adult dataset here")
    frame = pd.read_csv(path, sep=";", keep_default_na=False)
    return frame, ENGINE.open(scan_relation(path))
