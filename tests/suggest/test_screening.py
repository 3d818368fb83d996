"""Screening: what is told of all columns by comparing each row with the next of its group."""

from __future__ import annotations

import numpy as np
import pytest

from pacas.core.histogram import Ints
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.dependencies.evidence import PairCounts, mu_plus
from pacas.suggest.dependencies.screening import FEWEST_ROWS, MOST_ROWS, RowSamples, rows_to_screen
from pacas.suggest.kind import Kind


def column(name: str, codes: Ints, values: int) -> ProfiledColumn:
    counts = np.bincount(codes[codes >= 0], minlength=values).astype(np.int64)
    return ProfiledColumn(name, codes.astype(np.int32), [f"{name}{i}" for i in range(values)], counts, Kind.CATEGORY)


def table(rows: int, seed: int = 0) -> list[ProfiledColumn]:
    """A left side of groups of about ten, a right side with a fifth of errors, and one with nulls."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, rows // 10, rows)
    right = left % 7
    right[rng.random(rows) < 0.2] = 3
    partial = np.where(rng.random(rows) < 0.5, -1, left % 5)
    return [column("left", left, rows // 10), column("right", right, 7), column("partial", partial, 5)]


def exactly(left: ProfiledColumn, right: ProfiledColumn) -> float:
    counts = PairCounts.of(left.codes, right.codes, len(right.values))
    return mu_plus(counts, np.ones(len(counts.n), dtype=np.bool_))


def test_neighbours_score_as_all_pairs_of_a_group_do() -> None:
    columns = table(20_000)
    sample = RowSamples(columns, 20_000, {}).of(0, MOST_ROWS)
    scores = sample.scores(sample.codes[0], 0.1)
    assert scores is not None
    assert scores[1] == pytest.approx(exactly(columns[0], columns[1]), abs=0.02)
    assert scores[2] == 1.0  # nulls are no exceptions
    assert sample.scores(sample.codes[0], 1.01) is None


def test_a_sample_of_small_groups_has_them_whole() -> None:
    columns = table(60_000)
    sample = RowSamples(columns, 60_000, {}).of(0, 5_000)
    assert len(sample.rows) == pytest.approx(5_000, rel=0.1)
    sizes = np.bincount(sample.codes[0], minlength=len(columns[0].values))
    assert set(sizes[sizes > 0] - columns[0].counts[sizes > 0]) == {0}
    scores = sample.scores(sample.codes[0], 0.1)
    assert scores is not None
    assert scores[1] == pytest.approx(exactly(columns[0], columns[1]), abs=0.03)


def test_a_sample_of_large_groups_has_rows_of_all() -> None:
    columns = table(60_000)
    sample = RowSamples(columns, 60_000, {}).of(1, 5_000)
    assert len(sample.rows) == 5_000
    assert set(sample.codes[1]) == set(range(7))


def test_few_rows_that_share_a_group_say_nothing() -> None:
    codes = np.arange(100)
    codes[:6] = 0
    sample = RowSamples([column("a", codes, 100)], 100, {}).of(0, MOST_ROWS)
    assert sample.scores(sample.codes[0], 0.1) is None


def test_wide_tables_are_screened_by_fewer_rows() -> None:
    assert (rows_to_screen(1), rows_to_screen(30), rows_to_screen(3_000)) == (MOST_ROWS, MOST_ROWS, FEWEST_ROWS)
    assert FEWEST_ROWS < rows_to_screen(300) < MOST_ROWS
