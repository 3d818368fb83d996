"""Tuples that find nobody, asked about in other spellings: what is said of them, near and by quotes alone."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from running_service import service

import pacas
from pacas import example
from pacas.client.buying import respelling
from pacas.client.buying.respelling import respelled
from pacas.core.dependency import MatchingDependency
from pacas.protocol.marketplace import Forwarding


def shop(match: str = "GEN = GEN, AGE = AGE", **more: Any) -> pacas.Provider:
    return pacas.Provider(example.provider, match={"MED": match}, hierarchies=example.hierarchies, total=6, **more)


def asked(provider: Any, *tuples: tuple[str | None, str | None]) -> Any:
    offer = provider.catalogue()["MED"]
    return respelled(provider, offer, [{"GEN": gender, "AGE": age} for gender, age in tuples])


def test_it_counts_those_that_another_spelling_finds() -> None:
    told = asked(shop(quotes="paper"), ("Male", "51"), ("FEMALE", "32.0"), ("Male", "99"), ("Male", "51"), (None, "51"))
    assert (told.found, told.tried, told.example) == (2, 3, {"GEN": ("Male", "male")})
    assert str(told).startswith("no_match: at least 2 of 3 tried would match if the provider's match were normalized")


def test_several_columns_are_tried_in_one_spelling_first() -> None:
    """All three in another case, or one of them, and a date that is written alike: each is found."""
    people = pa.table(
        {
            "FIRST": ["Ada", "Grace", "Mary"],
            "LAST": ["Lovelace", "Hopper", "Jackson"],
            "CITY": ["London", "New York", "Hampton"],
            "BORN": ["1815-12-10", "1906-12-09", "1921-04-09"],
            "JOB": ["analyst", "admiral", "engineer"],
        }
    )
    columns = ("FIRST", "LAST", "CITY", "BORN")
    match = ", ".join(f"{column} = {column}" for column in columns)
    provider = pacas.Provider(people, match={"JOB": match}, quotes="paper")
    upper = dict(zip(columns, ("ADA", "LOVELACE", "LONDON", "1815-12-10"), strict=True))
    titled = dict(zip(columns, ("GRACE", "HOPPER", "NEW YORK", "1906-12-09"), strict=True))
    one = dict(zip(columns, ("Mary", "Jackson", "hampton", "1921-04-09"), strict=True))
    told = respelled(provider, provider.catalogue()["JOB"], [upper, titled, one])
    assert told is not None and (told.found, told.tried) == (3, 3)


@pytest.mark.parametrize(
    ("theirs", "mine", "count", "order"),
    [
        (["2016-04-05", "2016-06-07", "2016-12-01"], ["4/5/2016", "6/7/2016", "1/12/2016"], 2, "mdy"),
        (["2016-05-04", "2016-07-06", "2016-12-01"], ["4/5/2016", "6/7/2016", "1/12/2016"], 3, "dmy"),
        (["4/5/2016", "06/07/2016", "1.2.2016"], ["2016-04-05", "2016-06-07", "2016-02-01"], 3, "mdy"),
        (["4/5/2016", "6/7/2016", "x"], ["2016-05-04", "2016-07-06", "y"], 2, "dmy"),
        (["04/05/2016", "6/7/2016", "2016-05-23"], ["4/5/2016", "06/07/2016", "23/5/2016"], 3, ""),
        (["23/5/2016", "3.5.2016", "2016-05-24 00:00:00"], ["2016-05-23", "2016-05-03", "20160524"], 3, ""),
    ],
)
def test_dates_count_that_one_order_of_day_and_month_finds(
    theirs: list[str], mine: list[str], count: int, order: str
) -> None:
    """As many as do match once the match declares that order; and no other finds more."""
    sold = pa.table({"DAY": theirs, "RIDE": ["a", "b", "c"]})
    provider = pacas.Provider(sold, match={"RIDE": "DAY = DAY"}, quotes="paper")
    told = respelled(provider, provider.catalogue()["RIDE"], [{"DAY": day} for day in mine])
    assert told is not None and (told.found, told.tried, told.order.value) == (count, 3, order)
    assert str(told).endswith(f"~ … normalized {order}".rstrip())
    declared = {of: f"DAY ~ DAY normalized {of}".rstrip() for of in ("", "dmy", "mdy")}
    shops = {of: pacas.Provider(sold, match={"RIDE": match}, quotes="paper") for of, match in declared.items()}
    really = {of: int((one.quote_batch("RIDE", {"DAY": mine}).prices[:, 0] >= 0).sum()) for of, one in shops.items()}
    assert max(really.values()) == count == really[order]


def test_what_is_counted_does_match_when_the_match_is_normalized() -> None:
    provider = shop("GEN ~ GEN normalized, AGE ~ AGE normalized")
    tuples = [("Male", "51"), ("FEMALE", "32.0"), ("Male", "99")]
    columns = {"GEN": [gender for gender, _ in tuples], "AGE": [age for _, age in tuples]}
    found = provider.quote_batch("MED", columns).prices[:, -1] >= 0
    assert found.tolist() == [True, True, False]
    assert asked(provider, ("Male", "99")) is None


@pytest.mark.parametrize("settings", [{}, {"publish_prices": False}, {"publish_prices": False, "reasons": False}])
def test_over_the_wire_it_is_what_quotes_tell(settings: dict[str, Any]) -> None:
    """Those that have a price, whether refusals say why or not."""
    with service(shop(), **settings) as (url, token), pacas.RemoteProvider(url, token) as remote:
        told = asked(remote, ("Male", "51"), ("FEMALE", "32.0"), ("Male", "99"))
        assert (told.found, told.tried) == (2, 3)


def test_where_nothing_is_told_nothing_is_counted() -> None:
    assert asked(shop(), ("nobody", "99")) is None
    assert asked(shop(), (None, None)) is None


def test_it_asks_about_no_more_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(respelling, "MOST_TUPLES", 2)
    provider = shop()
    counted: list[int] = []

    class Counting(Forwarding):
        def quote_batch(self, attribute: str, tuples: Any) -> Any:
            counted.append(len(tuples["GEN"]))
            return super().quote_batch(attribute, tuples)

    told = asked(Counting(provider), ("Male", "51"), ("Male", "79"), ("Male", "45"))
    assert told.tried == 2 and len(counted) == 1 and counted[0] <= 2 * respelling.MOST_SPELLINGS


def test_a_normalized_match_reads_as_it_is_written() -> None:
    for text in ("A ~ B normalized", "A ~ B normalized dmy", 'A ~ "b normalized" normalized mdy, C = C'):
        assert str(MatchingDependency.parse(text)) == text.replace('"b normalized"', "b normalized")
