"""What every store of private offers must do."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from postgres import POSTGRES

from pacas.core.rates.schedule import Schedule
from pacas.errors import InputError
from pacas.provider.ledger.offers import (
    MOST_ASKED,
    MemoryOffers,
    OfferState,
    PrivateOffer,
    PrivateOffers,
    ask,
    claim,
    make,
    offer_named,
    withdraw,
)
from pacas.storage.url import open_offers

NOW = 1_800_000_000


def offer(id: str = "a", **changes: Any) -> PrivateOffer:
    made = PrivateOffer(id, "ann", Schedule.parse("0:80,20:62.5"), 40, 90, OfferState.MADE, NOW + 10)
    return replace(made, **changes)


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def offers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PrivateOffers]:
    made: PrivateOffers
    match request.param:
        case "memory":
            made = MemoryOffers()
        case "sqlite":
            made = open_offers("sqlite:///provider.ledger.db", tmp_path)
        case _:
            made = open_offers(request.getfixturevalue("postgres_url"), tmp_path)
    with closing(made):
        yield made


def test_offers_are_listed_in_order_all_or_those_to_one(offers: PrivateOffers) -> None:
    assert offers.list() == []
    kept = [offer("b"), offer("a", buyer="bob"), offer("c", state=OfferState.ASKED)]
    for one in kept:
        offers.add(one)
    assert offers.list() == kept and offers.list("bob") == kept[1:2] and offers.list("eve") == []
    assert offer_named("c", offers.list()) == kept[2]
    with pytest.raises(InputError, match="no such offer"):
        offer_named("c", offers.list("bob"))


def test_of_many_who_change_an_offer_one_does(offers: PrivateOffers) -> None:
    """To accept and to withdraw exclude each other, whoever is first."""
    for number in range(5):
        offers.add(offer(str(number)))
        ends = [OfferState.ACCEPTED, OfferState.WITHDRAWN] * 3
        with ThreadPoolExecutor(6) as pool:
            done = list(pool.map(lambda end, id=str(number): offers.change(id, OfferState.MADE, end), ends))
        assert sum(done) == 1
        assert offer_named(str(number), offers.list()).state is ends[done.index(True)]


def test_an_offer_is_accepted_while_it_stands(offers: PrivateOffers) -> None:
    for one in (offer("a"), offer("b"), offer("c")):
        offers.add(one)
    claim(offers, offer("a"), NOW)
    claim(offers, offer("a"), NOW + 99)  # again, after a crash: it was accepted in time
    withdraw(offers, offer("b"))
    with pytest.raises(InputError, match="it is withdrawn"):
        claim(offers, offer("b"), NOW)
    with pytest.raises(InputError, match="expired"):
        claim(offers, offer("c"), NOW + 10)
    with pytest.raises(InputError, match="no longer be withdrawn: it is accepted"):
        withdraw(offers, offer_named("a", offers.list()))


def test_an_offer_answers_what_was_asked_for_and_wishes_have_an_end(offers: PrivateOffers) -> None:
    for number in range(MOST_ASKED):
        ask(offers, offer(f"w{number}", state=OfferState.ASKED), NOW)
    with pytest.raises(InputError, match="wait for an answer"):
        ask(offers, offer("more", state=OfferState.ASKED), NOW)
    with pytest.raises(InputError, match="it is asked"):
        claim(offers, offer("w0", state=OfferState.ASKED), NOW)
    make(offers, offer("made"))
    assert {one.state for one in offers.list("ann") if one.id != "made"} == {OfferState.ANSWERED}
    ask(offers, offer("more", state=OfferState.ASKED), NOW)


@pytest.mark.parametrize("change", [{"days": 0}, {"days": 3661}, {"prepaid": -1}, {"buyer": ""}])
def test_an_offer_that_is_none_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        offer(**change)
