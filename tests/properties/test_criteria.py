"""Every criterion decides as its definition does, to the threshold; what holds of groups holds of them together."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import many_examples
from oracles import criteria as literal
from oracles.strategies import criteria

from pacas.core.criteria.closeness import Closeness
from pacas.core.criteria.criterion import Criterion
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.entropy import EntropyDiversity
from pacas.core.criteria.named import CRITERIA, criterion_named
from pacas.core.criteria.recursive import RecursiveDiversity
from pacas.core.histogram import GroupHistogram
from pacas.errors import InputError

Groups = list[dict[tuple[str | None, ...], int]]
VALUES: list[list[tuple[str | None, ...]]] = [
    [("a",), ("b",), ("c",), (None,)],
    [("1",), ("2",), ("10",), ("3.5",), ("-4",)],
    [("a", "x"), ("a", "y"), ("b", "x")],
    [("7",)],
]


def histogram(groups: Groups, times: int = 1) -> GroupHistogram:
    values = sorted({value for group in groups for value in group}, key=str)
    entries = [(g, values.index(value), n * times) for g, group in enumerate(groups) for value, n in group.items()]
    group, value, n = (np.array(column, dtype=np.int64) for column in zip(*sorted(entries), strict=True))
    overall = [sum(group.get(value, 0) for group in groups) * times for value in values]
    return GroupHistogram(group, value, n, len(groups), list(values), np.array(overall, dtype=np.int64))


def together(groups: Groups) -> dict[tuple[str | None, ...], int]:
    values = dict.fromkeys(value for group in groups for value in group)
    return {value: sum(group.get(value, 0) for group in groups) for value in values}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Groups, Criterion]:
    values = st.sampled_from(draw(st.sampled_from(VALUES)))
    groups = draw(st.lists(st.dictionaries(values, st.integers(1, 6), min_size=1), min_size=1, max_size=4))
    return groups, draw(criteria().map(lambda written: criterion_named(*written)) | thresholds(groups))


@st.composite
def thresholds(draw: st.DrawFn, groups: Groups) -> Criterion:
    """A criterion that some group is exactly at the edge of."""
    group = draw(st.sampled_from(groups))
    r = sorted(group.values(), reverse=True)
    l = draw(st.integers(1, len(r)))  # noqa: E741
    even = EntropyDiversity(len(r))
    ratio = RecursiveDiversity(Fraction(r[0], sum(r[l - 1 :])), l)
    return draw(st.sampled_from([even, ratio, Closeness(literal.distance(group, together(groups)))]))


@many_examples(2000)
@given(cases())
def test_each_criterion_decides_as_its_definition(case: tuple[Groups, Criterion]) -> None:
    groups, criterion = case
    expected = [literal.holds(criterion.name, criterion.parameters, group, together(groups)) for group in groups]
    assert criterion.holds(histogram(groups)).tolist() == expected
    assert criterion.holds(histogram(groups, times=10**15)).tolist() == expected, "more than 64 bits hold"
    assert (criterion.left(histogram(groups)) >= criterion.enough) == all(expected)


@many_examples(2000)
@given(cases(), st.data())
def test_what_holds_of_groups_holds_of_them_together(case: tuple[Groups, Criterion], data: st.DataObject) -> None:
    groups, criterion = case
    held = criterion.holds(histogram(groups))
    kept = [group for group, holds in zip(groups, held, strict=True) if holds]
    apart = [group for group, holds in zip(groups, held, strict=True) if not holds]
    if kept:
        weighed = [{v: n * weight for v, n in g.items()} for g in kept for weight in [data.draw(st.integers(1, 3))]]
        merged, everything = together(weighed), together(groups)
        assert literal.holds(criterion.name, criterion.parameters, merged, everything)
        assert criterion.holds(histogram([together(kept), *apart]))[0]


@given(cases())
def test_a_group_that_is_protected_has_the_fewest_values_it_must(case: tuple[Groups, Criterion]) -> None:
    groups, criterion = case
    for group, holds in zip(groups, criterion.holds(histogram(groups)), strict=True):
        assert not holds or len(group) >= criterion.fewest_values


@given(cases())
def test_the_strictest_is_where_it_stops_holding(case: tuple[Groups, Criterion]) -> None:
    groups, criterion = case
    found = histogram(groups)
    edge = criterion.strictest(found)
    assert edge is not None

    def at(value: float) -> bool:
        return bool(_with(criterion, value).holds(found).all())

    match criterion:
        case DistinctValues():
            assert at(edge) and not at(edge + 1)
        case EntropyDiversity():
            assert at(max(1, edge - 1e-6)) and not at(edge + 1e-6)
        case RecursiveDiversity():
            assert edge == inf or at(edge + 1e-6)
            assert not at(1e6 if edge == inf else edge - 1e-6)
        case Closeness():
            assert at(min(1, edge + 1e-6))
            assert edge < 1e-6 or not at(edge - 1e-6)


def _with(criterion: Criterion, value: float) -> Criterion:
    return criterion_named(criterion.name, {**criterion.parameters, criterion.strictest_of: Fraction(value)})


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("entropi", {"l": 2}, "no criterion 'entropi'; did you mean 'entropy'?"),
        ("distinct", {}, "criterion 'distinct' takes k; k is missing"),
        ("recursive", {"l": 2}, "criterion 'recursive' takes c and l; c is missing"),
        ("closeness", {"t": 1, "k": 2}, "criterion 'closeness' takes t; leave k out"),
        ("distinct", {"k": 0}, "k must be at least 1, not 0"),
        ("distinct", {"k": "2.5"}, "k must be a whole number, not 2.5"),
        ("entropy", {"l": "0.9"}, "l must be at least 1, not 0.9"),
        ("entropy", {"l": "many"}, "l must be a number, such as 2.5, not 'many'"),
        ("entropy", {"l": inf}, "l must be a number, such as 2.5, not 'inf'"),
        ("recursive", {"c": 0, "l": 2}, "c must be above 0, not 0"),
        ("recursive", {"c": 2, "l": "2.5"}, "l must be a whole number, not 2.5"),
        ("closeness", {"t": "1.1"}, "t must be between 0 and 1, not 1.1"),
    ],
)
def test_a_criterion_that_makes_no_sense_is_refused(name: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        criterion_named(name, given)


def test_what_no_group_can_have_is_not_an_error() -> None:
    found = histogram([{("a",): 1}, {("a",): 1, ("b",): 2}])
    for criterion in (EntropyDiversity(f"{10**400}.5"), RecursiveDiversity(f"1/{10**400}", 2), DistinctValues(10**30)):
        assert not criterion.holds(found).any()


@pytest.mark.parametrize("values", [[], [("1",), ("2",)], [("a",), ("b",)]])
@pytest.mark.parametrize(
    "criterion", [DistinctValues(2), EntropyDiversity(2), RecursiveDiversity(2, 2), Closeness(0)], ids=str
)
def test_without_a_group_there_is_nothing_to_say(criterion: Criterion, values: list[tuple[str | None]]) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    found = GroupHistogram(nothing, nothing, nothing, 0, list(values), np.ones(len(values), dtype=np.int64))
    assert criterion.holds(found).tolist() == []
    assert criterion.strictest(found) is None


def test_the_names_are_those_of_the_classes() -> None:
    assert {name: criterion.name for name, criterion in CRITERIA.items()} == {name: name for name in CRITERIA}


def test_they_are_written_as_files_write_them() -> None:
    written = [DistinctValues(3), EntropyDiversity("2.5"), RecursiveDiversity(3, 2), Closeness("0.3")]
    assert list(map(str, written)) == ["k = 3", "entropy l = 2.5", "recursive c = 3, l = 2", "closeness t = 0.3"]
