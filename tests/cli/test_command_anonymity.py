"""`pacas anonymity`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PUBLIC = ("anonymity", "public.csv", "--x", "GEN,AGE,ZIP", "--y", "MED")
LEVEL = ("--level", "MED=1", "--hierarchy", "MED=med.csv")


def test_the_json_has_the_promised_shape(pacas: Any) -> None:
    result = pacas(*PUBLIC, "--k", "3", "--json")
    assert result.code == 0
    assert result.document == {
        "holds": True,
        "k": 3,
        "groups": 2,
        "failing_groups": 0,
        "unlinked_rows": 0,
        "criterion": {"name": "distinct", "k": 3},
        "strictest": {"k": 3},
    }


def test_k_is_the_largest_that_holds_and_the_exit_code_is_about_the_one_given(pacas: Any) -> None:
    for k, code, failing in (("1", 0, 0), ("2", 1, 1), ("3", 1, 2)):
        result = pacas(*PUBLIC, *LEVEL, "--k", k, "--json")
        assert result.code == code
        assert result.document["holds"] is (code == 0)
        assert (result.document["k"], result.document["failing_groups"]) == (1, failing)


def test_without_y_tuples_are_counted(pacas: Any) -> None:
    assert pacas("anonymity", "public.csv", "--x", "GEN", "--k", "6", "--json").document["k"] == 6


def test_where_x_is_always_null_any_k_holds(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text("A,B\n,x\n,y\n")
    result = pacas("anonymity", "d.csv", "--x", "A", "--y", "B", "--k", "9", "--measures", "--json")
    assert result.code == 0
    assert (result.document["holds"], result.document["k"], result.document["unlinked_rows"]) == (True, None, 2)
    assert "l_diversity" not in result.document


def test_measures_adds_diversity_and_closeness(pacas: Any) -> None:
    document = pacas(*PUBLIC, *LEVEL, "--measures", "--json").document
    assert document["l_diversity"] == {"distinct": 1, "entropy": pytest.approx(1)}
    assert document["t_closeness"] == pytest.approx(1 / 3)


def test_for_people_it_prints_the_same(pacas: Any) -> None:
    assert pacas(*PUBLIC, *LEVEL, "--k", "3", "--measures").lines == [
        "(GEN, AGE, ZIP) linked to at least 3 of MED at level 1: does not hold",
        "largest k that holds: 1; 2 of 2 groups fall short",
        "l-diversity: distinct 1, entropy 1",
        "t-closeness: 0.3333",
    ]


def test_names_are_quoted_to_hold_a_comma_and_printed_as_they_are(pacas: Any, folder: Path) -> None:
    (folder / "d.csv").write_text('"a,b",[red],[/]\n1,2,3\n1,2,4\n')
    lines = pacas("anonymity", "d.csv", "--x", '"a,b", [red]', "--y", "[/]", "--level", "[/]=0", "--k", "2").lines
    assert lines[0] == "(a,b, [red]) linked to at least 2 of [/] at level 0: holds"


@pytest.mark.parametrize(
    ("options", "failing", "criterion", "strictest"),
    [
        (("entropy", "--l", "2"), 2, {"name": "entropy", "l": 2}, {"l": 1}),
        (("entropy", "--l", "1.8"), 1, {"name": "entropy", "l": 1.8}, {"l": 1}),
        (("recursive", "--c", "3", "--l", "2"), 1, {"name": "recursive", "c": 3, "l": 2}, {"c": None}),
        (("recursive", "--c", "1.1", "--l", "1"), 0, {"name": "recursive", "c": 1.1, "l": 1}, {"c": 1}),
        (("closeness", "--t", "0.25"), 2, {"name": "closeness", "t": 0.25}, {"t": 1 / 3}),
        (("closeness", "--t", "0.34"), 0, {"name": "closeness", "t": 0.34}, {"t": 1 / 3}),
    ],
)
def test_another_criterion_is_checked_and_the_strictest_is_said(
    pacas: Any, options: tuple[str, ...], failing: int, criterion: dict[str, Any], strictest: dict[str, Any]
) -> None:
    """At level 1 one group has two values, one of them twice, and the other has one."""
    result = pacas(*PUBLIC, *LEVEL, "--criterion", *options, "--json")
    assert (result.code, result.document["failing_groups"]) == (1 if failing else 0, failing)
    assert result.document["criterion"] == criterion
    assert result.document["strictest"] == pytest.approx(strictest)
    assert (result.document["k"], result.document["groups"]) == (1, 2)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            ("entropy", "--l", "2"),
            [
                "(GEN, AGE, ZIP) linked to MED at level 1 with entropy l = 2: does not hold",
                "largest l that holds: 1; 2 of 2 groups fall short",
            ],
        ),
        (
            ("recursive", "--c", "3", "--l", "2"),
            [
                "(GEN, AGE, ZIP) linked to MED at level 1 with recursive c = 3, l = 2: does not hold",
                "holds for c above: inf; 1 of 2 groups fall short",
            ],
        ),
        (
            ("closeness", "--t", "0.5"),
            [
                "(GEN, AGE, ZIP) linked to MED at level 1 with closeness t = 0.5: holds",
                "smallest t that holds: 0.3333; 0 of 2 groups fall short",
            ],
        ),
    ],
)
def test_another_criterion_for_people(pacas: Any, options: tuple[str, ...], lines: list[str]) -> None:
    assert pacas(*PUBLIC, *LEVEL, "--criterion", *options).lines == lines


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--criterion", "entropie"), "no criterion 'entropie'; did you mean 'entropy'?"),
        (("--criterion", "entropy"), "criterion 'entropy' takes l; l is missing"),
        (("--criterion", "entropy", "--l", "2", "--k", "2"), "criterion 'entropy' takes l; leave k out"),
        (("--l", "2"), "criterion 'distinct' takes k; leave l out"),
        (("--criterion", "closeness", "--t", "-1"), "t must be between 0 and 1, not -1"),
        (("--criterion", "closeness", "--t", "near"), "t must be a number, such as 2.5, not 'near'"),
        (("--y", "", "--criterion", "closeness", "--t", "1"), "closeness t = 1 needs an attribute in Y to be about"),
    ],
)
def test_a_criterion_that_makes_no_sense(pacas: Any, options: tuple[str, ...], said: str) -> None:
    result = pacas(*PUBLIC, *options)
    assert result.code == 2 and said in result.complaint
