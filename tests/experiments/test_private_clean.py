"""Generalized randomized response: how often cells change, what that promises, and what stays."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare, kstest

from pacas.core.relation import Relation
from pacas.errors import InputError, SchemaError
from pacas.experiments.baselines.private_clean import (
    ColumnPrivacy,
    laplace_epsilon,
    minimum_records,
    privatize,
    stated_epsilon,
    tight_epsilon,
)
from pacas.experiments.baselines.private_repair import private_repair

ROWS = 20_000
SKEWED = Relation.of({"A": ["a"] * 12_000 + ["b"] * 6_000 + ["c"] * 1_900 + [None] * 100})


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, 1.0])
def test_a_cell_is_replaced_with_probability_p_by_any_value_its_own_included(p: float) -> None:
    private = privatize(SKEWED, p=p, seed=1).relation
    before, after = (r.table.column("A").to_pylist() for r in (SKEWED, private))
    domain = ["a", "b", "c", None]
    place = {value: i for i, value in enumerate(domain)}
    observed = np.zeros((4, 4))
    np.add.at(observed, ([place[v] for v in before], [place[v] for v in after]), 1)
    sizes = observed.sum(axis=1, keepdims=True)
    expected = sizes * ((1 - p) * np.eye(4) + p / 4)
    for row in range(4):
        assert chisquare(observed[row], expected[row]).pvalue > 0.001


def test_nothing_changes_at_p_0() -> None:
    assert privatize(SKEWED, p=0, seed=1).relation.table.equals(SKEWED.table)


def test_columns_are_randomized_independently() -> None:
    relation = Relation.of({"A": ["a", "b"] * 5_000, "B": ["a", "b"] * 5_000})
    private = privatize(relation, p=1, seed=3).relation.table
    agree = sum(a == b for a, b in zip(private["A"].to_pylist(), private["B"].to_pylist(), strict=True))
    assert chisquare([agree, 10_000 - agree]).pvalue > 0.001


def test_a_seed_decides_everything() -> None:
    first, again, other = (privatize(SKEWED, seed=seed).relation.table for seed in (5, 5, 6))
    assert first.equals(again)
    assert not first.equals(other)


def test_a_column_s_noise_does_not_depend_on_the_others() -> None:
    relation = Relation.of({"A": ["a", "b"] * 50, "B": ["c", "d"] * 50})
    everything = privatize(relation, seed=2).relation.table
    only = privatize(relation, seed=2, columns=["B"]).relation.table
    assert only["B"].equals(everything["B"])
    assert only["A"].equals(relation.table["A"])


def test_a_domain_of_one_value_stays_and_tells_nothing() -> None:
    relation = Relation.of({"A": ["a"] * 5, "N": pa.nulls(5, pa.string())})
    private = privatize(relation, p=0.5, seed=1)
    assert private.relation.table.equals(relation.table)
    assert [c.domain for c in private.columns.values()] == [1, 1]
    assert private.tight_epsilon == 0


def test_an_empty_cell_and_a_null_are_one_value_of_the_domain() -> None:
    texts = privatize(Relation.of({"A": ["", None, "a", "b"] * 100}), p=1, seed=1)
    assert texts.columns["A"].domain == 3
    assert set(texts.relation.table["A"].to_pylist()) == {None, "a", "b"}
    numbers = privatize(Relation.of({"A": [1.5, None, float("nan"), 2.5] * 100}), p=1, seed=1)
    assert numbers.columns["A"].domain == 3
    assert set(numbers.relation.table["A"].to_pylist()) == {None, 1.5, 2.5}


def test_a_discrete_column_keeps_its_type() -> None:
    coded = pa.array(["x", "y", "x", "x"]).dictionary_encode()
    relation = Relation.of({"I": [1, 2, 3, 4], "B": [True, False, True, True], "D": coded})
    private = privatize(relation, seed=1).relation.table
    assert private.schema.types == [pa.int64(), pa.bool_(), pa.string()]
    assert set(private["I"].to_pylist()) <= {1, 2, 3, 4}


def test_a_numeric_column_gets_laplace_noise_and_keeps_its_nulls() -> None:
    ages = [20, 70, None, 45] * 5_000
    private = privatize(Relation.of({"AGE": ages}), seed=4, scales={"AGE": 10})
    after = private.relation.table["AGE"].to_pylist()
    assert [i for i, v in enumerate(after) if v is None] == list(range(2, 20_000, 4))
    noise = [v - a for v, a in zip(after, ages, strict=True) if a is not None]
    assert kstest(noise, "laplace", args=(0, 10)).pvalue > 0.001
    assert private.columns["AGE"] == ColumnPrivacy(5.0, 5.0)


def test_numbers_as_text_are_numbers_and_other_text_is_not() -> None:
    private = privatize(Relation.of({"AGE": ["20", "", "70"]}), seed=4, scales={"AGE": 0})
    assert private.relation.table["AGE"].to_pylist() == [20.0, None, 70.0]
    with pytest.raises(InputError, match="column 'AGE' holds values that are not numbers") as raised:
        privatize(Relation.of({"AGE": ["forty"]}), seed=4, scales={"AGE": 1})
    assert "forty" not in str(raised.value)


# ---- ε and the number of records ----------------------------------------------------------------------------------


def test_stated_epsilons_by_hand() -> None:
    assert stated_epsilon(0.5) == pytest.approx(log(4))
    assert stated_epsilon(0.25) == pytest.approx(log(10))
    assert stated_epsilon(1) == 0
    assert stated_epsilon(0) == inf


def test_tight_epsilons_by_hand() -> None:
    assert tight_epsilon(0.5, 61) == pytest.approx(log(62))
    assert tight_epsilon(0.25, 2) == pytest.approx(log(7))
    assert tight_epsilon(1, 61) == 0
    assert tight_epsilon(0, 2) == inf
    assert tight_epsilon(0.5, 1) == 0


@pytest.mark.parametrize("domain", [2, 3, 4, 61])
def test_the_tight_epsilon_is_the_largest_ratio_of_probabilities(domain: int) -> None:
    p = 0.3
    own, other = 1 - p + p / domain, p / domain
    assert exp(tight_epsilon(p, domain)) == pytest.approx(own / other)


def test_the_stated_epsilon_is_right_for_three_values_and_too_small_for_more() -> None:
    assert stated_epsilon(0.3) == pytest.approx(tight_epsilon(0.3, 3))
    assert stated_epsilon(0.3) < tight_epsilon(0.3, 4)
    assert stated_epsilon(0.3) > tight_epsilon(0.3, 2)


def test_numeric_epsilons_by_hand() -> None:
    assert laplace_epsilon(50, 10) == 5
    assert laplace_epsilon(50, 0) == inf
    assert laplace_epsilon(0, 0) == 0


def test_columns_compose_by_addition() -> None:
    relation = Relation.of({"A": ["a", "b"] * 4, "B": ["a", "b", "c", "d"] * 2, "N": [0, 8] * 4})
    private = privatize(relation, p=0.5, seed=1, scales={"N": 2})
    assert private.stated_epsilon == pytest.approx(2 * log(4) + 4)
    assert private.tight_epsilon == pytest.approx(log(3) + log(5) + 4)


def test_minimum_records_by_hand() -> None:
    assert minimum_records(25, 0.25, 0.05) == 483  # 100 ln 125 = 482.8
    assert minimum_records(61, 0.5) == 783  # 122 ln 610 = 782.5
    assert minimum_records(1, 0.01) == 1
    assert minimum_records(10, 0) == 1


@pytest.mark.parametrize(("domain", "p"), [(2, 0.5), (25, 0.25), (250, 0.5), (7, 1.0)])
def test_with_the_minimum_of_records_a_value_vanishes_with_probability_alpha_at_most(domain: int, p: float) -> None:
    def vanish(records: int) -> float:
        """The union bound, for a domain whose values each stand in one record."""
        return p * (domain - 1) * (1 - p / domain) ** (records - 1)

    needed = minimum_records(domain, p, 0.05)
    assert vanish(needed) <= 0.05
    assert vanish(needed // 2) > 0.05


def test_a_relation_needs_what_its_largest_domain_needs() -> None:
    relation = Relation.of({"A": ["a", "b"] * 10, "B": [str(i) for i in range(20)], "N": list(range(20))})
    private = privatize(relation, p=0.5, seed=1, scales={"N": 2})
    assert private.minimum_records() == minimum_records(20, 0.5)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="p is a probability"):
        privatize(SKEWED, p=1.5, seed=1)
    with pytest.raises(SchemaError, match="no column 'B'"):
        privatize(SKEWED, seed=1, columns=["B"])
    with pytest.raises(InputError, match="scale b"):
        laplace_epsilon(1, -1)
    with pytest.raises(InputError, match="alpha"):
        minimum_records(5, 0.5, 0)


def test_a_repr_shows_no_value() -> None:
    assert repr(privatize(SKEWED, seed=1)) == "Privatized(20,000 rows, ε = 1.39 as stated)"


# ---- with Greedy-Repair --------------------------------------------------------------------------------------------

CLIENT = Relation.of(
    {"X": ["x"] * 9 + ["y"] * 9, "B": ["a"] * 8 + ["b"] + ["b"] * 8 + ["a"], "C": [str(i) for i in range(18)]}
)


def test_without_noise_the_baseline_is_greedy_repair() -> None:
    for into in ("updates", "private"):
        found = private_repair(CLIENT, "X -> B", p=0, seed=1, into=into).relation
        assert found.table["B"].to_pylist() == ["a"] * 9 + ["b"] * 9


def test_updates_found_on_private_cells_go_into_the_client_s_relation() -> None:
    found = private_repair(CLIENT, "X -> B", p=0.3, seed=2)
    updated = {int(row): u.value for u in found.repair.updates for row in u.rows}
    own = CLIENT.table["B"].to_pylist()
    assert updated
    assert found.relation.table["B"].to_pylist() == [updated.get(i, v) for i, v in enumerate(own)]
    assert found.relation.table.drop(["B"]).equals(CLIENT.table.drop(["B"]))


def test_updates_may_stay_in_the_private_relation() -> None:
    found = private_repair(CLIENT, "X -> B", p=0.3, seed=2, into="private")
    assert found.relation is found.repair.relation
    assert found.relation.table["C"].equals(found.privatized.relation.table["C"])
    assert not found.relation.table["C"].equals(CLIENT.table["C"])


def test_with_x_left_alone_groups_are_whole() -> None:
    found = private_repair(CLIENT, "X -> B", p=0.3, seed=2, columns=["B"], into="private")
    assert found.relation.table["B"].to_pylist() == ["a"] * 9 + ["b"] * 9


def test_updates_go_nowhere_else() -> None:
    with pytest.raises(InputError, match="did you mean 'private'"):
        private_repair(CLIENT, "X -> B", seed=1, into="privat")
