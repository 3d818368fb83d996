"""Every constraint-induced error shows: violations are recounted pair by pair, with and without each change."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_fds, to_hierarchies, to_relation
from oracles.cleaning import Dependency, equal_ground, tree_of, violations
from oracles.strategies import dependencies, relations
from oracles.tree import Tree

from pacas.core.dependency import FunctionalDependency
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.experiments.errors.dirty_relation import CellError, DirtyRelation, ErrorKind
from pacas.experiments.errors.error_generator import ErrorGenerator

ENGINE = DuckEngine(threads=1)

Rows = list[dict[str, str | None]]
Case = tuple[Rows, dict[str, Tree]]


def rows_of(dirty: DirtyRelation) -> Rows:
    return dirty.relation.table.to_pylist()


def undo(rows: Rows, *errors: CellError) -> Rows:
    undone = [dict(row) for row in rows]
    for error in errors:
        assert undone[error.row][error.attribute] == error.new != error.old
        undone[error.row][error.attribute] = error.old
    return undone


def literal(fd: FunctionalDependency) -> Dependency:
    return Dependency(fd.lhs, fd.rhs)


def generate(case: Case, fds: list[Dependency], **how: object) -> DirtyRelation:
    rows, trees = case
    generator = ErrorGenerator(to_fds(fds), hierarchies=to_hierarchies(trees), **how)  # type: ignore[arg-type]
    try:
        return generator.dirty(to_relation(rows), engine=ENGINE)
    except InputError as error:
        assume("comes to no tuple" not in str(error) and "no place" not in str(error))
        raise


def check_all_show(case: Case, dirty: DirtyRelation) -> None:
    clean, trees = case
    rows = rows_of(dirty)
    assert undo(rows, *dirty.errors) == clean
    assert len({error.row for error in dirty.errors}) == len(dirty.errors)
    for error in dirty.errors:
        if error.fd is None:
            continue
        with_it = violations(rows, literal(error.fd), trees)
        without = violations(undo(rows, error), literal(error.fd), trees)
        assert len(without) < len(with_it), error
        assert any(error.row in pair for pair in with_it - without), error


def check_places(case: Case, dirty: DirtyRelation) -> None:
    """No error in a group of one row, none in a group that was violating; the value is one that its kind says."""
    clean, trees = case
    rows = rows_of(dirty)
    for error in dirty.errors:
        if error.fd is None:
            continue
        fd = literal(error.fd)
        joined = [
            row for i, row in enumerate(clean) if i != error.row and equal_ground(row, rows[error.row], fd.lhs, trees)
        ]
        assert joined
        before = [row for row in clean if equal_ground(row, clean[error.row], fd.lhs, trees)]
        assert not violations(before, fd, trees) and not violations(joined, fd, trees)
        column = {tree_of(error.attribute, trees).key(row[error.attribute]) for row in clean}
        is_there = tree_of(error.attribute, trees).key(error.new) in column
        assert is_there == (error.kind is not ErrorKind.RHS_FRESH)
        assert (error.attribute == fd.rhs) == (error.kind is not ErrorKind.LHS_DOMAIN)


@examples(40, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    relations(max_rows=18),
    dependencies(most=3),
    st.sampled_from(["rhs", "lhs", "both"]),
    st.sampled_from(["fresh", "domain", "both"]),
    st.sampled_from([0.1, 0.3, 0.6]),
    st.sampled_from([0.0, 0.2]),
    st.integers(0, 3),
)
def test_undoing_any_one_error_lowers_the_number_of_violations(
    case: Case, fds: list[Dependency], side: str, value: str, rate: float, random_rate: float, seed: int
) -> None:
    dirty = generate(case, fds, side=side, value=value, rate=rate, random_rate=random_rate, seed=seed)
    check_all_show(case, dirty)
    check_places(case, dirty)


@examples(15, suppress_health_check=[HealthCheck.filter_too_much])
@given(relations(max_rows=18), dependencies(most=2), st.sampled_from(["rhs", "both"]), st.integers(0, 3))
def test_errors_that_do_not_interact_share_no_violating_pair_and_no_group(
    case: Case, fds: list[Dependency], side: str, seed: int
) -> None:
    dirty = generate(case, fds, side=side, rate=0.5, seed=seed, non_interacting=True)
    check_all_show(case, dirty)
    rows, trees = rows_of(dirty), case[1]
    for one, other in combinations((error.row for error in dirty.errors), 2):
        for fd in fds:
            for version in (case[0], rows):
                assert not equal_ground(version[one], version[other], fd.lhs, trees)


MED = Tree([[v, c, "*"] for v, c in (("ibuprofen", "NSAID"), ("naproxen", "NSAID"), ("tylenol", "acetaminophen"))])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("random_rate", [0.0, 0.1])
def test_many_errors_of_dependencies_that_share_attributes_all_show(seed: int, random_rate: float) -> None:
    """Large groups, a right side that is another's left side, and two dependencies of one right side."""
    rows: Rows = [
        {"A": f"a{n % 4}", "B": f"b{n % 4 % 2}", "C": ("ibuprofen", "tylenol")[n % 4 % 2], "D": f"d{n % 7}"}
        for n in range(56)
    ]
    fds = [Dependency(("A",), "C"), Dependency(("B",), "C"), Dependency(("C",), "B"), Dependency(("A", "D"), "B")]
    case = rows, {"C": MED}
    dirty = generate(case, fds, rate=0.4, side="both", random_rate=random_rate, seed=seed)
    assert len(dirty.errors) >= 18
    check_all_show(case, dirty)
    check_places(case, dirty)
