"""Overwritten groups, held to their definition: so many groups, a block of each, one other value."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_fds, to_hierarchies, to_relation
from oracles.cleaning import Dependency, equal_ground, tree_of, violations
from oracles.strategies import dependencies, relations
from oracles.tree import Tree

from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.experiments.errors.dirty_relation import CellError, DirtyRelation, ErrorKind
from pacas.experiments.errors.error_generator import ErrorGenerator

ENGINE = DuckEngine(threads=1)

Rows = list[dict[str, str | None]]
Case = tuple[Rows, dict[str, Tree]]


def generate(case: Case, fds: list[Dependency], **how: object) -> DirtyRelation:
    rows, trees = case
    generator = ErrorGenerator(to_fds(fds), hierarchies=to_hierarchies(trees), **how)  # type: ignore[arg-type]
    try:
        return generator.dirty(to_relation(rows), engine=ENGINE)
    except InputError as error:
        assume("comes to no" not in str(error) and "no place" not in str(error))
        raise


def groups_of(rows: Rows, fd: Dependency, trees: dict[str, Tree]) -> list[list[int]]:
    """The X-groups of two rows or more, each in the order of the table."""
    found: list[list[int]] = []
    for i, row in enumerate(rows):
        if equal_ground(row, row, fd.lhs, trees):
            group = next((g for g in found if equal_ground(rows[g[0]], row, fd.lhs, trees)), None)
            found.append([i]) if group is None else group.append(i)
    return [group for group in found if len(group) > 1]


def can_be_overwritten(rows: Rows, group: list[int], fd: Dependency, trees: dict[str, Tree]) -> bool:
    """It agrees, holds a value, and the column has one that is incomparable with all of it."""
    held = [rows[i][fd.rhs] for i in group]
    tree = tree_of(fd.rhs, trees)
    agrees = all(tree.comparable(v, w) for v in held for w in held)
    values = {row[fd.rhs] for row in rows} - {None, "*"}
    others = [w for w in values if not any(tree.comparable(v, w) for v in held)]
    return agrees and None not in held and bool(others)


def check_blocks(case: Case, fd: Dependency, of: list[CellError], share: float) -> int:
    """Every overwritten group of a dependency is as it should be; how many were overwritten whole."""
    rows, trees = case
    groups = groups_of(rows, fd, trees)
    new = {error.row: error.new for error in of}
    assert all(error.attribute == fd.rhs and error.old == rows[error.row][fd.rhs] for error in of)
    spoilt = [group for group in groups if any(i in new for i in group)]
    possible = sum(can_be_overwritten(rows, group, fd, trees) for group in groups)
    assert len(spoilt) == min(math.floor(share * len(groups) + 0.5), possible)
    assert sum(len([i for i in group if i in new]) for group in spoilt) == len(of)
    tree = tree_of(fd.rhs, trees)
    for group in spoilt:
        assert can_be_overwritten(rows, group, fd, trees)
        places = [at for at, i in enumerate(group) if i in new]
        assert all(b == a + 1 for a, b in pairwise(places)), "one block"
        (value,) = {new[group[at]] for at in places}
        assert value in {row[fd.rhs] for row in rows}
        assert not any(tree.comparable(value, rows[i][fd.rhs]) for i in group)
    return sum(all(i in new for i in group) for group in spoilt)


@examples(40, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    relations(max_rows=18), dependencies(most=2), st.sampled_from([1 / 3, 0.5, 1.0]), st.integers(0, 3), st.booleans()
)
def test_a_block_of_so_many_groups_gets_one_other_value(
    case: Case, fds: list[Dependency], share: float, seed: int, others_too: bool
) -> None:
    fds = list({fd.rhs: fd for fd in fds}.values())  # a cell that two could overwrite is overwritten once
    rates = {"rate": 0.1, "side": "both", "random_rate": 0.1} if others_too else {}
    dirty = generate(case, fds, overwritten=share, seed=seed, **rates)
    blocks = [error for error in dirty.errors if error.kind is ErrorKind.OVERWRITTEN]
    whole = {
        str(named): check_blocks(case, fd, [e for e in blocks if e.fd == named], share)
        for fd, named in zip(fds, to_fds(fds), strict=True)
    }
    assert whole == {str(fd): groups for fd, groups in dirty.overwritten_whole.items()}
    overwritten = {error.row for error in blocks}
    others = Counter(error.row for error in dirty.errors if error.kind is not ErrorKind.OVERWRITTEN)
    assert max(others.values(), default=1) == 1 and not overwritten & set(others)


@examples(40, suppress_health_check=[HealthCheck.filter_too_much])
@given(relations(max_rows=14), dependencies(most=3), st.sampled_from([0.0, 0.5]), st.integers(0, 3))
def test_an_error_is_seen_if_its_tuple_is_in_a_violation_of_a_dependency_that_names_its_attribute(
    case: Case, fds: list[Dependency], overwritten: float, seed: int
) -> None:
    dirty = generate(case, fds, overwritten=overwritten, random_rate=0.3, rate=0.1, side="both", seed=seed)
    rows: Rows = dirty.relation.table.to_pylist()
    undone = [dict(row) for row in rows]
    for error in dirty.errors:
        assert undone[error.row][error.attribute] == error.new != error.old
        undone[error.row][error.attribute] = error.old
        seen = any(
            error.row in pair
            for fd in fds
            if error.attribute in (*fd.lhs, fd.rhs)
            for pair in violations(rows, fd, case[1])
        )
        assert error.is_seen == seen
    assert undone == case[0] and dirty.unseen == sum(not error.is_seen for error in dirty.errors)


def test_blocks_are_of_any_length_up_to_all_alike_likely() -> None:
    data = {"X": [f"x{n // 10}" for n in range(30_000)], "Y": [f"y{n // 10}" for n in range(30_000)]}
    dirty = ErrorGenerator("X -> Y", overwritten=1 / 3, seed=1).dirty(data, engine=ENGINE)
    lengths = Counter(Counter(error.old for error in dirty.errors).values())
    assert sum(lengths.values()) == 1_000 and set(lengths) == set(range(1, 11))
    assert np.std([lengths[n] for n in range(1, 11)]) < 20
    assert {str(fd): n for fd, n in dirty.overwritten_whole.items()} == {"X -> Y": lengths[10]}
    assert dirty.unseen == 10 * lengths[10]


def test_two_dependencies_may_overwrite_one_tuple_but_no_cell_twice() -> None:
    data = {"X": [str(n % 4) for n in range(80)], "Z": [str(n % 5) for n in range(80)], "Y": ["a", "b"] * 40}
    data["W"] = [f"w{z}" for z in data["Z"]]
    two = ErrorGenerator(["X -> Y", "Z -> W"], overwritten=1, seed=1).dirty(data, engine=ENGINE)
    assert max(Counter(error.row for error in two.errors).values()) == 2 and two.dirty_rows < len(two.errors)
    same = {**data, "Y": ["a"] * 79 + ["b"]}
    same["Z"], same["X"] = ["1"] * 40 + ["2"] * 39 + ["3"], ["0"] * 79 + ["9"]
    one = ErrorGenerator(["X -> Y", "Z -> Y"], overwritten=1, seed=3).dirty(same, engine=ENGINE)
    assert len({(error.row, error.attribute) for error in one.errors}) == len(one.errors)


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"overwritten": 1.5}, "the share of overwritten groups is a share of the groups from 0 to 1"),
        ({"overwritten": 0.3, "non_interacting": True}, "errors of an overwritten group share it; they cannot be"),
        ({"overwritten": 0.1}, "the share of overwritten groups, 0.1, comes to no group at all; give a higher one"),
    ],
)
def test_what_cannot_be_is_said(how: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError) as raised:
        ErrorGenerator("X -> Y", **how).dirty({"X": ["a", "a"], "Y": ["1", "1"]}, engine=ENGINE)  # type: ignore[arg-type]
    assert str(raised.value).startswith(complaint)
