"""What is wrong with a relation: counts, classes, and what cannot be checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas import example
from pacas.client.classes.check import check
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, ParseError, SchemaError
from pacas.formats.relations.relations import scan_relation

ENGINE = DuckEngine(threads=1)

TABLE = {"A": ["a", "a", "a", "b", "b"], "B": ["x", "x", "y", "x", "y"], "C": ["1", "1", "1", "1", "2"]}


def violations(data: Any, *fds: str, **hierarchies: Hierarchy) -> int:
    return check(data, fds, hierarchies, engine=ENGINE).violations


def test_pairs_are_counted_once_and_groups_once() -> None:
    result = check(TABLE, ["A -> B"], engine=ENGINE)
    (dependency,) = result.dependencies
    assert (dependency.violations, dependency.groups) == (3, 2)
    assert [(c.attribute, c.rows.tolist(), c.errors) for c in result.classes] == [
        ("B", [0, 1, 2], 2),
        ("B", [3, 4], 1),
    ]
    assert (result.rows, result.consistent) == (5, False)


def test_a_right_side_of_several_attributes_is_split() -> None:
    result = check(TABLE, ["A -> B, C"], engine=ENGINE)
    assert [(str(d.fd), d.violations) for d in result.dependencies] == [("A -> B", 3), ("A -> C", 1)]


def test_a_dependency_given_twice_counts_once() -> None:
    assert violations(TABLE, "A -> B", "A -> B") == violations(TABLE, "A -> B")


def test_one_dependency_may_be_given_bare() -> None:
    assert check(TABLE, "A -> B", engine=ENGINE).violations == 3
    assert check(TABLE, [FunctionalDependency(("A",), "B")], engine=ENGINE).violations == 3


def test_nulls() -> None:
    assert violations({"A": [None, None], "B": ["x", "y"]}, "A -> B") == 0
    assert violations({"A": ["a", "a"], "B": ["x", None]}, "A -> B") == 1
    assert violations({"A": ["a", "a"], "B": ["x", ""]}, "A -> B") == 1
    assert violations({"A": ["a", "a"], "B": pa.array([None, None], pa.string())}, "A -> B") == 0
    assert violations({"A": ["a", "a"], "B": [None, "*"]}, "A -> B") == 0


def test_general_and_unknown_values() -> None:
    med = example.med
    assert violations({"A": ["a", "a"], "B": ["NSAID", "ibuprofen"]}, "A -> B", B=med) == 0
    assert violations({"A": ["a", "a"], "B": ["NSAID", "tylenol"]}, "A -> B", B=med) == 1
    assert violations({"A": ["a", "a"], "B": ["NSAID", "appaprtin"]}, "A -> B", B=med) == 1
    assert violations({"A": ["a", "a"], "B": ["*", "appaprtin"]}, "A -> B", B=med) == 0
    assert violations({"A": ["NSAID", "NSAID"], "B": ["x", "y"]}, "A -> B", A=med) == 0
    assert violations({"A": ["appaprtin", "appaprtin"], "B": ["x", "y"]}, "A -> B", A=med) == 1
    assert violations({"A": ["*", "*"], "B": ["x", "y"]}, "A -> B") == 0


def test_a_class_whose_values_lie_on_one_path_needs_no_repair() -> None:
    table = {"A": ["a"] * 4, "B": ["ibuprofen", "NSAID", "analgesic", "*"]}
    result = check(table, ["A -> B"], {"B": example.med}, engine=ENGINE)
    assert (result.consistent, len(result.classes), list(result.classes)) == (True, 0, [])


def test_a_class_may_be_unresolved_though_no_pair_violates() -> None:
    """A ties row 0 to row 1 and B ties row 1 to row 2; rows 0 and 2 differ but no dependency compares them."""
    table = {"A": ["a", "a", "b"], "B": ["x", "y", "y"], "C": ["ibuprofen", "NSAID", "naproxen"]}
    result = check(table, ["A -> C", "B -> C"], {"C": example.med}, engine=ENGINE)
    assert result.consistent
    assert [(c.rows.tolist(), c.errors) for c in result.classes] == [([0, 1, 2], 0)]


def test_ties_go_to_the_lowest_first_row_then_to_column_order() -> None:
    table = {"B": ["x", "y", "x", "y"], "A": ["a", "a", "b", "b"], "C": ["1", "2", "1", "2"]}
    result = check(table, ["A -> C", "A -> B"], engine=ENGINE)
    assert [(c.attribute, c.rows.tolist()) for c in result.classes] == [
        ("B", [0, 1]),
        ("C", [0, 1]),
        ("B", [2, 3]),
        ("C", [2, 3]),
    ]


def test_errors_count_pairs_in_which_a_cell_stands_on_the_left() -> None:
    """B's class {0, 1} is also on the left of B -> C, where rows 0 and 2 clash."""
    table = {"A": ["a", "a", "b"], "B": ["x", "y", "x"], "C": ["1", "2", "3"]}
    result = check(table, ["A -> B", "B -> C"], engine=ENGINE)
    assert [(c.attribute, c.rows.tolist(), c.errors) for c in result.classes] == [("B", [0, 1], 2), ("C", [0, 2], 1)]


def test_classes_are_a_sequence() -> None:
    classes = check(TABLE, ["A -> B"], engine=ENGINE).classes
    assert classes[-1].rows.tolist() == [3, 4]
    assert [c.errors for c in reversed(classes)] == [1, 2]
    assert [c.errors for c in classes[:1]] == [2]
    with pytest.raises(IndexError):
        classes[2]


@pytest.mark.parametrize(
    "make",
    [
        lambda: TABLE,
        lambda: pa.table(TABLE),
        lambda: pd.DataFrame(TABLE),
        lambda: pl.DataFrame(TABLE),
        lambda: Relation.of(TABLE),
        lambda: duckdb.sql("SELECT * FROM (VALUES ('a','x'),('a','x'),('a','y'),('b','x'),('b','y')) t(A, B)"),
    ],
    ids=["mapping", "arrow", "pandas", "polars", "relation", "duckdb"],
)
def test_tables_of_all_kinds(make: Callable[[], Any]) -> None:
    assert violations(make(), "A -> B") == 3


def test_files(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    pq.write_table(pa.table(TABLE), tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        assert violations(scan_relation(tmp_path / name), "A -> B") == 3


def test_numbers_are_equal_as_numbers_where_the_hierarchy_says_so() -> None:
    ages = Hierarchy.from_rows([("51", "[51,60]", "*"), ("52", "[51,60]", "*")], numeric=True)
    assert violations({"A": ["51", "51.0"], "B": ["x", "y"]}, "A -> B", A=ages) == 1
    assert violations({"A": ["51", "51.0"], "B": ["x", "y"]}, "A -> B") == 0
    assert violations({"A": [51.0, 51.0], "B": ["x", "y"]}, "A -> B") == 1
    assert violations({"A": ["a", "a"], "B": ["51", "51.0"]}, "A -> B", B=ages) == 0
    assert violations({"A": ["a", "a"], "B": ["51", "[51,60]"]}, "A -> B", B=ages) == 0


def test_the_repr_shows_counts_and_no_values() -> None:
    result = check(TABLE, ["A -> B"], engine=ENGINE)
    assert repr(result) == "Check(5 rows, 3 violations, 2 unresolved classes)"
    assert repr(result.classes) == "EquivalenceClasses(2 unresolved)"


def test_progress_is_told_of_each_step() -> None:
    told: list[str] = []
    check(TABLE, ["A -> B", "A -> C"], engine=ENGINE, progress=told.append)
    assert "checking A -> B" in told
    assert "checking A -> C" in told


@pytest.mark.parametrize(
    ("data", "fds", "hierarchies", "kind", "message"),
    [
        (TABLE, [], {}, InputError, "no dependency to check"),
        (TABLE, ["A -> "], {}, ParseError, "the right side is empty"),
        (TABLE, ["A -> MED"], {}, SchemaError, "no column 'MED' in the table"),
        (TABLE, ["a -> B"], {}, SchemaError, "no column 'a' in the table; did you mean 'A'"),
        (TABLE, ["A -> B"], {"D": example.med}, SchemaError, "no column 'D' in the table"),
        ({"A": [], "B": []}, ["A -> B"], {}, InputError, "no rows"),
        ({}, ["A -> B"], {}, SchemaError, "no columns"),
        ([1, 2], ["A -> B"], {}, InputError, "cannot read a relation from list"),
        ("t.csv", ["A -> B"], {}, InputError, "cannot read a relation from str"),
        ({"A": ["1"], "B": ["1", "2"]}, ["A -> B"], {}, InputError, "B"),
        ({"A": [1, "secret"], "B": ["1", "2"]}, ["A -> B"], {}, InputError, "A"),
        (pd.DataFrame({"A": [1, "secret"], "B": ["1", "2"]}), ["A -> B"], {}, InputError, "A"),
    ],
    ids=[
        "no dependency",
        "bad dependency",
        "missing column",
        "wrong case",
        "hierarchy without a column",
        "no rows",
        "no columns",
        "a list",
        "a path",
        "uneven columns",
        "a column of mixed types",
        "a pandas column of mixed types",
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_line(
    data: Any, fds: list[str], hierarchies: dict[str, Hierarchy], kind: type[InputError], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        check(data, fds, hierarchies, engine=ENGINE)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
