"""The meter finds what free quotes tell, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

import pacas
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.provider.leak import measure_leaks
from pacas.provider.quoter.declared import Sealing

ENGINE = DuckEngine(threads=1)
ROWS = 3_000
LOPSIDED = [("a1", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*"), ("b3", "b", "*"), ("c1", "c", "*"), ("c2", "c", "*")]
"""`a1` is an only child: what it costs at level 1 is what it costs at level 0, and no other value does."""


def people() -> pacas.Relation:
    random = np.random.default_rng(7)
    values = random.choice([row[0] for row in LOPSIDED], ROWS)
    table = {
        "ID": [str(i) for i in range(ROWS)],
        "X": [f"x{i}" for i in random.integers(0, 40, ROWS)],
        "A": values.tolist(),
    }
    return pacas.Relation.of(table)


@pytest.mark.parametrize("sealing", [None, Sealing()])
def test_quotes_tell_an_only_child_unless_they_are_sealed(sealing: Sealing | None) -> None:
    relation = people()
    provider = pacas.Provider(
        relation,
        match={"A": "ID = ID"},
        policies=[pacas.Policy(("X",), ("A",), {"A": 0}, 2, True)],
        hierarchies={"A": Hierarchy.from_rows(LOPSIDED)},
        total=100,
        sealing=sealing,
        engine=ENGINE,
    )
    (leak,) = measure_leaks(provider, ENGINE, relation)
    assert leak.level == 1 and 0.4 < leak.public_guess < 0.6
    if sealing is None:
        assert leak.is_told and leak.leak > 0.1
    else:
        assert not leak.is_told and abs(leak.leak) < 0.01
