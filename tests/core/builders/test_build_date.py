from __future__ import annotations

import warnings
from datetime import date as Date
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.builders import date
from pacas.errors import HierarchyError


def test_dates_have_months_quarters_years_and_decades():
    assert list(date(["2024-05-17"]).rows()) == [("2024-05-17", "2024-05", "2024-Q2", "2024", "2020s", "*")]


def test_times_have_days_too():
    assert list(date(["2024-05-17 08:30:00", "2024-05-17T23:59"]).rows()) == [
        ("2024-05-17 08:30:00", "2024-05-17", "2024-05", "2024-Q2", "2024", "2020s", "*"),
        ("2024-05-17T23:59", "2024-05-17", "2024-05", "2024-Q2", "2024", "2020s", "*"),
    ]


def test_levels_can_be_chosen():
    built = date(["2024-12-30 08:30:00.25"], levels=["hour", "day", "week"])
    assert list(built.rows()) == [("2024-12-30 08:30:00.25", "2024-12-30 08h", "2024-12-30", "2025-W01", "*")]


@pytest.mark.parametrize("above", ["month", "quarter", "year", "decade"])
def test_weeks_nest_in_nothing_but_the_root(above):
    with pytest.raises(HierarchyError, match=f"a week does not lie in one {above}"):
        date(["2024-05-17"], levels=["week", above])


@pytest.mark.parametrize("levels", [["year", "month"], ["month", "month"], ["decade", "quarter"], ["month", "week"]])
def test_levels_run_from_fine_to_coarse(levels):
    with pytest.raises(HierarchyError, match=f"a {levels[0]} does not lie in a {levels[1]}"):
        date(["2024-05-17"], levels=levels)


def test_an_unknown_level_names_the_nearest():
    with pytest.raises(HierarchyError, match="no date level 'months'; did you mean 'month'"):
        date(["2024-05-17"], levels=["months"])
    with pytest.raises(HierarchyError, match="at least one period"):
        date(["2024-05-17"], levels=[])


def test_days_above_values_without_a_time_are_an_error():
    with pytest.raises(HierarchyError, match="level 'day' needs a time of day, which 1 of 2 values lack"):
        date(["2024-05-17", "2024-05-17 08:30:00"], levels=["day", "year"])
    assert date(["2024-05-17", "2024-05-17 08:30:00"]).height == 5


@pytest.mark.parametrize(
    "wrong", ["2024-13-01", "2023-02-29", "17.05.2024", "2024-05-17 25:00:00", "2024-W10", "٢٠٢٤-05-17"]
)
def test_values_that_are_not_dates_are_counted_and_not_shown(wrong):
    with pytest.raises(HierarchyError, match=r"^1 of 2 values are not dates") as caught:
        date(["2024-05-17", wrong])
    assert wrong not in str(caught.value)


@given(
    days=st.lists(st.dates(), min_size=1, max_size=20),
    levels=st.sampled_from([None, ["week"], ["month", "year"], ["quarter", "decade"]]),
)
def test_periods_form_a_tree(assert_tree, days, levels):
    values = [day.isoformat() for day in days]
    assert_tree(date(values, levels=levels), values)


@given(moments=st.lists(st.datetimes(), min_size=1, max_size=20))
def test_periods_of_times_form_a_tree(assert_tree, moments):
    values = [moment.isoformat(" ") for moment in moments]
    assert_tree(date(values), values)
    assert_tree(date(values, levels=["hour", "day", "week"]), values)


PANDAS = {"week": ("W-SUN", "%G-W%V"), "month": ("M", "%Y-%m"), "quarter": ("Q", "%Y-Q%q"), "year": ("Y", "%Y")}


@pytest.mark.parametrize("level", PANDAS)
def test_agrees_with_pandas_periods(level):
    pd = pytest.importorskip("pandas")
    frequency, form = PANDAS[level]
    values = [str(Date(1899, 12, 1) + timedelta(days=i)) for i in range(0, 60_000, 7 if level == "quarter" else 5)]
    built = date(values, levels=[level])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        periods = pd.PeriodIndex(pd.to_datetime(values), freq=frequency)
    if level == "week":
        expected = [period.start_time.strftime(form) for period in periods]
    else:
        expected = list(periods.strftime(form))
    assert [built.generalize_value(v, 1) for v in values] == expected


def test_agrees_with_pandas_days_and_hours():
    pd = pytest.importorskip("pandas")
    values = [str(datetime(2023, 12, 30) + timedelta(minutes=17 * i)) for i in range(500)]
    built = date(values, levels=["hour", "day"])
    for level, frequency, form in ((1, "h", "%Y-%m-%d %Hh"), (2, "D", "%Y-%m-%d")):
        expected = pd.PeriodIndex(pd.to_datetime(values), freq=frequency).strftime(form)
        assert [built.generalize_value(v, level) for v in values] == list(expected)
