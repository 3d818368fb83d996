"""What `normalized` takes for one thing, and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.normal_text import DateOrder, normal_text, spellings

SAME = [
    ("51", "51.0", " 051 ", "5.1e1", "+51"),
    ("male", "Male", "MALE", "  mAle\t"),
    ("new york", "New  York", "NEW\u00a0YORK"),
    ("strasse", "Straße", "STRASSE"),
    ("abc", "ＡＢＣ"),
    ("2016-05-23", "2016/5/23", "23.5.2016", "5/23/2016", "23/05/2016", "23 May 2016", "May 23, 2016", "20160523"),
    ("2016-09-03", "3-Sep-2016", "Sept. 3 2016", "September 3, 2016", "3.9.2016", "2016-09-03T00:00:00.000"),
    (
        "2016-05-24",
        "2016-05-24T00:00:00Z",
        "2016-05-24T00:00Z",
        "2016-05-24T00:00:00.000Z",
        "2016-05-24 00:00:00+00:00",
    ),
    ("2016-05-23 14:05:00", "5/23/2016 14:05", "23.05.2016T14:05:00"),
    ("4/5/2016", "04/05/2016"),
    ("2016-05-05", "5/5/2016"),
]


@pytest.mark.parametrize("texts", SAME, ids=[texts[0] for texts in SAME])
def test_spellings_of_one_thing_are_one(texts: tuple[str, ...]) -> None:
    assert {normal_text(text) for text in texts} == {texts[0]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4/5/2016", "2016-04-05"),  # it may be in May
        ("4/5/2016", "5/4/2016"),
        ("4/5/16", "2016-04-05"),
        ("2016-02-30", "2016-03-01"),
        ("marble 3 2016", "2016-03-03"),
        ("1,234", "1234"),  # elsewhere that is 1.234
        ("12 oz", "12"),
        ("St. Mary", "St Mary"),
        ("51", "51 years"),
        ("2016-05-23 25:00", "2016-05-23"),
        ("2016-05-23T14:05:00Z", "2016-05-23 14:05:00"),  # of whose clock?
        ("2016-05-23T23:00:00Z", "2016-05-23"),
        ("2016-05-23 00:00:00+02:00", "2016-05-23"),
        ("e", "é"),
    ],
)
def test_what_may_be_two_things_is_two(one: str, other: str) -> None:
    assert normal_text(one) != normal_text(other)


def test_a_match_may_say_where_the_month_stands() -> None:
    assert normal_text("4/5/2016", DateOrder.MONTH_FIRST) == normal_text("2016-04-05") == "2016-04-05"
    assert normal_text("4-5-2016", DateOrder.DAY_FIRST) == "2016-05-04"
    assert normal_text("4.5.2016", DateOrder.MONTH_FIRST) == "2016-05-04"  # dots put the day first, everywhere
    assert normal_text("23/5/2016", DateOrder.MONTH_FIRST) == "23/5/2016"  # there is no such month


@given(st.text(max_size=12) | st.sampled_from([text for texts in SAME for text in texts]), st.sampled_from(DateOrder))
def test_every_spelling_stands_for_the_value(value: str, order: DateOrder) -> None:
    told = spellings(value, order)
    assert told[0] == value and len(told) == len(spellings("51"))
    assert {normal_text(one, order) for one in told} == {normal_text(value, order)}
