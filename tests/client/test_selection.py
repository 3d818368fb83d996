"""The class with most errors, among many."""

from __future__ import annotations

import numpy as np
import pytest

from pacas.client.paper.selection import BLOCK, Selection


@pytest.mark.parametrize("size", [1, BLOCK, BLOCK + 1, 5 * BLOCK - 3])
def test_the_first_of_those_with_most_errors_is_selected(size: int) -> None:
    """Against looking at all of them, while counts go up and down and classes are dropped."""
    rng = np.random.default_rng(size)
    errors = rng.integers(0, 4, size)
    eqs, left = Selection(errors), set(range(size))
    while left:
        found = eqs.most_errors()
        assert found == min(left, key=lambda number: (-errors[number], number))
        eqs.drop(found)
        left.remove(found)
        assert (len(eqs), eqs.left()) == (len(left), sorted(left))
        some = np.array(sorted(left), dtype=np.int64)[rng.random(len(left)) < rng.choice([0, 0.001, 0.5])]
        errors[some] = rng.integers(0, 6, len(some))
        eqs.changed(some, errors[some])
    assert eqs.most_errors() is None


def test_none_is_selected_where_there_is_none() -> None:
    assert (Selection(np.zeros(0, dtype=np.int64)).most_errors(), len(Selection(np.zeros(0, dtype=np.int64)))) == (
        None,
        0,
    )
