"""Dependencies are read from one line, and a mistake is shown where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.dependency import FunctionalDependency, MatchClause, MatchingDependency, Similarity
from pacas.errors import ParseError, SchemaError

FD = FunctionalDependency


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GEN, DIAG -> MED", [FD(("GEN", "DIAG"), "MED")]),
        ("A->B", [FD(("A",), "B")]),
        ("A → B", [FD(("A",), "B")]),
        ("  A  ->  B  ", [FD(("A",), "B")]),
        ("A -> B, C", [FD(("A",), "B"), FD(("A",), "C")]),
        ("zip code -> city name", [FD(("zip code",), "city name")]),
        ('"a, b" -> C', [FD(("a, b",), "C")]),
        ('"a ""b""" -> C', [FD(('a "b"',), "C")]),
        ('"a->b" -> C', [FD(("a->b",), "C")]),
        ('A -> "b->c"', [FD(("A",), "b->c")]),
        ('A -> " B "', [FD(("A",), " B ")]),
        ("education-num, hours-per-week -> sex", [FD(("education-num", "hours-per-week"), "sex")]),
    ],
)
def test_functional_dependencies_are_read_and_split(text: str, expected: list[FD]) -> None:
    assert list(FD.parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "message", "character"),
    [
        ("", "expected '->'", 1),
        ("A, B", "expected '->'", 5),
        ("-> B", "the left side is empty", 1),
        ("   -> B", "the left side is empty", 1),
        ("A ->", "the right side is empty", 5),
        ("A ->  ", "the right side is empty", 5),
        ("A -> B -> C", "a second '->'", 8),
        ("A -> A", "'A' stands on both sides", 6),
        ("A, B -> C, B", "'B' stands on both sides", 12),
        ("A, A -> B", "'A' stands twice on the left side", 4),
        ("A -> B, C, B", "'B' stands twice on the right side", 12),
        ("A, -> B", "a column name is missing", 3),
        (", A -> B", "a column name is missing", 1),
        ("A -> B,, C", "a column name is missing", 8),
        ('"A -> B', "quote", 1),
        ('A -> "B', "quote", 6),
        ('A -> B"', "quote", 7),
        ('"A"x -> B', "a quoted name must end with its quote", 1),
        ('A, "" -> B', "quoted name", 4),
    ],
)
def test_a_bad_functional_dependency_is_shown_where_it_stands(text: str, message: str, character: int) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        FD.parse(text)
    assert caught.value.position == character - 1
    assert f"at character {character} of" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_is_one_line_even_where_the_text_is_not() -> None:
    with pytest.raises(ParseError) as caught:
        FD.parse("A\n, B")
    assert "\n" not in str(caught.value)


def test_dependencies_are_kept_once_in_the_order_given() -> None:
    given_fds: list[str | FD] = ["B -> C", "A -> B, C", FD(("A",), "C"), "B -> C"]
    assert FD.parse_all(given_fds) == (FD(("B",), "C"), FD(("A",), "B"), FD(("A",), "C"))


def test_a_dependency_names_the_column_that_a_relation_lacks() -> None:
    with pytest.raises(SchemaError, match=r"no column 'DIAGS' in client\.csv; did you mean 'DIAG'"):
        FD(("GEN", "DIAGS"), "MED").check(["GEN", "DIAG", "MED"], "client.csv")
    FD(("GEN",), "MED").check(["GEN", "MED"], "client.csv")


NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=6) | st.sampled_from(
    ["a->b", "a, b", 'q"q', '"', " x", "x ", "a = b", "x within 3", "é", "a\tb", "-", ">", "compatible", "a → b"]
)


@given(st.lists(NAMES, min_size=2, max_size=4, unique=True))
def test_a_printed_functional_dependency_reads_back(names: list[str]) -> None:
    fd = FD(tuple(names[:-1]), names[-1])
    assert FD.parse(str(fd)) == (fd,)


# ---- matching dependencies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GEN = GEN", [MatchClause("GEN", "GEN")]),
        ("A = B, C=D", [MatchClause("A", "B"), MatchClause("C", "D")]),
        ("AGE ~ AGE within 1", [MatchClause("AGE", "AGE", Similarity.WITHIN, 1.0)]),
        ("AGE ~ AGE within 0", [MatchClause("AGE", "AGE", Similarity.WITHIN, 0.0)]),
        ("AGE ~ YEARS within 2.5", [MatchClause("AGE", "YEARS", Similarity.WITHIN, 2.5)]),
        ("N ~ N edit 0.8", [MatchClause("N", "N", Similarity.EDIT, 0.8)]),
        ("N ~ FULL_NAME jaro_winkler 0.9", [MatchClause("N", "FULL_NAME", Similarity.JARO_WINKLER, 0.9)]),
        ("N ~ N qgram 1", [MatchClause("N", "N", Similarity.QGRAM, 1.0)]),
        ("MED ~ MED compatible", [MatchClause("MED", "MED", Similarity.COMPATIBLE)]),
        ('"a = b" = "c ~ d"', [MatchClause("a = b", "c ~ d")]),
        ('N ~ "x within 3" edit 0.5', [MatchClause("N", "x within 3", Similarity.EDIT, 0.5)]),
        ("first name ~ given name edit 0.5", [MatchClause("first name", "given name", Similarity.EDIT, 0.5)]),
    ],
)
def test_matching_dependencies_of_all_kinds_are_read(text: str, expected: list[MatchClause]) -> None:
    md = MatchingDependency.parse(text)
    assert list(md.clauses) == expected
    assert MatchingDependency.parse(str(md)) == md


@pytest.mark.parametrize(
    ("text", "message", "character"),
    [
        ("", "expected '=' or '~'", 1),
        ("GEN", "expected '=' or '~'", 4),
        ("GEN = GEN, AGE", "expected '=' or '~'", 15),
        ("GEN = GEN,", "expected '=' or '~'", 11),
        ("= GEN", "a column name is missing", 1),
        ("GEN =", "a column name is missing", 6),
        ("~ N edit 0.5", "a column name is missing", 1),
        ("AGE ~ AGE", "expected 'within N'", 10),
        ("AGE ~ AGE near 3", "expected 'within N'", 17),
        ("AGE ~ AGE within", "expected 'within N'", 17),
        ("AGE ~ within 1", "a column name is missing", 6),
        ("AGE ~ AGE within x", "expected a number after 'within'", 18),
        ("AGE ~ AGE within -1", "'within' takes a number from 0", 18),
        ("AGE ~ AGE within nan", "'within' takes a number from 0", 18),
        ("AGE ~ AGE within inf", "'within' takes a number from 0", 18),
        ("N ~ N edit 2", "'edit' takes a number from 0 to 1", 12),
        ("N ~ N jaro_winkler 1.01", "'jaro_winkler' takes a number from 0 to 1", 20),
        ("N ~ N qgram -0.1", "'qgram' takes a number from 0 to 1", 13),
        ('"GEN = GEN', "a quote that is not closed", 1),
    ],
)
def test_a_bad_matching_dependency_is_shown_where_it_stands(text: str, message: str, character: int) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        MatchingDependency.parse(text)
    assert caught.value.position == character - 1
    assert "\n" not in str(caught.value)


@given(
    NAMES,
    NAMES,
    st.sampled_from([s for s in Similarity if s is not Similarity.EQUAL]),
    st.floats(0, 1) | st.sampled_from([0.123456789, 1 / 3]),
)
def test_a_printed_matching_dependency_reads_back(
    client: str, provider: str, similarity: Similarity, threshold: float
) -> None:
    has_none = similarity is Similarity.COMPATIBLE or similarity.date_order is not None
    first = MatchClause(client, provider, similarity, 0.0 if has_none else threshold)
    md = MatchingDependency((first, MatchClause(provider, client)))
    assert MatchingDependency.parse(str(md)) == md


def test_a_large_tolerance_reads_back() -> None:
    md = MatchingDependency.parse("A ~ B within 1234567")
    assert MatchingDependency.parse(str(md)).clauses[0].threshold == 1234567


def test_the_order_of_the_left_side_makes_no_other_dependency() -> None:
    assert FD.parse_all(["A, B -> C", "B, A -> C"]) == (FD(("A", "B"), "C"),)
