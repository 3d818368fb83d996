"""Violations, classes and errors counted without pairs are those that looking at all pairs finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from lanes import examples
from oracles.bridge import to_fds, to_hierarchies, to_relation
from oracles.cleaning import Dependency, unresolved, violating_groups, violations
from oracles.strategies import dependencies, relations
from oracles.tree import Tree

from pacas.client.classes.check import check
from pacas.engine.duck.engine import DuckEngine

ENGINE = DuckEngine(threads=1)

Case = tuple[list[dict[str, str | None]], dict[str, Tree]]


def compare(rows: list[dict[str, str | None]], trees: dict[str, Tree], fds: list[Dependency]) -> None:
    result = check(to_relation(rows), to_fds(fds), to_hierarchies(trees), engine=ENGINE)
    assert result.rows == len(rows)
    for found, fd in zip(result.dependencies, fds, strict=True):
        pairs = violations(rows, fd, trees)
        assert found.violations == len(pairs), fd
        assert found.groups == violating_groups(rows, fd, trees), fd
        assert set(found.violating.rows.tolist()) >= {t for pair in pairs for t in pair}
    assert result.violations == sum(len(violations(rows, fd, trees)) for fd in fds)
    assert result.consistent == (result.violations == 0)
    classes = [(c.attribute, c.rows.tolist(), c.errors) for c in result.classes]
    assert classes == unresolved(rows, fds, trees)
    assert len(result.classes) == len(classes)


SHARED = [Dependency(("A",), "C"), Dependency(("B",), "C")]
CHAIN = [Dependency(("A",), "B"), Dependency(("B",), "C"), Dependency(("C", "A"), "D")]


@examples(110)
@given(relations(), dependencies())
def test_check_agrees_with_looking_at_all_pairs(case: Case, fds: list[Dependency]) -> None:
    compare(*case, fds)


@examples(40)
@given(relations(max_rows=18))
@example(([{"A": "a", "B": None, "C": "x", "D": "d"}, {"A": "a", "B": "b", "C": None, "D": "d"}], {}))
def test_dependencies_that_share_a_right_side_merge_classes(case: Case) -> None:
    compare(*case, SHARED)


@examples(40)
@given(relations(max_rows=18))
def test_dependencies_that_chain_count_errors_on_both_sides(case: Case) -> None:
    compare(*case, CHAIN)


MED = Tree(
    [
        ["ibuprofen", "NSAID", "analgesic", "*"],
        ["naproxen", "NSAID", "analgesic", "*"],
        ["tylenol", "acetaminophen", "analgesic", "*"],
        ["intropes", "vasodilators", "cardiovascular", "*"],
    ]
)


@pytest.mark.parametrize("seed", range(3))
def test_check_agrees_on_skewed_groups(seed: int) -> None:
    """One group holds half of the rows, the others follow a power law."""
    rng = np.random.default_rng(seed)
    size = 120
    a = np.minimum(rng.zipf(1.6, size), 12)
    b = np.where(rng.random(size) < 0.5, 0, rng.integers(0, 20, size))
    med = rng.choice(np.array([*sorted(MED.known), "appaprtin", None], dtype=object), size, p=_skew(len(MED.known) + 2))
    rows = [
        {"A": None if n % 17 == 0 else f"a{x}", "B": "*" if n % 13 == 0 else f"b{y}", "C": m, "D": f"d{x % 3}"}
        for n, (x, y, m) in enumerate(zip(a, b, med, strict=True))
    ]
    fds = [Dependency(("A",), "C"), Dependency(("B",), "C"), Dependency(("C",), "D"), Dependency(("A", "D"), "B")]
    compare(rows, {"C": MED}, fds)


@pytest.mark.parametrize("seed", range(2))
def test_check_agrees_where_the_left_side_has_many_combinations(seed: int) -> None:
    """Three columns of about sixty values each: far more combinations than rows, so that keys are renumbered."""
    rng = np.random.default_rng(seed)
    size = 90
    x = rng.integers(0, 60, (3, size))
    x[:, size // 2 :] = x[:, : size - size // 2]  # every combination twice
    rows = [
        {
            "A": None if n % 11 == 0 else f"a{p}",
            "B": f"b{q}",
            "C": "*" if n % 7 == 0 else f"c{r}",
            "D": rng.choice(["ibuprofen", "NSAID", "tylenol", "intropes"]),
        }
        for n, (p, q, r) in enumerate(x.T)
    ]
    for n, row in enumerate(rows):
        row["E"] = f"e{n}"
    fds = [Dependency(("A", "B", "C", "E"), "D"), Dependency(("A", "B", "C"), "D"), Dependency(("C", "B"), "D")]
    compare(rows, {"D": MED}, fds)


def test_left_sides_that_group_no_row_at_all_find_nothing() -> None:
    """A and B are never both there, and have so many values that their combinations are renumbered."""
    size = 600
    table: dict[str, list[str | None]] = {
        "A": [str(n) if n < size // 2 else None for n in range(size)],
        "B": [str(n) if n >= size // 2 else None for n in range(size)],
        "C": ["x", "y"] * (size // 2),
        "D": [str(n) for n in range(size)],
    }
    one = check(table, ["A, B -> C"], engine=ENGINE)
    assert (one.violations, len(one.classes)) == (0, 0)
    several = check(table, ["A, B -> C", "A, B, D -> C"], engine=ENGINE)
    assert (several.violations, len(several.classes)) == (0, 0)


def test_counts_beyond_32_bits_are_exact() -> None:
    """100,000 tuples of one group, half and half: 2,500,000,000 violating pairs."""
    half = 50_000
    result = check({"A": ["a"] * 2 * half, "B": ["x"] * half + ["y"] * half}, ["A -> B"], engine=ENGINE)
    assert result.violations == half * half
    (cells,) = result.classes
    assert (len(cells.rows), cells.errors) == (2 * half, half * half)


def _skew(size: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1)
    return weights / weights.sum()
