"""Hierarchies: what a row may be, what is known, and what is refused."""

from __future__ import annotations

import pytest

from pacas.core.hierarchy import Hierarchy, canonical_number
from pacas.errors import HierarchyError

MED = [("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "acetaminophen", "*")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "without values"),
        ([("a",)], "at least two levels"),
        ([("a", "g", "*"), ("b", "*")], "row 2 has 2 levels where row 1 has 3"),
        ([("a", "*"), ("b", "all")], "row 2 ends in 'all' where row 1 ends in '\\*'"),
        ([("a", "", "*")], "row 1 has an empty label at level 1"),
        ([("a", "g", "*"), ("a", "h", "*")], "'a' has two parents, 'g' and 'h' .row 2."),
        ([("a", "g", "i", "*"), ("b", "g", "j", "*")], "'g' has two parents, 'i' and 'j' .row 2."),
        ([("a", "b", "*"), ("b", "a", "*")], "has two parents"),
        ([("a", "b", "a", "*")], "has two parents"),
        ([("a", "*", "g", "*")], "row 1 has the root '\\*' below another value"),
    ],
)
def test_rows_that_are_not_a_tree_are_refused(rows: list[tuple[str, ...]], message: str) -> None:
    with pytest.raises(HierarchyError, match=message) as caught:
        Hierarchy.from_rows(rows)
    assert "\n" not in str(caught.value)


def test_rows_twice_are_one() -> None:
    assert list(Hierarchy.from_rows(MED + MED).rows()) == MED


def test_the_root_may_have_any_name() -> None:
    hierarchy = Hierarchy.from_rows([("a", "g", "anything"), ("b", "g", "anything")])
    assert hierarchy.root_label == "anything"
    assert hierarchy.generalize_value("a", 2) == "anything"
    assert "*" not in hierarchy


def test_a_label_on_several_levels_is_one_node_at_its_lowest() -> None:
    hierarchy = Hierarchy.from_rows([("a", "a", "g", "*"), ("b", "p", "g", "*")])
    assert hierarchy.level[hierarchy.code("a")] == 0
    assert [hierarchy.generalize_value("a", level) for level in range(4)] == ["a", "a", "g", "*"]
    assert hierarchy.ground_labels == ["a", "b"]


def test_a_label_with_values_below_it_is_not_ground_even_on_level_0() -> None:
    hierarchy = Hierarchy.from_rows([("g", "g", "*"), ("a", "g", "*")])
    assert hierarchy.ground_labels == ["a"]
    assert hierarchy.general_labels == ["g", "*"]
    assert hierarchy.generalize_value("g", 1) == "g"


def test_an_unknown_value_is_a_leaf_under_the_root() -> None:
    hierarchy = Hierarchy.from_rows(MED).admit(["appaprtin", "dolex", "appaprtin"])
    assert len(hierarchy) == len(Hierarchy.from_rows(MED)) + 1
    assert [hierarchy.generalize_value("appaprtin", level) for level in range(3)] == ["appaprtin", "appaprtin", "*"]
    code = hierarchy.code("appaprtin")
    comparable = {v for v in hierarchy.labels if hierarchy.comparable(code, hierarchy.code(v))}
    assert comparable == {"appaprtin", "*"}


def test_a_null_is_comparable_with_itself_and_the_root() -> None:
    hierarchy = Hierarchy.from_rows(MED).admit([None, "?"])
    null = hierarchy.code(None)
    assert {v for v in hierarchy.labels if hierarchy.comparable(null, hierarchy.code(v))} == {None, "*"}
    assert [hierarchy.generalize_value(None, level) for level in range(3)] == [None, None, "*"]
    assert None not in hierarchy.ground_labels
    assert None not in [v for row in hierarchy.rows() for v in row]


def test_admitting_changes_nothing_in_the_hierarchy_itself() -> None:
    hierarchy = Hierarchy.from_rows(MED)
    more = hierarchy.admit(["x", None]).admit(["y"])
    assert "x" not in hierarchy
    assert None not in hierarchy
    assert {"x", "y", None} <= set(more.labels)
    assert hierarchy.admit(["dolex", "*"]) is hierarchy
    root = more.root
    assert all(more.precedes(c, root) for c in range(len(more)))


def test_a_value_must_be_admitted_before_it_has_a_code() -> None:
    with pytest.raises(HierarchyError, match="does not know the value") as caught:
        Hierarchy.from_rows(MED).code("secret")
    assert "secret" not in str(caught.value)


def test_an_attribute_without_a_hierarchy_has_its_values_and_the_root() -> None:
    flat = Hierarchy.flat(["a", "b", "*", "a"])
    assert (flat.height, sorted(flat.ground_labels), flat.general_labels) == (1, ["a", "b"], ["*"])
    assert flat.generalize_value("a", 1) == "*"
    assert Hierarchy.flat(()).ground_labels == []


@pytest.mark.parametrize("level", [-1, 3, 99])
def test_a_level_that_is_not_there_is_refused(level: int) -> None:
    hierarchy = Hierarchy.from_rows(MED)
    message = f"no level {level} in the hierarchy; its levels are 0 .ground. to 2 .the root."
    for ask in (
        lambda: hierarchy.generalize_value("dolex", level),
        lambda: hierarchy.generalize(hierarchy.encode(["dolex"]), level),
        lambda: hierarchy.at_level(level),
    ):
        with pytest.raises(HierarchyError, match=message):
            ask()


def test_the_values_at_a_level() -> None:
    hierarchy = Hierarchy.from_rows(MED)
    assert hierarchy.at_level(0) == ["ibuprofen", "naproxen", "dolex"]
    assert hierarchy.at_level(1) == ["NSAID", "acetaminophen"]
    assert hierarchy.at_level(2) == ["*"]


def test_the_repr_shows_no_value() -> None:
    assert repr(Hierarchy.from_rows(MED)) == "Hierarchy(height=2, ground=3, nodes=6)"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("51", "51"),
        ("51.0", "51"),
        ("051", "51"),
        ("5.1e1", "51"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("-3.50", "-3.5"),
        ("0.1", "0.1"),
        (".5", "0.5"),
        ("n/a", "n/a"),
        ("", ""),
        ("nan", "nan"),
        ("inf", "inf"),
        ("999999999999999", "999999999999999"),
        ("12345678901234567890", "12345678901234567890"),
        ("[31,60]", "[31,60]"),
    ],
)
def test_one_spelling_per_number(text: str, number: str) -> None:
    assert canonical_number(text) == number


def test_a_numeric_hierarchy_knows_numbers_in_any_spelling() -> None:
    ages = Hierarchy.from_rows([("51", "[51,60]", "*"), ("52.0", "[51,60]", "*")], numeric=True)
    assert ages.ground_labels == ["51", "52"]
    assert "51.0" in ages
    assert ages.code("051") == ages.code("51")
    assert ages.generalize_value("5.1e1", 0) == "51"
    assert len(ages.admit(["51.00", "53", "53.0"])) == len(ages) + 1
    assert "51.0" not in Hierarchy.from_rows([("51", "[51,60]", "*")])


def test_a_deep_chain_does_not_run_out_of_stack() -> None:
    labels = [f"v{n}" for n in range(3000)]
    hierarchy = Hierarchy.from_rows([labels])
    assert hierarchy.precedes(hierarchy.code("v0"), hierarchy.code("v2999"))
    assert not hierarchy.precedes(hierarchy.code("v2"), hierarchy.code("v1"))
