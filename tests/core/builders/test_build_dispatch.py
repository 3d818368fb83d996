from __future__ import annotations

import inspect

import pytest

from pacas.core.builders import BUILDERS, Contingency, Needs, build, builder, other_attributes
from pacas.errors import HierarchyError

AGES = Contingency(["31", "45", "61"], [2, 1, 1])
AGES_BY_DIAG = Contingency(["31", "45", "61"], [2, 1, 1], ["flu", "flu", "gout"])


def levels(name: str, column: Contingency, **options: object) -> list[tuple[str, ...]]:
    return list(build(name, column, **options).rows())


@pytest.mark.parametrize("name", BUILDERS)
def test_options_are_those_of_the_function(name):
    parameters = inspect.signature(BUILDERS[name].make).parameters.values()
    keywords = {p.name: p.default is p.empty for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert {option: how.required for option, how in BUILDERS[name].options.items()} == keywords
    positional = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
    needs = [{Needs.VALUES}, {Needs.COUNTS}, {Needs.OTHER, Needs.OTHERS}][positional - 1]
    assert BUILDERS[name].needs in needs


@pytest.mark.parametrize("name", BUILDERS)
def test_every_example_can_be_read_from_toml_and_from_the_command_line(name):
    tomllib = pytest.importorskip("tomllib")
    for option, how in BUILDERS[name].options.items():
        from_toml = how.value(option, tomllib.loads(f"x = {how.example}")["x"])
        assert how.value(option, how.example.replace('"', "")) == from_toml


@pytest.mark.parametrize("widths", [[10, 30], (10, 30.0), "10,30", "10, 30", "[10, 30]"])
def test_lists_come_as_lists_or_as_text(widths):
    assert levels("intervals", AGES, widths=widths, origin="1")[0] == ("31", "[31,40]", "[31,60]", "*")


def test_a_single_number_is_a_list_of_one():
    assert levels("quantiles", AGES, bins=2) == levels("quantiles", AGES, bins=[2])


def test_counts_and_the_other_attribute_reach_the_builders_that_need_them():
    assert build("quantiles", Contingency(["1", "2"], [1, 9]), bins=[2]).at_level(1) == ["[1,2]"]
    assert levels("chimerge", AGES_BY_DIAG, by="DIAG", max_intervals=[2])[1] == ("45", "[31,45]", "*")
    assert build("cluster", AGES_BY_DIAG, clusters=[2]).at_level(1) == ["{31 +1 more}", "{61}"]
    assert build("entropy", AGES_BY_DIAG).height >= 1
    assert build("date", Contingency(["2024-05-17"], [1]), levels="month,year").height == 3
    assert build("prefix", Contingency(["10115"], [1]), keep=[2]).height == 2


def test_an_unknown_builder_names_the_nearest():
    with pytest.raises(HierarchyError, match="no hierarchy builder 'interval'; did you mean 'intervals'"):
        builder("interval")


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(HierarchyError, match="intervals has no option 'width'; did you mean 'widths'"):
        build("intervals", AGES, width=[10])
    with pytest.raises(HierarchyError, match="intervals has no option 'by'"):
        build("intervals", AGES, widths=[10], by="DIAG")


def test_a_missing_option_comes_with_an_example():
    with pytest.raises(HierarchyError, match=r"intervals needs widths, e.g. widths = \[10, 30\]"):
        build("intervals", AGES)


@pytest.mark.parametrize(
    ("name", "option", "wrong"),
    [
        ("intervals", "widths", "ten"),
        ("intervals", "widths", [[10]]),
        ("intervals", "widths", True),
        ("intervals", "widths", {"a": 1}),
        ("intervals", "origin", [1]),
        ("quantiles", "bins", [4.5]),
        ("quantiles", "bins", ""),
        ("prefix", "keep", "a,b"),
        ("prefix", "mask", 7),
        ("date", "levels", [1]),
        ("entropy", "max_levels", "many"),
        ("chimerge", "significance", [None]),
        ("cluster", "clusters", [True]),
    ],
)
def test_an_option_of_the_wrong_kind_is_one_line_with_an_example(name, option, wrong):
    options = {"widths": [10], option: wrong} if name == "intervals" else {option: wrong}
    with pytest.raises(HierarchyError, match=f"^option {option} cannot be read; give it like {option} = ") as caught:
        build(name, AGES_BY_DIAG, **options)
    assert "\n" not in str(caught.value)


def test_by_names_the_other_attribute_of_the_builders_that_need_one():
    assert other_attributes("entropy", {"by": "DIAG", "max_levels": 2}) == ["DIAG"]
    assert other_attributes("intervals", {"widths": [10]}) == []
    assert other_attributes("columns", {"columns": "County"}) == ["County"]
    with pytest.raises(HierarchyError, match="cluster needs another attribute to build by"):
        other_attributes("cluster", {})
    with pytest.raises(HierarchyError, match="entropy needs another attribute to build by"):
        build("entropy", AGES)


@pytest.mark.parametrize(
    ("values", "counts", "targets"), [(["1"], [], None), (["1"], [1], []), (["1"], [0], None), (["1"], [-1], ["a"])]
)
def test_a_contingency_that_does_not_fit_is_an_error(values, counts, targets):
    with pytest.raises(HierarchyError, match="contingency"):
        Contingency(values, counts, targets)
