"""The linter reports every problem, tells problems from notes, and keeps data values to itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.hierarchies.lint import Finding, HierarchyRow, lint
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError

MED = ["ibuprofen;NSAID;*", "naproxen;NSAID;*", "dolex;acetaminophen;*"]


def rows(lines: list[str]) -> list[HierarchyRow]:
    return [HierarchyRow(tuple(line.split(";")), number) for number, line in enumerate(lines, start=1)]


def problems(findings: list[Finding]) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(f.kind, f.count, f.lines) for f in findings if f.severity == "problem"]


def test_a_clean_hierarchy_has_no_findings() -> None:
    assert lint(rows(MED), values=["dolex", "ibuprofen", "dolex"], k=2) == []


def test_rows_twice_are_harmless() -> None:
    assert lint(rows(MED + MED)) == []


def test_values_that_are_not_covered_are_counted_but_not_quoted() -> None:
    (finding,) = lint(rows(MED), values=["secret", "dolex", "secret", "hidden"])
    assert (finding.kind, finding.severity, finding.count, finding.examples) == ("uncovered-values", "problem", 2, ())
    assert finding.message == "2 values of the data (in 3 cells) are not in the hierarchy"


def test_values_are_quoted_where_the_caller_allows_it() -> None:
    values = [f"v{n}" for n in range(9)]
    (finding,) = lint(rows(MED), values=values, quote_values=True)
    assert finding.examples == ("v0", "v1", "v2", "v3", "v4")
    assert finding.message.endswith(": 'v0', 'v1', 'v2', 'v3', 'v4', …")


def test_general_values_in_the_data_are_a_problem_of_their_own() -> None:
    (finding,) = lint(rows(MED), values=["NSAID", "*", "dolex"])
    assert (finding.kind, finding.count) == ("general-values", 2)
    assert "NSAID" not in finding.message


def test_a_value_that_only_stands_for_itself_on_a_higher_level_is_ground() -> None:
    assert problems(lint(rows(["?;?;*", "a;b;*"]), values=["?", "a"])) == []


def test_nulls_need_no_cover() -> None:
    assert lint(rows(MED), values=[None, "", "dolex"]) == []


def test_numbers_are_compared_as_numbers_where_the_hierarchy_is_numeric() -> None:
    ages = rows(["51;50-59;*", "45;40-49;*"])
    assert lint(ages, values=["51.0", "045"], numeric=True) == []
    assert [f.kind for f in lint(ages, values=["51.0"])] == ["uncovered-values"]


def test_every_value_with_several_parents_is_reported() -> None:
    found = lint(rows(["a;x;*", "a;y;*", "b;x;*", "b;y;*", "b;z;*", "c;z;*"]))
    assert problems(found) == [("several-parents", 2, (2,)), ("several-parents", 3, (4, 5))]
    assert [f.examples for f in found] == [("x", "y"), ("x", "y", "z")]


def test_a_general_value_with_several_parents_is_reported_too() -> None:
    assert problems(lint(rows(["a;x;p;*", "b;x;q;*"]))) == [("several-parents", 2, (2,))]


def test_uneven_rows_are_reported_by_width_and_left_out_of_the_rest() -> None:
    found = lint(rows(["a;x;*", "b;*", "c;x;*", "d;*", "e;x;y;*", "f;x;*"]))
    assert problems(found) == [("uneven-rows", 2, (2, 4)), ("uneven-rows", 1, (5,))]


def test_several_roots_are_one_finding() -> None:
    (finding,) = lint(rows(["a;*", "b;*", "c;x", "d;y"]))
    assert (finding.kind, finding.level, finding.count, finding.lines) == ("several-roots", 1, 3, (3, 4))


def test_empty_labels_are_reported_per_level_and_are_nobodys_parent() -> None:
    found = lint(rows(["a;;*", "b;;*", "c;x;*", ";x;*"]))
    assert [(f.kind, f.level, f.count) for f in found] == [("empty-label", 0, 1), ("empty-label", 1, 2)]


def test_the_root_below_another_value() -> None:
    assert problems(lint(rows(["a;*;b;*", "c;*;d;*", "e;e;e;*"]))) == [("root-below", 2, (1, 2))]


@pytest.mark.parametrize(("given_rows", "kind"), [([], "no-rows"), (["a", "b"], "one-level")])
def test_too_little_for_a_hierarchy(given_rows: list[str], kind: str) -> None:
    assert [f.kind for f in lint(rows(given_rows))] == [kind]


def test_one_value_that_meets_its_ancestors_on_other_levels_is_a_problem() -> None:
    nested = ["x;p;q;q;*", "y;y;p;q;*"]
    assert [(f.kind, f.examples) for f in lint(rows(nested)) if f.severity == "problem"] == [
        ("several-ancestors", ("p",))
    ]
    assert problems(lint(rows(["a;b;b;*", "a;a;b;*"]))) == [("several-ancestors", 1, (2,))]


def test_levels_with_fewer_than_k_values_but_never_the_root() -> None:
    found = lint(rows(MED), k=3)
    assert [(f.kind, f.severity, f.level, f.count) for f in found] == [("few-values", "problem", 1, 2)]
    assert [f.level for f in lint(rows(MED), k=4)] == [0, 1]


def test_a_general_value_on_level_0_does_not_count_towards_k() -> None:
    assert [(f.level, f.count) for f in lint(rows(["a;b;*", "b;b;*"]), k=2) if f.kind == "few-values"] == [
        (0, 1),
        (1, 1),
    ]


def test_labels_on_several_levels_are_a_note() -> None:
    (finding,) = lint(rows(["?;?;*", "a;b;*"]))
    assert (finding.kind, finding.severity, finding.count, finding.examples) == ("several-levels", "note", 1, ("?",))


def test_a_level_that_repeats_the_one_below_is_a_note() -> None:
    found = [f for f in lint(rows(["a;x;x;*", "b;y;y;*"])) if f.kind == "repeated-level"]
    assert [(f.severity, f.level) for f in found] == [("note", 2)]


def test_messages_are_one_line() -> None:
    worst = ["a;x\ny;*", "a;z;*", "b;*", ";;x"]
    findings = lint(rows(worst), values=["q\nr"], k=9, quote_values=True)
    assert len(findings) > 4
    assert [f for f in findings if "\n" in f.message] == []


LABELS = st.sampled_from(["a", "b", "c", "d", "", "*"])


@given(st.lists(st.lists(LABELS, min_size=1, max_size=4), max_size=5))
def test_what_the_linter_passes_is_a_hierarchy_and_what_is_none_it_does_not(drawn: list[list[str]]) -> None:
    found = lint([HierarchyRow(tuple(row)) for row in drawn])
    found_problems = {f.kind for f in found if f.severity == "problem"}
    try:
        Hierarchy.from_rows(drawn)
    except HierarchyError:
        assert found_problems
    else:
        assert found_problems <= {"several-ancestors"}
