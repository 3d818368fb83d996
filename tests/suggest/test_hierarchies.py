"""Hierarchies that a table suggests: each way on a small column, and any table whatsoever."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pacas
from pacas.engine.duck.engine import DuckEngine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.hierarchies.chains import majority
from pacas.suggest.hierarchies.numbers import nested_widths
from pacas.suggest.hierarchies.suggested import SuggestedHierarchy
from pacas.suggest.hierarchies.suggesting import suggest_hierarchies, why_none

ENGINE = DuckEngine(threads=1)
Columns = dict[str, list[str | None]]


def coded(columns: Columns) -> CodedTable:
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    return CodedTable.read(ENGINE, pacas.Relation.of(table))


def suggested(columns: Columns, *fds: str) -> dict[str, SuggestedHierarchy]:
    return suggest_hierarchies(coded(columns), fds)


def alone(values: list[str], name: str = "A") -> SuggestedHierarchy:
    return suggested({name: [value for value in values for _ in range(3)]})[name]


# ---- chains of columns ---------------------------------------------------------------------------------------------

CITIES = {
    "Albany": ("Albany", "NY"),
    "Cohoes": ("Albany", "NY"),
    "Colonie": ("Albany", "NY"),
    "Troy": ("Rensselaer", "NY"),
    "Hoosick": ("Rensselaer", "NY"),
    "Newark": ("Essex", "NJ"),
    "Orange": ("Essex", "NJ"),
    "Nutley": ("Essex", "NJ"),
    "Trenton": ("Mercer", "NJ"),
    "Ewing": ("Mercer", "NJ"),
}
CHAIN = ("City -> County", "County -> State", "City -> State")


def places(wrong: int = 0) -> Columns:
    rows = [(city, *above) for city, above in CITIES.items() for _ in range(6)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    for row in range(wrong):
        columns[1][7 * row] = "Kings"
    return dict(zip(("City", "County", "State"), columns, strict=True))


@pytest.mark.parametrize("wrong", [0, 8])
def test_a_chain_of_columns_gives_each_value_what_most_rows_have_above_it(wrong: int) -> None:
    found = suggested(places(wrong), *CHAIN)["City"]
    assert found.how == "columns County → State" and found.options is None
    rows = {row[0]: row[1:] for row in found.hierarchy.rows()}
    assert rows["Troy"] == ("Rensselaer", "NY", "*")
    assert rows["Albany"] == ("(Albany)", "NY", "*")  # the county, which has the city's name


def test_a_value_without_a_parent_is_said_to_have_none() -> None:
    columns = places()
    columns["City"] += ["Utica", "Rome"] * 3
    columns["County"] += [None] * 6
    columns["State"] += [None] * 6
    rows = {row[0]: row[1:] for row in suggested(columns, *CHAIN)["City"].hierarchy.rows()}
    assert rows["Utica"] == rows["Rome"] == ("no County", "no State", "*")


def test_in_python_a_plain_table_will_do_and_its_own_dependencies_make_chains() -> None:
    columns = {name: values * 3 for name, values in places().items()}
    assert pacas.suggest_hierarchies(columns)["City"].how == "columns County → State"


def test_a_column_that_does_not_shrink_is_no_level() -> None:
    assert suggested({"A": ["a", "b", "c"] * 5, "B": ["x", "y", "z"] * 5}, "A -> B")["A"].is_flat


def test_an_only_child_joins_a_sibling() -> None:
    columns = places()
    kept = [city not in ("Troy",) for city in columns["City"]]
    columns = {name: [v for v, keep in zip(values, kept, strict=True) if keep] for name, values in columns.items()}
    labels = suggested(columns, *CHAIN)["City"].hierarchy.at_level(1)
    assert "Rensselaer|(Albany)" in labels
    assert suggested(columns, *CHAIN)["City"].levels[1].smallest >= 2


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["x", "y", "z", None])), min_size=1, max_size=30))
def test_the_majority_is_what_counting_finds(rows: list[tuple[str, str | None]]) -> None:
    table = coded({"A": [a for a, _ in rows], "B": [b for _, b in rows]})
    found = majority(table["A"], table["B"])
    for code, value in enumerate(table["A"].values):
        counts = Counter(b for a, b in rows if a == value and b is not None)
        best = min(counts, key=lambda b: (-counts[b], b)) if counts else None
        assert (table["B"].values[found[code]] if found[code] >= 0 else None) == best


# ---- dates, numbers, codes -----------------------------------------------------------------------------------------


def test_numbers_are_cut_by_round_widths_as_a_builder_cuts_them() -> None:
    found = alone([str(age) for age in range(17, 91)])
    assert found.options == {"build": "intervals", "widths": [5, 10, 20]}
    assert found.hierarchy.generalize_value("42", 2) == "[40,49]"


def test_outliers_do_not_stretch_the_widths() -> None:
    found = alone([*map(str, range(300)), "9999999"])
    assert found.options is not None and found.options["widths"] == [20, 100, 200]


def test_numbers_as_people_write_them_are_read() -> None:
    found = alone([*(f"{n:,}" for n in range(900, 2000, 7)), "n/a", "n/k"])
    assert found.options is None
    assert found.hierarchy.generalize_value("1,201", 1) == found.hierarchy.generalize_value("1,208", 1) == "[1200,1249]"
    assert found.hierarchy.generalize_value("n/a", 1) == "other"


@given(
    st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=5, max_size=60, unique=True).map(sorted),
)
def test_widths_nest_and_are_round(numbers: list[Decimal]) -> None:
    widths = nested_widths(numbers)
    assert all(wide % narrow < 1e-9 or narrow - wide % narrow < 1e-9 for narrow, wide in pairwise(widths))
    assert {f"{width:e}"[0] for width in widths} <= set("125")
    assert len(widths) <= 3


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (
            ["2020-01-05", "2020-01-09", "2020-02-01", "2020-04-01", "2021-07-08", "2031-01-01"],
            "month quarter year decade",
        ),
        (["2020-01-05", "2020-01-09", "2020-02-01"], "month"),
        (["2020-01-05 10:00", "2020-01-05 11:00", "2020-02-01 07:30"], "month"),
    ],
)
def test_iso_dates_have_the_periods_that_tell_something(values: list[str], levels: str) -> None:
    assert alone(values).options == {"build": "date", "levels": levels.split()}


@pytest.mark.parametrize(
    ("dates", "month"),
    [
        (["05/06/2020", "06/06/2020", "31/12/2020", "02/12/2020"], "2020-06"),
        (["05/06/2020", "05/07/2020", "12/31/2020", "12/02/2020"], "2020-05"),
        (["20200506", "20200507", "20201231", "20201202"], "2020-05"),
        (["5-6-20", "5-7-20", "12-31-20", "12-30-20"], "2020-05"),
        (["March 2020", "March 2, 2020", "Apr 5, 2020", "April 2020"], "2020-03"),
        (["2 March 2020", "7 March 2020", "5 Apr 2020", "6 Apr. 2020"], "2020-03"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_other_dates_are_read(dates: list[str], month: str) -> None:
    found = alone(dates)
    assert found.options is None
    assert found.hierarchy.generalize_value(dates[0], 1) == found.hierarchy.generalize_value(dates[1], 1) == month


def test_times_are_cut_by_the_hour() -> None:
    times = [f"{hour}:{minute:02} {half}.m." for hour in range(1, 13) for minute in (5, 35) for half in "ap"]
    found = alone(times)
    assert found.hierarchy.generalize_value("12:05 a.m.", 1) == "00h"
    assert found.hierarchy.generalize_value("7:35 p.m.", 2) == "18h–23h"


def test_codes_are_cut_where_their_characters_change() -> None:
    codes = [f"{letter}{number}.{last}" for letter in "ABC" for number in range(10, 22) for last in "0123"]
    found = alone(codes)
    assert found.options == {"build": "prefix", "keep": [3, 1]}
    assert found.hierarchy.generalize_value("A10.2", 1) == "A10**"


def test_a_small_interval_joins_its_neighbour() -> None:
    found = alone([*map(str, range(17, 90)), "90"])
    assert found.levels[1].smallest == 1
    assert found.merged().generalize_value("90", 1) == found.merged().generalize_value("86", 1) == "[85,89]|[90,94]"


# ---- lists, families, categories -----------------------------------------------------------------------------------


def test_countries_and_states_stand_where_they_are_by_any_of_their_names() -> None:
    named = [
        "Deutschland",
        "FRANCE",
        "U.K.",
        "Trinadad&Tobago",
        "Mexico",
        "Viet-Nam",
        "Côte d'Ivoire",
        "Utopia",
        "Japan",
    ]
    found = alone(named)
    assert found.how == "countries by region and continent"
    tree = found.hierarchy
    assert tree.generalize_value("U.K.", 2) == tree.generalize_value("FRANCE", 2)
    states = alone(["TX", "OK", "CA", "WA", "NY", "NJ", "MA", "VT"]).hierarchy
    assert states.generalize_value("TX", 1) == "West South Central"


def test_many_words_get_families_of_the_alphabet_all_about_as_large() -> None:
    found = alone([f"name {i:04}" for i in range(1, 1235)], "words")
    assert [level.labels for level in found.levels] == [1234, 123, 12]
    assert found.levels[1].largest - found.levels[1].smallest <= 1


def test_categories_stay_flat_and_say_by_what_they_could_be_clustered() -> None:
    random = np.random.default_rng(2)
    job = random.integers(0, 12, 500)
    columns: Columns = {"JOB": [f"job {j:c}" for j in job + 65], "SECTOR": [f"sector {j:c}" for j in job // 4 + 65]}
    found = suggested(columns)["JOB"]
    assert found.is_flat and found.options is None
    assert found.alternative == {"build": "cluster", "by": "SECTOR", "clusters": [3]}


def test_keys_empty_columns_and_constants_get_none() -> None:
    columns: Columns = {
        "ID": [f"p{i}" for i in range(50)],
        "NO": [None] * 50,
        "ONE": ["x"] * 50,
        "row id": list(map(str, range(50))),
    }
    table = coded(columns)
    assert suggest_hierarchies(table) == {}
    assert all(why_none(column) for column in table.columns.values())


# ---- whatever the table --------------------------------------------------------------------------------------------

CELLS = st.one_of(
    st.none(),
    st.text(min_size=1, max_size=6),
    st.integers(-50, 50).map(str),
    st.sampled_from(["1e308", "-1e308", "1e-300", "1e400", "NaN", "1,234", "12%", "٣", "A01.2", "A01.3", "x" * 3000]),
    st.sampled_from(["2020-02-30", "31/12/99", "0000-01-01", "May 2020", "9:00", "25:00", "France", "USA", "Utah"]),
    st.sampled_from(["*", "(*)", "other", "(other)", "no B", "| a", "a|b"]),
)


@st.composite
def tables(draw: st.DrawFn) -> Columns:
    rows = draw(st.sampled_from([1, 2, 12, 40]))
    some = st.one_of(st.just(CELLS), st.lists(CELLS, min_size=1, max_size=12).map(st.sampled_from))
    return {name: draw(st.lists(draw(some), min_size=rows, max_size=rows)) for name in "ABC"[: draw(st.integers(1, 3))]}


@given(tables())
def test_any_table_gets_trees_that_know_all_its_values_and_builders_make_the_same(columns: Columns) -> None:
    fds = [f"{a} -> {b}" for a in columns for b in columns if a != b]
    table = coded(columns)
    for name, found in suggest_hierarchies(table, fds).items():
        known = [value in found.hierarchy for value in table[name].values]
        assert all(known) and len(found.levels) == found.hierarchy.height
        assert found.merged().height == found.hierarchy.height
        if found.options is not None:
            options: dict[str, Any] = dict(found.options)
            made = pacas.build_hierarchy(columns, name, str(options.pop("build")), **options)
            assert list(made.rows()) == list(found.hierarchy.rows())
        else:
            assert found.is_flat or all(level.smallest >= 2 for level in found.levels[1:])


def test_what_a_level_hides_is_counted_in_rows() -> None:
    found = suggested({"A": [*["10"] * 7, "11", "12", "13", "14", "35", "36"]})["A"]
    level = found.levels[1]
    assert found.options == {"build": "intervals", "widths": [10]} or level.labels == 2
    assert level.rows_below[2] == 0 and level.rows_below[5] == pytest.approx(2 / 13)
