"""Matches found through indexes are those that comparing all pairs finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_hierarchies
from oracles.cleaning import Row, tree_of
from oracles.matching import SIMILARITIES, Clause, Match, alike
from oracles.strategies import SPELLINGS, trees, values_of
from oracles.tree import Tree, Value

from pacas.core.dependency import MatchClause, MatchingDependency, Similarity
from pacas.core.normal_text import DateOrder, normal_text
from pacas.engine.codes import CodedColumn
from pacas.provider.matching import Matcher, matcher, similarity

Case = tuple[Match, list[Row], list[Row], dict[str, Tree]]

TEXTS = [s.value for s in (Similarity.EDIT, Similarity.JARO_WINKLER, Similarity.QGRAM)]


def coded(values: Sequence[Value]) -> CodedColumn:
    distinct = sorted({v for v in values if v is not None}) + [None] * (None in values)
    return CodedColumn(np.array([distinct.index(v) for v in values], dtype=np.uint16), list(distinct))


def dependency(match: Match) -> MatchingDependency:
    return MatchingDependency(
        tuple(MatchClause(c.client, c.provider, Similarity(c.how), c.threshold) for c in match),
    )


def literal(match: Match, t: Row, rows: Sequence[Row], trees: Mapping[str, Tree]) -> list[int]:
    def holds(c: Clause, row: Row) -> bool:
        return alike(c, t[c.client], row[c.provider], tree_of(c.provider, trees))

    return [i for i, row in enumerate(rows) if all(holds(c, row) for c in match)]


def compare(match: Match, tuples: list[Row], rows: list[Row], trees: dict[str, Tree]) -> None:
    columns = {a: coded([row[a] for row in rows]) for a in rows[0]}
    found = Matcher(dependency(match), columns, to_hierarchies(trees))
    expected = [literal(match, t, rows, trees) for t in tuples]
    assert [rows.tolist() for rows in found.match(tuples)] == expected
    for limit in (0, 1, 3):
        assert [rows.tolist() for rows in found.match(tuples, limit)] == [rows[: limit + 1] for rows in expected]
        assert [found.match_one(t, limit).tolist() for t in tuples] == [rows[: limit + 1] for rows in expected]
    assert [found.match_one(t).tolist() for t in tuples] == expected
    for times in (1, 9):  # few go one by one, many together
        by_column = {a: [t[a] for t in tuples] * times for a in (tuples[0] if tuples else ())}
        if by_column:
            assert [rows.tolist() for rows in found.match_columns(by_column)] == expected * times


# ---- values that are nearly alike -----------------------------------------------------------------------------------

ALPHABETS = ["ab", "abc", "a#$", "aé\U0001f600", "abcdefgh"]


@st.composite
def near_texts(draw: st.DrawFn) -> st.SearchStrategy[str]:
    """Texts that are a few edits away from each other."""
    letters = st.sampled_from(draw(st.sampled_from(ALPHABETS)))
    words = [draw(st.text(letters, min_size=1, max_size=9)) for _ in range(2)]

    @st.composite
    def near(draw: st.DrawFn) -> str:
        word = draw(st.sampled_from(words))
        for _ in range(draw(st.integers(0, 2))):
            at, kept = draw(st.integers(0, len(word))), draw(st.integers(0, 1))
            word = word[:at] + draw(st.text(letters, max_size=2)) + word[at + kept :]
        return word or "a"

    return near()


NUMBERS = st.builds(
    lambda n, spelling: spelling.format(n), st.integers(-9, 9), st.sampled_from(["{}", "{}.0", "{}e-1", "{}e0"])
) | st.sampled_from(["0.1", "0.2", "0.3", "0.30", "+0.3", "-.1", "n/a", "1e15", "1000000000000001", "inf"])

_DAYS = st.dates(date(2015, 1, 1), date(2016, 12, 31)) | st.sampled_from([date(2016, 4, 5), date(2016, 5, 4)])
_DATES = st.builds(
    lambda day, how, clock: day.strftime(how) + clock,
    _DAYS,
    st.sampled_from(
        ["%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y%m%d", "%d %b %Y", "%B %d, %Y", "%d-%b-%Y", "%m-%d-%Y"]
    ),
    st.sampled_from(["", "", " 00:00", "T00:00:00.000", "T00:00:00Z", " 14:05", " 14:05+00:00"]),
)
_WORDS = st.builds(
    lambda word, respelled: respelled(word),
    st.sampled_from(
        ["male", "new york", "straße", "5/4/2016", "04/05/2016", "13/13/2016", "marble 3 2016", "sept 3, 2016"]
    ),
    st.sampled_from([str, str.upper, str.title, "  {} ".format, lambda word: word.replace(" ", "   ")]),
)
SPELLED = (
    _DATES | _WORDS | NUMBERS | st.sampled_from(["051", "51.0", "51", "20160405.0", "2016-02-30", "ﬁve", "FIVE", "²"])
)
"""Values that are the same in several spellings, and some that only look so."""

THRESHOLDS = st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0]) | st.floats(0, 1)


@st.composite
def columns_of(draw: st.DrawFn, how: str, size: int) -> tuple[list[Value], list[Value], float, Tree | None]:
    """A client's and a provider's column for a clause, its threshold, and perhaps a hierarchy."""
    tree: Tree | None = None
    if how in TEXTS:
        values: st.SearchStrategy[Any] = draw(near_texts())
    elif how == "within":
        values = NUMBERS
    elif how.startswith("normalized"):
        values = SPELLED
    else:
        tree = draw(st.none() | trees())
        values = values_of(tree) if tree else st.sampled_from(["a", "b", "*", "1", "1.0"])
    column = st.lists(
        values | st.sampled_from([None, ""]) if draw(st.booleans()) else values, min_size=size, max_size=size
    )
    client, provider = draw(column), draw(column)
    return client, provider, draw(thresholds(how, client, provider)), tree


def thresholds(how: str, client: list[Value], provider: list[Value]) -> st.SearchStrategy[float]:
    """Round ones, and for texts the very similarity of some pair, and the floats beside it."""
    if how == "within":
        return st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 2.5, 1e16])
    if how not in TEXTS:
        return st.just(0.0)
    met = {SIMILARITIES[how](a, b) for a in client if a for b in provider if b}
    near = {float(np.nextafter(s, by)) for s in met for by in (0, 1)}
    return st.sampled_from(sorted(met | near)) | THRESHOLDS if met else THRESHOLDS


@st.composite
def cases(draw: st.DrawFn, kinds: Sequence[str] = tuple(s.value for s in Similarity), most: int = 4) -> Case:
    size = draw(st.integers(1, 12))
    match, mine, theirs, found = [], {}, {}, {}
    for i, how in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=most))):
        client, provider, threshold, tree = draw(columns_of(how, size))
        mine[f"c{i}"], theirs[f"p{i}"] = client, provider
        if tree:
            found[f"p{i}"] = tree
        match.append(Clause(f"c{i}", f"p{i}", how, threshold))
    return tuple(match), _rows(mine), _rows(theirs), found


def _rows(columns: Mapping[str, list[Value]]) -> list[Row]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


# ---- the laws -------------------------------------------------------------------------------------------------------


@examples(100)
@given(cases())
def test_matches_are_those_of_all_pairs(case: Case) -> None:
    compare(*case)


@pytest.mark.parametrize("how", [s.value for s in Similarity])
def test_each_kind_alone_finds_what_all_pairs_find(how: str) -> None:
    @examples(30)
    @given(cases([how], 1))
    def law(case: Case) -> None:
        compare(*case)

    law()


@pytest.mark.parametrize("how", TEXTS)
@pytest.mark.parametrize("few", [0, 5000])
def test_asking_about_some_and_finding_all_agree(monkeypatch: pytest.MonkeyPatch, how: str, few: int) -> None:
    monkeypatch.setattr(similarity.ScoredIndex, "few", few)
    monkeypatch.setattr(matcher, "CHUNK", 2)

    @examples(15)
    @given(cases(["=", how, "within"], 3))
    def law(case: Case) -> None:
        compare(*case)

    law()


@examples(30)
@given(cases(["=", "within", "compatible"], 3), st.sampled_from([0, 1, 10**9]))
def test_it_does_not_matter_where_the_search_begins(case: Case, large: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher, "LARGE", large)
        compare(*case)


@examples(30)
@given(trees(), st.data())
def test_clauses_may_share_columns(tree: Tree, data: st.DataObject) -> None:
    column = st.lists(
        values_of(tree) | st.builds(str.format, st.sampled_from(SPELLINGS), st.integers(0, 4)), min_size=6, max_size=6
    )
    mine, theirs = {"a": data.draw(column), "b": data.draw(column)}, {"p": data.draw(column), "q": data.draw(column)}
    every = [
        Clause(c, p, how, 0.5) for c in "ab" for p in "pq" for how in ("=", "within", "edit", "qgram", "compatible")
    ]
    match = data.draw(st.lists(st.sampled_from(every), min_size=2, max_size=4))
    compare(tuple(match), _rows(mine), _rows(theirs), {"p": tree})


@examples(200)
@given(SPELLED | st.text(max_size=12), st.sampled_from(DateOrder))
def test_what_stands_for_a_value_stands_for_itself(value: str, order: DateOrder) -> None:
    """So that who knows the one spelling is found like everybody else."""
    text = normal_text(value, order)
    assert normal_text(text, order) == text
    assert normal_text(f" {value}\t", order) == text


RANDOM = np.random.default_rng(5)
SYLLABLES = ["ma", "ri", "jo", "han", "el", "sa", "be", "ßa", "an", "der", "son", "é"]


def names(count: int) -> list[str]:
    return ["".join(RANDOM.choice(SYLLABLES, RANDOM.integers(1, 6))) for _ in range(count)]


@pytest.mark.parametrize("how", TEXTS)
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.65, 0.7, 0.8, 0.9, 1.0])
def test_no_match_is_lost_among_many_names(how: str, threshold: float) -> None:
    provider, client = names(400), names(25)
    found = Matcher(dependency((Clause("n", "n", how, threshold),)), {"n": coded(provider)})
    measure = SIMILARITIES[how]
    if how == "edit":
        from rapidfuzz.distance import Levenshtein

        measure = Levenshtein.normalized_similarity
    expected = [[i for i, p in enumerate(provider) if measure(c, p) >= threshold] for c in client]
    assert [rows.tolist() for rows in found.match([{"n": c} for c in client])] == expected
