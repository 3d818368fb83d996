"""Queries are read from the texts of the command line, and a mistake is shown where it stands."""

from __future__ import annotations

import pytest

from pacas.core.query import Condition, From, GeneralizedQuery, Output, QueryColumn
from pacas.errors import ParseError

parse = GeneralizedQuery.parse


@pytest.mark.parametrize(
    ("select", "outputs"),
    [
        ("GEN", [Output(QueryColumn("GEN"))]),
        ("GEN:0, MED:1", [Output(QueryColumn("GEN")), Output(QueryColumn("MED"), 1)]),
        (" GEN : 2 ", [Output(QueryColumn("GEN"), 2)]),
        ("zip code:1", [Output(QueryColumn("zip code"), 1)]),
        ('"a, b:1":2', [Output(QueryColumn("a, b:1"), 2)]),
        ('"a:1"', [Output(QueryColumn("a:1"))]),
        ("relation.MED:1", [Output(QueryColumn("MED", "relation"), 1)]),
        ("other.MED", [Output(QueryColumn("other.MED"))]),
        ('relation."a b":1', [Output(QueryColumn("a b", "relation"), 1)]),
        ('"q""q"', [Output(QueryColumn('q"q'))]),
    ],
)
def test_outputs(select: str, outputs: list[Output]) -> None:
    assert list(parse(select).outputs) == outputs


@pytest.mark.parametrize(
    ("where", "conditions"),
    [
        ("", []),
        ("   ", []),
        ("DIAG = migraine", [("DIAG", "=", "migraine")]),
        ("DIAG=migraine", [("DIAG", "=", "migraine")]),
        ("A != x", [("A", "<>", "x")]),
        ("A <> x", [("A", "<>", "x")]),
        (
            "A <= 1 and B >= 2 AND C < 3 And D > 4",
            [("A", "<=", "1"), ("B", ">=", "2"), ("C", "<", "3"), ("D", ">", "4")],
        ),
        ("A = 'x and y'", [("A", "=", "x and y")]),
        ("A = 'it''s'", [("A", "=", "it's")]),
        ("A = ''", [("A", "=", "")]),
        ("A = two words", [("A", "=", "two words")]),
        ("A = sandy", [("A", "=", "sandy")]),
        ("A = 3.5", [("A", "=", "3.5")]),
        ("\"a = b\" = 'c'", [("a = b", "=", "c")]),
        ("A = 'x = y'", [("A", "=", "x = y")]),
        ("A = P*", [("A", "=", "P*")]),
        ("A = [31,60]", [("A", "=", "[31,60]")]),
        ("salary-class = <=50K", [("salary-class", "=", "<=50K")]),
    ],
)
def test_conditions(where: str, conditions: list[tuple[str, str, str]]) -> None:
    found = [(c.left.attribute, c.operator, c.right) for c in parse("A", where).conditions]
    assert found == conditions


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("A = d.B", QueryColumn("B", "d")),
        ("A = e.B", "e.B"),
        ('A = "B"', QueryColumn("B")),
        ('A = d."B C"', QueryColumn("B C", "d")),
        ("A = 'd.B'", "d.B"),
    ],
)
def test_a_right_side_is_a_column_where_it_is_written_as_one(text: str, right: QueryColumn | str) -> None:
    assert parse("A", text, "relation, doctors d").conditions[0].right == right


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("relation", [From()]),
        ("relation r", [From("relation", "r")]),
        ("relation, doctors d", [From(), From("doctors", "d")]),
        ("relation a, relation b", [From("relation", "a"), From("relation", "b")]),
        ("relation JOIN doctors", [From(), From("doctors", "doctors")]),
    ],
)
def test_relations(text: str, relations: list[From]) -> None:
    assert list(parse("A", "", text).relations) == relations


def test_a_join_adds_its_conditions_before_those_of_where() -> None:
    query = parse("A", "B = 1", "relation join doctors d on relation.MED = d.MED and d.X = 2")
    assert list(query.conditions) == [
        Condition(QueryColumn("MED", "relation"), "=", QueryColumn("MED", "d")),
        Condition(QueryColumn("X", "d"), "=", "2"),
        Condition(QueryColumn("B"), "=", "1"),
    ]


@pytest.mark.parametrize(
    ("select", "where", "from_", "message", "character"),
    [
        ("", "", "relation", "a column name is missing", 1),
        ("A,", "", "relation", "a column name is missing", 3),
        ("A,,B", "", "relation", "a column name is missing", 3),
        (":1", "", "relation", "a column name is missing", 1),
        ("A:", "", "relation", "expected a level", 3),
        ("A:x", "", "relation", "expected a level", 3),
        ("A:-1", "", "relation", "expected a level", 3),
        ("A:1.5", "", "relation", "expected a level", 3),
        ("B, A:x", "", "relation", "expected a level", 6),
        ("A", "DIAG", "relation", "expected a comparison", 1),
        ("A", "DIAG =", "relation", "expected a value", 7),
        ("A", "= migraine", "relation", "a column name is missing", 1),
        ("A", "A = 1 and", "relation", "expected a comparison", 10),
        ("A", "A = 1 and B", "relation", "expected a comparison", 11),
        ("A", "A == 1", "relation", "==|expected", 4),
        ("A", "A = 'x", "relation", "quote", 5),
        ("A", '"A = x', "relation", "quote", 1),
        ('"A', "", "relation", "quote", 1),
        ("A", "", "", "expected a relation", 1),
        ("A", "", "relation,", "expected a relation", 10),
        ("A", "", "relation as r", "expected a relation", 1),
        ("A", "", "relation, relation", "'relation' stands twice", 11),
        ("A", "", "relation a, doctors a", "'a' stands twice", 13),
        ("A", "", "relation join doctors on MED", "expected a comparison", 26),
    ],
)
def test_a_bad_query_is_shown_where_it_stands(
    select: str, where: str, from_: str, message: str, character: int
) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parse(select, where, from_)
    assert caught.value.position == character - 1
    assert "\n" not in str(caught.value)
