"""Private offers over HTTP: asked for, made, accepted into the ledger, withdrawn; and what the account then says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Semaphore
from time import time
from typing import Any

import httpx
import pytest
from example_shop import example_provider, med
from running_service import KEY, served, with_account

from pacas.core.rates.schedule import Schedule
from pacas.errors import InputError
from pacas.protocol.messages import Answer, Quote, Request
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.ledger.offers import MOST_ASKED, MemoryOffers, OfferState, PrivateOffer, make
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings

CREDIT = 10**9
REQUEST = Request({"GEN": "male", "AGE": "51"}, "MED", 2)


class Served:
    """The example behind HTTP with a clock, for ann and bob; bob has ten credits."""

    def __init__(self) -> None:
        self.offers, self.accounts = MemoryOffers(), MemoryAccounts()
        with_account(self.accounts, "ann")
        with_account(self.accounts, "bob", credit=10 * CREDIT)
        self.provider = example_provider(MemoryLedger(lambda: int(time())))
        self.app = create_app(self.provider, self.accounts, ServiceSettings(), KEY, offers=self.offers)

    def made(self, id: str = "x", **changes: Any) -> PrivateOffer:
        half = PrivateOffer(id, "ann", Schedule.parse("0:50"), 0, 90, OfferState.MADE, int(time()) + 1000)
        make(self.offers, replace(half, **changes))
        return self.offers.list()[-1]


@pytest.fixture
def shop() -> Any:
    found = Served()
    with served(found.app) as url:
        found.url = url  # type: ignore[attr-defined]
        yield found


@pytest.fixture
def ann(shop: Any) -> Any:
    with RemoteProvider(shop.url, "token-of-ann", insecure=True) as remote:
        yield remote


@pytest.fixture
def bob(shop: Any) -> Any:
    with RemoteProvider(shop.url, "token-of-bob", insecure=True) as remote:
        yield remote


def test_an_account_asks_is_offered_and_accepts(shop: Any, ann: Any) -> None:
    before = ann.quote(REQUEST)
    assert isinstance(before, Quote)
    wish = ann.ask_offer(7000, 40 * CREDIT, 30)
    assert (wish.state, wish.stands, str(wish.schedule), wish.prepaid) == ("asked", False, "0:70", 40 * CREDIT)
    shop.made(prepaid=2 * CREDIT)
    asked, offer = ann.offers()
    assert (asked.state, offer.state, offer.stands) == ("answered", "made", True)
    accepted = ann.accept_offer("x")
    assert accepted.state == "accepted" and ann.accept_offer("x") == accepted, "as often as one likes"
    assert shop.provider.ledger.head().entries == 2
    assert ann.quote(REQUEST) == Quote(before.price // 2)
    sold = ann.pay(REQUEST, 10**10, "1")
    assert isinstance(sold, Answer) and sold.price == before.price // 2
    now = ann.account()
    assert (now.spent, now.listed, len(now.purchases)) == (before.price // 2, before.price, 1)
    assert str(now.schedule) == "0:50" and now.terms is not None and now.terms.prepaid == 2 * CREDIT
    assert now.unused == 2 * CREDIT - now.spent


def test_an_offer_is_its_accounts_alone(shop: Any, ann: Any, bob: Any) -> None:
    shop.made()
    assert bob.offers() == ()
    for act in (bob.accept_offer, bob.withdraw_offer, ann.accept_offer):
        with pytest.raises(InputError, match="no such offer"):
            act("x" if act != ann.accept_offer else "y")
    assert [one.state for one in ann.offers()] == ["made"]


def test_what_is_declined_withdrawn_or_expired_is_not_accepted(shop: Any, ann: Any) -> None:
    shop.made("declined")
    assert ann.withdraw_offer("declined").state == "withdrawn"
    shop.made("expired", stands_until=5)
    for name in ("declined", "expired"):
        with pytest.raises(InputError, match="cannot be accepted"):
            ann.accept_offer(name)
    shop.made("taken")
    ann.accept_offer("taken")
    with pytest.raises(InputError, match="no longer be withdrawn"):
        ann.withdraw_offer("taken")
    wish = ann.ask_offer(5000, 0, 1)
    assert ann.withdraw_offer(wish.id).state == "withdrawn"


def test_a_prepayment_beyond_the_credit_leaves_the_offer_as_it_was(shop: Any, bob: Any) -> None:
    shop.made(buyer="bob", prepaid=11 * CREDIT)
    with pytest.raises(InputError, match="beyond the account's credit"):
        bob.accept_offer("x")
    assert [one.stands for one in bob.offers()] == [True] and shop.provider.ledger.head().entries == 1
    shop.made("y", buyer="bob", prepaid=9 * CREDIT)
    bob.accept_offer("y")
    assert bob.balance().remaining == 10 * CREDIT, "of which nine are prepaid"
    shop.made("z", buyer="bob")
    with pytest.raises(InputError, match="not used"):
        bob.accept_offer("z")
    assert [one.stands for one in bob.offers()] == [True, False, True]


def test_a_crash_between_the_mark_and_the_ledger_is_mended_by_accepting_again(shop: Any, ann: Any) -> None:
    shop.made()
    shop.offers.change("x", OfferState.MADE, OfferState.ACCEPTED)  # and then the process was gone
    assert ann.balance().terms is None
    ann.accept_offer("x")
    assert ann.balance().terms is not None


@pytest.mark.parametrize(
    "body", [{}, {"rate": 0, "days": 1}, {"rate": 10_001, "days": 1}, {"rate": 1, "days": 0}, {"rate": 1.5, "days": 1}]
)
def test_a_wish_that_is_none_is_refused(open_shop: Any, body: dict[str, Any]) -> None:
    assert open_shop().call("POST", "/v1/offers", json=body).status_code == 422


@pytest.mark.parametrize("rate", [80, 0.8, 99])
def test_a_rate_in_another_unit_is_told_its_unit(open_shop: Any, rate: float) -> None:
    told = open_shop().call("POST", "/v1/offers", json={"rate": rate, "prepaid": 40, "days": 90})
    assert told.status_code == 422
    assert "hundredths of a per cent" in told.json()["error"]["message"]


@pytest.mark.parametrize("prepaid", [40, 0.5, 40.0, 999_999])
def test_what_is_prepaid_in_another_unit_is_told_its_unit(open_shop: Any, ann: Any, prepaid: float) -> None:
    told = open_shop().call("POST", "/v1/offers", json={"rate": 8000, "prepaid": prepaid, "days": 90})
    assert told.status_code == 422
    assert "it is in nanocredits, and at least 0.001 credits, or 0" in told.json()["error"]["message"]
    with pytest.raises(InputError, match="prepaid: it is in nanocredits"):
        ann.ask_offer(8000, prepaid, 90)


@pytest.mark.parametrize("prepaid", [0, 1_000_000])
def test_nothing_or_little_may_be_prepaid(ann: Any, prepaid: int) -> None:
    assert ann.ask_offer(8000, prepaid, 90).prepaid == prepaid


def test_operators_see_terms_and_list_credits(open_shop: Any) -> None:
    shop = open_shop()
    shop.provider.till.agree("offer/1", Schedule.parse("0:50"), 3, 5, buyer="ann")
    shop.buy("1", med("male", "51", 2))
    ann = next(one for one in shop.call("GET", "/v1/accounts", "olga").json() if one["account"] == "ann")
    assert ann["terms"]["prepaid"] == 3 and ann["listed"] >= 2 * ann["spent"] - 1 > 0
    assert shop.call("GET", "/v1/offers", "olga").status_code == 403


@pytest.mark.attack
def test_wishes_that_are_taken_back_do_not_fill_the_ledgers_disk(shop: Any, ann: Any) -> None:
    with pytest.raises(InputError, match="taken back"):
        for _ in range(2 * MOST_ASKED):
            ann.withdraw_offer(ann.ask_offer(5000, 0, 1).id)
    assert len(shop.offers.list()) == MOST_ASKED
    for id in [one.id for one in shop.offers.list()]:
        shop.offers.add(replace(shop.offers.list()[0], id=id, stands_until=5))
    assert ann.ask_offer(5000, 0, 1).state == "asked", "their time is over"


ABOUT_OFFERS = (("GET", ""), ("POST", ""), ("POST", "/x/accept"), ("POST", "/x/withdraw"))


def call(url: str, method: str, path: str = "") -> int:
    """The status of a call of ann's about offers."""
    body = {"rate": 5000, "days": 1} if (method, path) == ("POST", "") else None
    sent = {"Authorization": "Bearer token-of-ann"}
    answer = httpx.request(method, f"{url}/v1/offers{path}", headers=sent, json=body, trust_env=False, timeout=30)
    return answer.status_code


@pytest.mark.attack
@pytest.mark.parametrize(("method", "path"), ABOUT_OFFERS)
def test_calls_about_offers_count(shop: Any, method: str, path: str) -> None:
    app = create_app(shop.provider, shop.accounts, ServiceSettings(quotes_per_minute=2), KEY)
    with served(app) as url:
        assert [call(url, method, path) == 429 for _ in range(3)] == [False, False, True]


@pytest.mark.attack
def test_many_calls_about_offers_keep_no_thread_from_others(
    shop: Any, bob: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads ask the store, and who a caller is stands there, too."""
    leave, listed = Semaphore(0), shop.offers.list

    def slow(buyer: str | None = None) -> list[PrivateOffer]:
        leave.acquire(timeout=30)
        return list(listed(buyer))

    monkeypatch.setattr(shop.offers, "list", slow)
    with ThreadPoolExecutor(4) as threads:
        told = [threads.submit(call, shop.url, "GET") for _ in range(4)]
        assert [bob.account().spent for _ in range(5)] == [0] * 5, "while ann waits"
        leave.release(4)
        assert [one.result() for one in told] == [200] * 4
