"""The meter finds what free quotes and dependencies tell, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.provider.leak.guessing import guessed_more
from pacas.provider.leak.meter import LeakMeter
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.quoter.public_view import Reserve

ENGINE = DuckEngine(threads=1)
ROWS = 3_000
LOPSIDED = [("a1", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*"), ("b3", "b", "*"), ("c1", "c", "*"), ("c2", "c", "*")]
"""`a1` is an only child: what it costs at level 1 is what it costs at level 0, and no other value does."""
NUMBERS = [(f"n{row[0]}", "*") for row in LOPSIDED]
POLICY = pacas.Policy(("X",), ("A",), {"A": 0}, 2, True)


def people(groups: int = 40) -> pacas.Relation:
    random = np.random.default_rng(7)
    values = random.choice([row[0] for row in LOPSIDED], ROWS)
    table = {
        "ID": [str(i) for i in range(ROWS)],
        "X": [f"x{i}" for i in random.integers(0, groups, ROWS)],
        "A": values.tolist(),
        "N": [f"n{value}" for value in values],
    }
    return pacas.Relation.of(table)


def meter(relation: pacas.Relation, sealing: Sealing | None, sold: str = "A", most: int | None = None) -> LeakMeter:
    provider = pacas.Provider(
        relation,
        match={attribute: "ID = ID" for attribute in sold},
        policies=[POLICY],
        hierarchies={"A": Hierarchy.from_rows(LOPSIDED), "N": Hierarchy.from_rows(NUMBERS)},
        total=100,
        engine=ENGINE,
        **({"support": pacas.Generated()} if sealing is None else {"sealing": sealing}),
    )
    return LeakMeter(provider, ENGINE, relation, most)


@pytest.mark.parametrize("most", [None, 1_500], ids=["everybody", "a sample"])
@pytest.mark.parametrize("sealing", [None, Sealing()], ids=["paper", "sealed"])
def test_quotes_tell_an_only_child_unless_they_are_sealed(sealing: Sealing | None, most: int | None) -> None:
    measured = meter(people(), sealing, most=most)
    (found,) = measured.attributes()
    assert measured.rows == (most or ROWS)
    assert found.level == 1 and 0.4 < found.guessed.public_guess < 0.6
    if sealing is None:
        assert found.guessed.is_told and found.guessed.leak > 0.1
    else:
        assert (found.guessed.leak, found.guessed.interval) == (0, (0, 0))
        assert found.why == "ladders follow from public columns"
        assert measured.measured("A").guessed.interval[0] <= 0.01


def test_of_few_people_the_interval_is_that_of_what_was_measured() -> None:
    """Forty people and a clue that tells all: the gain is what it is, and the interval as wide as twenty people are."""
    value = np.arange(40) % 4
    found = guessed_more(value, value, [np.zeros(40, dtype=np.int64)])
    low, high = found.interval
    assert found.is_told and found.public_guess + found.leak == 1
    assert low < found.leak < high <= 1 and high - low > 0.2


def test_an_attacker_who_stays_with_the_public_guess_gains_nothing_by_an_interval_that_was_measured() -> None:
    """The clue tells everybody apart, and so tells nothing; the public guess is right for most."""
    value = (np.arange(400) % 10 == 0).astype(np.int64)
    public = np.zeros(400, dtype=np.int64)
    told = guessed_more(value, np.arange(400), [public])
    assert told.leak == 0 and not told.is_told
    low, high = told.interval
    assert low < 0 < high < 0.05


def test_a_clue_of_chance_is_seldom_told() -> None:
    random = np.random.default_rng(3)
    tries = [(random.integers(0, 3, 300), random.integers(0, 5, 300)) for _ in range(200)]
    told = [guessed_more(value, clue, [np.zeros(300, dtype=np.int64)]) for value, clue in tries]
    assert sum(one.is_told for one in told) <= 12  # 2.5 % are expected
    assert all(one.interval[0] <= one.leak <= one.interval[1] for one in told)


def test_an_undeclared_dependency_tells_everybody_and_leaves_groups_short() -> None:
    """With few people in a group, some groups show one value alone."""
    (found,) = meter(people(groups=1_200), Sealing(), "AN").dependencies()
    assert str(found.dependency.fd) == "N -> A" and not found.dependency.is_declared
    assert found.guessed.public_guess + found.guessed.leak > 0.99
    assert found.broken is not None and 100 < found.broken < found.groups


@pytest.mark.parametrize("reserve", Reserve)
def test_one_that_is_declared_leaves_no_group_short(reserve: Reserve) -> None:
    pairs = tuple({"N": f"n{row[0]}", "A": row[0]} for row in LOPSIDED)
    declared = [DeclaredDependency(FunctionalDependency(("N",), "A"), pairs)]
    (found,) = meter(people(groups=1_200), Sealing(declared, reserve=reserve), "AN").dependencies()
    assert found.dependency.is_declared and found.groups > 1_000
    assert found.broken == 0


@pytest.mark.parametrize("registry", [False, True])
def test_a_dictionary_with_a_public_column_on_its_left_side_leaves_no_group_short(registry: bool) -> None:
    """X and N determine A: of whom X is odd, N stands for the next value. With a registry, others may be kept back."""
    relation, values = people(groups=600), [row[0] for row in LOPSIDED]
    groups = [f"x{i}" for i in range(600)]
    after = {(x, v): f"n{values[(i + int(x[1:]) % 2) % 6]}" for x in groups for i, v in enumerate(values)}
    table = {name: relation.table[name].to_pylist() for name in ("ID", "X", "A")}
    table["N"] = [after[key] for key in zip(table["X"], table["A"], strict=True)]
    lines = tuple({"X": x, "N": n, "A": value} for (x, value), n in after.items())
    more = {"ID": [*table["ID"], "nobody"], "X": [*table["X"], "x0"]}
    sealing = Sealing(
        [DeclaredDependency(FunctionalDependency(("X", "N"), "A"), lines)],
        registry=pacas.Relation.of(more) if registry else None,
    )
    (found,) = meter(pacas.Relation.of(table), sealing, "AN").dependencies()
    assert found.dependency.is_declared and found.groups > 500 and found.broken == 0


def test_of_a_sample_no_groups_are_counted() -> None:
    (found,) = meter(people(), Sealing(), "AN", most=1_000).dependencies()
    assert found.broken is None and found.guessed.leak > 0.4


def test_where_nothing_depends_on_anything_no_dependency_is_measured() -> None:
    assert meter(people(), Sealing()).dependencies() == []
