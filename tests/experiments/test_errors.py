"""Errors put into clean relations: how many, of which kinds, where, and how hard they are to repair."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pacas.client.classes.check import check
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, SchemaError
from pacas.experiments.errors.dirty_relation import DirtyRelation, ErrorKind
from pacas.experiments.errors.error_generator import ErrorGenerator
from pacas.experiments.errors.random_errors import SPOIL

ENGINE = DuckEngine(threads=1)
MED = Hierarchy.from_rows(
    [
        ("ibuprofen", "NSAID", "analgesic", "*"),
        ("naproxen", "NSAID", "analgesic", "*"),
        ("tylenol", "acetaminophen", "analgesic", "*"),
        ("intropes", "vasodilators", "cardiovascular", "*"),
    ]
)


def table(rows: int = 200, groups: int = 10) -> Relation:
    return Relation.of(
        {
            "X": [f"x{n % groups}" for n in range(rows)],
            "Y": [f"y{n % groups}" for n in range(rows)],
            "Z": [f"z{n % groups % 5}" for n in range(rows)],
            "N": [n % 37 for n in range(rows)],
        }
    )


def generate(data: Any, *fds: str, **how: Any) -> DirtyRelation:
    return ErrorGenerator(fds, **how).dirty(data, engine=ENGINE)


# ---- how many, and where -----------------------------------------------------------------------------------------


def test_the_rate_is_the_share_of_tuples_with_an_error() -> None:
    dirty = generate(table(), "X -> Y", rate=0.1)
    assert len(dirty.errors) == 20 == len({error.row for error in dirty.errors})
    assert dirty.short == ()
    assert {error.attribute for error in dirty.errors} == {"Y"}
    assert [error.row for error in dirty.errors] == sorted(error.row for error in dirty.errors)


def test_a_rate_is_spread_evenly_over_dependencies_and_sides() -> None:
    dirty = generate(table(), "X -> Y", "X -> Z", rate=0.11, side="both")
    of = Counter((str(error.fd), error.kind is ErrorKind.LHS_DOMAIN) for error in dirty.errors)
    assert of == {("X -> Y", False): 6, ("X -> Y", True): 6, ("X -> Z", False): 5, ("X -> Z", True): 5}


def test_each_dependency_and_side_may_have_a_rate_of_its_own() -> None:
    dirty = generate(table(), "X -> Y", "X -> Z", rate={"X -> Y": 0.05, "X -> Z:lhs": 0.1})
    of = Counter((str(error.fd), error.attribute) for error in dirty.errors)
    assert of == {("X -> Y", "Y"): 10, ("X -> Z", "X"): 20}


def test_random_errors_go_to_other_tuples() -> None:
    dirty = generate(table(), "X -> Y", rate=0.3, random_rate=0.2, attributes=["Z", "N"])
    assert sum(error.fd is None for error in dirty.errors) == 40
    assert len({error.row for error in dirty.errors}) == 100
    assert {error.attribute for error in dirty.errors if error.fd is None} == {"Z", "N"}


def test_random_errors_need_no_dependency_and_then_go_anywhere() -> None:
    dirty = generate(table(), random_rate=0.5)
    assert {error.attribute for error in dirty.errors} == {"X", "Y", "Z", "N"}


def test_the_same_seed_gives_the_same_errors_and_another_one_others() -> None:
    one, same, other = (
        generate(table(), "X -> Y", rate=0.1, side="both", random_rate=0.1, seed=seed) for seed in (5, 5, 6)
    )
    assert one.errors == same.errors
    assert one.errors != other.errors


def test_a_rate_of_nothing_changes_nothing() -> None:
    dirty = generate(table(), "X -> Y", rate=0)
    assert dirty.errors == () and dirty.relation.table == table().table


def test_at_most_half_of_a_group_is_touched_and_what_is_short_is_said() -> None:
    dirty = generate(table(20, groups=4), "X -> Y", rate=0.9)
    assert [tuple(short) for short in dirty.short] == [("X -> Y:rhs", 18, 8)]
    assert Counter(error.row % 4 for error in dirty.errors) == {0: 2, 1: 2, 2: 2, 3: 2}


def test_groups_of_one_row_get_no_errors() -> None:
    data = {"X": ["a", "b", "c", "c"], "Y": ["1", "2", "3", "3"]}
    for seed in range(8):
        (error,) = generate(data, "X -> Y", rate=0.25, seed=seed).errors
        assert error.row in (2, 3)


def test_groups_that_violate_the_dependency_already_are_left_alone_and_counted() -> None:
    data = {"X": ["a", "a", "a", "b", "b", "b"], "Y": ["1", "2", "1", "3", "3", "3"]}
    for side in ("rhs", "both"):
        dirty = generate(data, "X -> Y", rate=0.2, side=side)
        assert {error.row for error in dirty.errors} <= {3, 4, 5}
        assert {str(fd): groups for fd, groups in dirty.left_alone.items()} == {"X -> Y": 1}


def test_non_interacting_errors_stand_one_to_a_group() -> None:
    dirty = generate(table(), "X -> Y", rate=0.5, non_interacting=True)
    assert Counter(error.row % 10 for error in dirty.errors) == dict.fromkeys(range(10), 1)
    assert dirty.short[0][1:] == (100, 10)


# ---- values ------------------------------------------------------------------------------------------------------


def test_a_value_that_is_comparable_with_the_groups_is_no_error() -> None:
    """NSAID and analgesic stand in the column and are above the group's value: neither would show."""
    data = {
        "X": ["a"] * 40 + ["b", "b", "c", "c", "d", "d"],
        "MED": ["ibuprofen"] * 40 + ["NSAID", "NSAID", "analgesic", "analgesic", "intropes", "intropes"],
    }
    dirty = generate(data, "X -> MED", rate=0.4, value="domain", hierarchies={"MED": MED})
    new = {error.new for error in dirty.errors if error.row < 40}
    assert new == {"intropes"}
    assert len(dirty.errors) == 18


def test_a_group_that_shows_a_value_and_its_ancestor_agrees_and_its_ancestor_decides() -> None:
    data = {"X": ["a"] * 4 + ["b"] * 2, "MED": ["ibuprofen", "NSAID", "NSAID", "ibuprofen", "naproxen", "naproxen"]}
    for seed in range(6):
        dirty = generate(data, "X -> MED", rate=0.3, value="domain", seed=seed, hierarchies={"MED": MED})
        assert all(error.row > 3 and error.new == "ibuprofen" for error in dirty.errors)


def test_fresh_values_are_each_new_and_numbers_stay_numbers() -> None:
    data = {"X": ["a"] * 10 + ["b"] * 10, "Y": [7] * 10 + [12] * 10, "S": ["fresh-1"] * 20}
    dirty = generate(data, "X -> Y", "X -> S", rate={"X -> Y": 0.3, "X -> S": 0.1}, value="fresh")
    numbers = [error.new for error in dirty.errors if error.attribute == "Y"]
    texts = [error.new for error in dirty.errors if error.attribute == "S"]
    assert sorted(map(str, numbers), key=int) == ["13", "14", "15", "16", "17", "18"]
    assert sorted(map(str, texts)) == ["fresh-2", "fresh-3"]
    assert dirty.relation.table.schema == pa.schema([("X", pa.string()), ("Y", pa.int64()), ("S", pa.string())])


def test_a_left_side_joins_another_group_one_attribute_away() -> None:
    rows = [(g, d) for g in ("m", "f") for d in ("ulcer", "migraine", "flu") for _ in range(6)]
    data = {"G": [g for g, _ in rows], "D": [d for _, d in rows], "MED": [f"{g}-{d}" for g, d in rows]}
    dirty = generate(data, "G, D -> MED", rate=0.3, side="lhs", seed=3)
    assert dirty.by_kind == {"lhs_domain": 11}
    assert {error.attribute for error in dirty.errors} == {"G", "D"}
    assert check(dirty.relation, ["G, D -> MED"], engine=ENGINE).violations > 0


def test_a_column_becomes_text_where_a_new_value_does_not_have_its_type() -> None:
    data = {"A": pa.array([10, 20, 30], pa.int32()), "B": pa.array([0.5, 1.5, None])}
    dirty = generate(data, random_rate=1 / 3, kinds=["append"], attributes=["A"], seed=1)
    (error,) = dirty.errors
    assert dirty.relation.table.column("A").to_pylist()[error.row] in (int(error.new or 0), error.new)
    text = generate({"A": [1, 2, 3]}, random_rate=1, kinds=["swap", "typo"]).relation.table.column("A")
    assert text.type in (pa.int64(), pa.string())
    padded = generate({"A": [100, 200, 300]}, random_rate=1, kinds=["swap"]).relation.table.column("A")
    assert padded.type == pa.string() and sorted(padded.to_pylist()) == ["010", "020", "030"]


@pytest.mark.parametrize("kind", [kind.value for kind in SPOIL])
def test_a_random_error_is_what_its_kind_says(kind: str) -> None:
    words = ["ulcer", "migraine", "osteoarthritis", "flu"] * 25
    numbers = [str(n) for n in range(100, 200)]
    for name, values in {"W": words, "N": numbers}.items():
        if name == "W" and kind in ("numeric", "outlier"):
            continue
        dirty = generate({name: values, "more": ["-"] * 100}, random_rate=0.4, kinds=[kind], attributes=[name])
        assert dirty.by_kind == {kind: 40}
        for error in dirty.errors:
            assert error.old == values[error.row] != error.new
            assert _is(kind, values[error.row], error.new, values), (kind, error.old, error.new)


def _is(kind: str, old: str, new: str | None, column: list[str]) -> bool:
    if new is None:
        return kind == "null"
    match kind:
        case "typo":
            return len(old) == len(new) and sum(a != b for a, b in zip(old, new, strict=True)) == 1
        case "append":
            return new[:-1] == old
        case "drop":
            return any(old[:i] + old[i + 1 :] == new for i in range(len(old)))
        case "swap":
            changed = [i for i in range(len(old)) if old[i] != new[i]]
            return sorted(old) == sorted(new) and len(changed) == 2 and changed[1] == changed[0] + 1
        case "domain":
            return new in column
        case "numeric":
            return 1 <= abs(int(old) - int(new)) <= 10
        case "outlier":
            return int(new) < 100 - 3 * 98 or int(new) > 199 + 3 * 98
    return False


def test_cells_that_a_kind_does_not_fit_are_not_touched_and_that_is_said() -> None:
    data = {"A": ["x", None, "y", "z"], "B": ["1", "1", "1", "1"]}
    dirty = generate(data, random_rate=1, kinds=["drop"])
    assert (len(dirty.errors), dirty.short) == (0, (("random", 4, 0),))


# ---- repairability -----------------------------------------------------------------------------------------------


def test_repairability_is_the_share_of_the_group_that_holds_the_old_value() -> None:
    data = {"X": ["a"] * 5 + ["b"] * 5, "Y": ["1"] * 5 + ["2"] * 5}
    (error,) = generate(data, "X -> Y", rate=0.1).errors
    assert error.repairability == (1.0, 0.8) and error.repairability.by_majority
    dirty = generate(data, "X -> Y", rate=0.4, value="fresh")
    assert [error.repairability for error in dirty.errors] == [(1.0, 0.6)] * 4


def test_a_left_sides_repairability_looks_at_the_tuples_with_the_same_right_side() -> None:
    data = {"X": ["a"] * 5 + ["b"] * 5 + ["c"] * 2, "Y": ["1"] * 5 + ["2"] * 5 + ["1"] * 2}
    dirty = generate(data, "X -> Y", rate=0.1, side="lhs", seed=2)
    (error,) = dirty.errors
    held = sum(x == error.old and y == data["Y"][error.row] for x, y in zip(data["X"], data["Y"], strict=True))
    alike = data["Y"].count(data["Y"][error.row])
    assert error.repairability == pytest.approx((held / alike, (held - 1) / alike))


def test_a_vote_does_not_bring_back_what_an_error_in_a_group_of_two_has_taken() -> None:
    data = {"X": [str(n // 2) for n in range(20)], "Y": [str(n // 2) for n in range(20)]}
    dirty = generate(data, "X -> Y", rate=0.1)
    assert [error.repairability for error in dirty.errors] == [(1.0, 0.5)] * 2
    assert not any(error.repairability and error.repairability.by_majority for error in dirty.errors)


# ---- what is given -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"rate": 2}, "the rate is a share of the tuples from 0 to 1, such as 0.1, and not 2"),
        ({"rate": float("nan")}, "the rate is a share of the tuples from 0 to 1, such as 0.1, and not nan"),
        ({"rate": 0.7, "random_rate": 0.7}, "the rates come to 1.4 errors a tuple, and no tuple gets two; lower them"),
        ({"rate": {"X -> Z": 0.1}}, "a rate for 'X -> Z', which is not among the dependencies; did you mean 'X -> Y'?"),
        ({"rate": 0.1, "side": "left"}, "no side 'left'; there is rhs, lhs, both"),
        ({"rate": 0.1, "value": "new"}, "no way to choose a value 'new'; there is fresh, domain, both"),
        ({"random_rate": 0.1, "kinds": ["type"]}, "no kind of random error 'type'; did you mean 'typo'?"),
        ({"rate": 0.001}, "the rate, 0.001 of 200 rows, comes to no tuple at all; give a higher one"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(how: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError) as raised:
        generate(table(), "X -> Y", **how)
    assert str(raised.value) == complaint


def test_a_rate_twice_for_one_side_is_a_mistake() -> None:
    with pytest.raises(InputError, match="name a side of a dependency twice"):
        generate(table(), "X -> Y", rate={"X -> Y": 0.1, "X -> Y:rhs": 0.1})


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(SchemaError, match="no column 'W'"):
        generate(table(), "X -> W", rate=0.1)
    with pytest.raises(SchemaError, match="no column 'W'"):
        generate(table(), random_rate=0.1, attributes=["W"])
    with pytest.raises(SchemaError, match="no column 'W'"):
        generate(table(), "X -> Y", rate=0.1, hierarchies={"W": MED})


def test_a_dependency_without_any_place_for_an_error_is_one_and_says_why() -> None:
    with pytest.raises(InputError) as raised:
        generate({"X": ["a", "a", "b"], "Y": ["1", "2", "3"]}, "X -> Y", rate=0.5)
    assert str(raised.value) == (
        "no place for a detectable error of 'X -> Y:rhs': 0 groups of several rows agree, 1 are of one row, "
        "1 violate the dependency already; give another dependency, or cleaner data"
    )


def test_no_values_are_shown_where_errors_are() -> None:
    dirty = generate({"X": ["secret"] * 4, "Y": ["private"] * 4}, "X -> Y", rate=0.3)
    shown = repr(dirty) + repr(dirty.errors)
    assert "private" not in shown and "secret" not in shown
    assert repr(dirty) == "DirtyRelation(4 rows, 1 errors (rhs_fresh: 1))"


def test_the_input_is_not_touched() -> None:
    data = table()
    before = data.table.to_pydict()
    generate(data, "X -> Y", rate=0.3, side="both").relation  # noqa: B018
    assert data.table.to_pydict() == before


def test_large_groups_take_as_many_errors_as_asked_for() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 3000)
    dirty = generate({"X": [str(v) for v in x], "Y": [f"y{v}" for v in x]}, "X -> Y", rate=0.25, side="both")
    assert len(dirty.errors) == 750 and not dirty.short
