"""A match that is normalized finds the same people wherever the relation is, and is finding by that column."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from engines import Roomless

import pacas
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import ABSENT, Answer, Reason, Refusal
from pacas.provider.quoter.declared import Sealing

ENGINES = {"held": DuckEngine(threads=1), "on the engine": Roomless(threads=1)}
TREE = pacas.Hierarchy.from_rows([(f"m{i}", f"f{i // 2}", "*") for i in range(6)])
PEOPLE = {
    "SEX": ["male", "Female", "MALE", "female", "Male"],
    "BORN": ["2016-05-23", "4/5/2016", "23.05.1999", "May 23, 2016", "1999-01-02"],
    "MED": ["m0", "m1", "m2", "m3", "m4"],
}
MATCH = {"MED": "sex ~ SEX normalized, born ~ BORN normalized"}
MODES = [*product(("sealed", "paper", "registry"), ENGINES)]


def shop(mode: str, engine: str, **more: Any) -> pacas.Provider:
    if mode == "registry":
        also = {"SEX": [*PEOPLE["SEX"], "Male"], "BORN": [*PEOPLE["BORN"], "2 Feb 2002"]}
        more |= {"sealing": Sealing(registry=pacas.Relation.of(also))}
    quotes = "paper" if mode == "paper" else "sealed"
    told: dict[str, Any] = {"match": MATCH, "hierarchies": {"MED": TREE}, "total": 10, "engine": ENGINES[engine]}
    return pacas.Provider(PEOPLE, quotes=quotes, **(told | more))


def bought(provider: pacas.Provider, sex: str | None, born: str | None) -> str:
    given = {"sex": sex, "born": born}
    asked = {column: given[column] for column in provider.catalogue()["MED"].columns}
    sold = provider.pay(pacas.Request(asked, "MED", 0), 10**12, f"{sex} {born}")
    return sold.value if isinstance(sold, Answer) else sold.reason.value


@pytest.mark.parametrize(("mode", "engine"), MODES)
def test_people_are_found_in_any_spelling(mode: str, engine: str) -> None:
    provider = shop(mode, engine)
    asked = {
        ("Male", "5/23/2016"): "m0",
        ("FEMALE", "04/05/2016"): "m1",
        (" male", "1999-05-23 00:00:00"): "m2",
        ("female", "20160523"): "m3",
        ("FEMALE", "2016-04-05"): "no_match",  # nobody knows which day 4/5/2016 is
        ("man", "2016-05-23"): "no_match",
        ("male", None): "no_match",
    }
    assert {key: bought(provider, *key) for key in asked} == asked
    if mode == "registry":
        assert bought(provider, "male", "2002-02-02") == ABSENT


@pytest.mark.parametrize(("mode", "engine"), MODES)
def test_a_declared_order_settles_the_day(mode: str, engine: str) -> None:
    provider = shop(mode, engine, match={"MED": "sex ~ SEX normalized, born ~ BORN normalized mdy"})
    assert bought(provider, "female", "2016-04-05") == "m1"
    assert bought(provider, "female", "2016-05-04") == "no_match"


@pytest.mark.parametrize(("mode", "engine"), MODES)
def test_spellings_of_different_people_are_ambiguous(mode: str, engine: str) -> None:
    provider = shop(mode, engine, match={"MED": "sex ~ SEX normalized"})
    quoted = provider.quote(pacas.Request({"sex": "mALE"}, "MED", 0))
    assert quoted == Refusal(Reason.AMBIGUOUS)


@pytest.mark.parametrize("mode", ["sealed", "paper"])
def test_it_is_finding_by_that_column(mode: str) -> None:
    """D5: what is outside X must be allowed; and what is sold cannot be what people are found by."""
    policy = pacas.Policy(("SEX",), ("MED",), {"MED": 0}, 2)
    with pytest.raises(pacas.InputError, match=r"matched by .BORN., outside X of policy 1"):
        shop(mode, "held", policies=[policy])
    if mode == "sealed":
        with pytest.raises(pacas.InputError, match="'MED'"):
            shop(mode, "held", match={"MED": "med ~ MED normalized"})


@pytest.mark.parametrize("engine", ENGINES)
def test_blanks_are_a_value_and_nothing_is_none(engine: str) -> None:
    people: dict[str, list[str | None]] = {"SEX": ["  ", "male", None], "MED": ["m0", "m1", "m2"]}
    told: dict[str, Any] = {"match": {"MED": "sex ~ SEX normalized"}, "hierarchies": {"MED": TREE}, "total": 10}
    provider = pacas.Provider(people, quotes="sealed", engine=ENGINES[engine], **told)
    assert [bought(provider, sex, None) for sex in (" ", "MALE", "", None)] == ["m0", "m1", "no_match", "no_match"]
