"""Evidence of a dependency: counted over arrays as the definitions say it row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles import fd_evidence

from pacas.suggest.dependencies.evidence import DependencyEvidence, PairCounts, classify, mu_plus, weigh

VALUES = "abcdefgh"


def counted(rows: Sequence[tuple[int | None, str | None]]) -> DependencyEvidence | None:
    group = np.array([-1 if g is None else g for g, _ in rows], dtype=np.int32)
    value = np.array([-1 if v is None else VALUES.index(v) for _, v in rows], dtype=np.int32)
    overall = np.bincount(value[value >= 0], minlength=len(VALUES)).astype(np.int64)
    return weigh(classify(PairCounts.of(group, value, len(VALUES)), overall), len(rows))


def agrees(rows: Sequence[tuple[int | None, str | None]]) -> None:
    found, literal = counted(rows), fd_evidence.evidence(rows)
    if found is None or literal is None:
        assert found is None and literal is None
        return
    fields = ("rows", "groups", "agreeing_groups", "typo", "scattered", "blocks")
    assert {name: getattr(found, name) for name in fields} == {name: getattr(literal, name) for name in fields}
    assert found.score == pytest.approx(literal.score)
    assert found.plain_score == pytest.approx(literal.plain_score)
    assert found.placeholder == (-1 if literal.placeholder is None else literal.placeholder)


group = st.one_of(st.none(), st.integers(0, 5))
"""Few groups, so that they have several rows."""
some_value = st.one_of(st.none(), st.sampled_from(VALUES))


@given(st.lists(st.tuples(group, some_value), min_size=1, max_size=40))
@examples(400)
def test_any_rows_are_told_apart_as_the_definitions_say(rows: list[tuple[int | None, str | None]]) -> None:
    agrees(rows)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 70),
    st.sampled_from([0.0, 0.05, 0.2]),
    st.sampled_from([0, 3, 12]),
)
@examples(100)
def test_dirty_groups_are_told_apart_as_the_definitions_say(
    seed: int, groups: int, errors: float, unknown: int
) -> None:
    """Groups that agree but for errors, blocks, and a placeholder whose rows have anything."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[int | None, str | None]] = []
    for g in range(groups):
        own, other = rng.choice(list(VALUES), 2, replace=False)
        size = int(rng.integers(1, 9))
        block = int(rng.integers(0, 4)) if rng.random() < 0.2 else 0
        drawn = [str(rng.choice(list(VALUES))) if rng.random() < errors else str(own) for _ in range(size)]
        rows += [(g, value) for value in [*drawn, *[str(other)] * block]]
    rows += [(groups, str(rng.choice(list(VALUES)))) for _ in range(unknown)]
    agrees(rows)


def test_mu_plus_is_one_where_groups_agree_and_about_none_where_they_are_drawn() -> None:
    place, value = np.repeat(np.arange(4), 5), np.repeat(np.array([0, 1, 0, 1]), 5)
    exact = PairCounts.of(place, value, 2)
    assert mu_plus(exact, np.ones(len(exact.n), dtype=np.bool_)) == 1.0
    drawn = PairCounts.of(np.arange(10_000) % 500, np.random.default_rng(0).integers(0, 3, 10_000), 3)
    assert mu_plus(drawn, np.ones(len(drawn.n), dtype=np.bool_)) < 0.01


def test_exceptions_beyond_what_other_groups_have_are_uneven() -> None:
    right = [(g, VALUES[g % 4]) for g in range(40) for _ in range(30)]
    spread = [(g, VALUES[(g + 1) % 4]) for g in range(40)]
    gathered = [(g, VALUES[4 + i % 4]) for g in range(2) for i in range(20)]
    even, uneven = counted([*right, *spread]), counted([*right, *gathered])
    assert even is not None and uneven is not None
    assert even.uneven == 0.0
    assert uneven.uneven > 0.02
