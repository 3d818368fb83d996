"""Purchases over HTTP: charged once, recorded before they are answered, and the buyer's own."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from example_shop import OpenShop, Shop, error_of, example_provider, med
from running_service import with_account
from waiting_ledger import told_of_waiting

from pacas.errors import StorageError
from pacas.protocol.messages import Request
from pacas.provider.ledger.accounts import Role
from pacas.server.trading.selling import LAST
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.url import open_accounts
from pacas.wire.shapes.receipts import ReceiptDocument
from pacas.wire.signatures import verify


def test_a_purchase_is_answered_with_a_receipt_that_holds(shop: Shop) -> None:
    bought = shop.buy("key 1", med("male", "51", 1)).json()["purchase"]
    receipt = bought.pop("receipt")
    assert bought == {"id": "key 1", "price": 700_000_000, "level": 1, "answer": "NSAID"}
    entry = shop.provider.ledger.find("ann", "key 1")
    assert entry is not None
    assert (receipt["sequence"], receipt["hash"], receipt["account"]) == (entry.sequence, entry.hash, "ann")
    assert verify(ReceiptDocument(**receipt).signed(), shop.call("GET", "/v1/key", None).json()["public_key"])


def test_the_same_key_is_charged_once(shop: Shop) -> None:
    first, second = (shop.buy("a", med("male", "51", 1)).json() for _ in range(2))
    assert first == second
    assert shop.provider.ledger.total("ann") == (1, 700_000_000)


def test_a_key_of_another_request_is_a_conflict(shop: Shop) -> None:
    shop.buy("a", med("male", "51", 1))
    status, code, message = error_of(shop.buy("a", med("male", "51", 2)))
    assert (status, code) == (409, "conflict")
    assert "used before, for another request" in message
    assert "purchase" in shop.buy("a", med("male", "51", 2), who="bob").json(), "keys are each buyer's own"


def test_many_are_bought_in_order_and_once(shop: Shop) -> None:
    asked = med("male", "51", 2), med("male", "51", 0), med("male", "51", 1)
    told = shop.buy_many("m", *asked).json()["purchases"]
    assert [one.get("price", one.get("refused")) for one in told] == [400_000_000, "refused", 300_000_000]
    assert [one.get("id") for one in told] == ["m/0", None, "m/2"]
    assert shop.buy_many("m", *asked).json()["purchases"] == told
    assert shop.provider.ledger.total("ann") == (2, 700_000_000)
    assert shop.buy_many("none").json() == {"purchases": []}


def test_a_mistake_among_many_leaves_no_purchase_behind(shop: Shop) -> None:
    assert error_of(shop.buy_many("m", med("male", "51", 1), med("male", "51", 9)))[0] == 422
    shop.buy("n/1", med("female", "45", 2))
    assert error_of(shop.buy_many("n", med("male", "51", 1), med("male", "51", 2)))[0] == 409
    assert shop.provider.ledger.total("ann") == (1, 400_000_000)


def test_many_go_on_until_shortly_before_the_service_ends(open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch) -> None:
    provider, clock = example_provider(), count()
    shop, asked = open_shop(provider), [med("male", "51", level) for level in (2, 1, 1)]
    with monkeypatch.context() as ticking:
        ticking.setattr("pacas.server.trading.selling.monotonic", lambda: next(clock))
        shop.stop(LAST + 3)  # two looks before the first purchase, one before each
        status, code, message = error_of(shop.buy_many("m", *asked))
    assert (status, code) == (503, "unavailable")
    assert "send the call again with the same key" in message
    assert provider.ledger.total("ann").purchases == 1, "what was begun is finished, and no more"
    shop.stop(LAST + 600)
    assert [one["id"] for one in shop.buy_many("m", *asked).json()["purchases"]] == ["m/0", "m/1", "m/2"]
    assert provider.ledger.total("ann") == (3, 700_000_000)


def test_a_price_above_the_ceiling_or_the_credit_is_refused(open_shop: OpenShop) -> None:
    plain, open_ = open_shop(), open_shop(reasons=True)
    assert plain.buy("a", med("male", "51", 1), ceiling=699_999_999).json() == {"purchase": {"refused": "refused"}}
    assert open_.buy("a", med("male", "51", 1), ceiling=699_999_999).json() == {"purchase": {"refused": "ceiling"}}
    for shop, word in ((plain, "refused"), (open_, "credit")):
        assert shop.buy("a", med("male", "51", 1), who="bob").json()["purchase"]["price"] == 700_000_000
        assert shop.buy("b", med("female", "45", 2), who="bob").json() == {"purchase": {"refused": word}}
        assert shop.provider.ledger.total("bob") == (1, 700_000_000)


def test_what_is_free_is_sold_even_if_more_was_spent_than_the_credit_is_now(open_shop: OpenShop) -> None:
    shop = open_shop(reasons=True)
    shop.buy("a", med("male", "51", 1), who="bob")
    shop.accounts.set_credit("bob", 1)
    assert shop.buy("b", med("female", "45", 3), who="bob").json()["purchase"]["price"] == 0
    assert shop.buy("c", med("female", "45", 2), who="bob").json() == {"purchase": {"refused": "credit"}}
    assert shop.provider.ledger.total("bob") == (1, 700_000_000)


def test_a_root_for_nothing_leaves_no_word_of_who_is_in_the_table(open_shop: OpenShop) -> None:
    shop = open_shop(reasons=True)
    told = shop.buy("a", med("male", "51", 3)).json()["purchase"]
    assert told == {"id": "a", "price": 0, "level": 3, "answer": "*"}, "no receipt"
    assert shop.buy("a", med("male", "51", 3)).json()["purchase"] == told
    assert shop.provider.ledger.head().entries == 1, "and nothing that a log could prove"
    assert shop.call("GET", "/v1/account").json()["purchases"] == []
    assert shop.buy("b", med("male", "99", 3)).json() == {"purchase": {"refused": "no_match"}}


def test_roots_for_nothing_are_limited_like_quotes(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=3)
    for key in "abc":
        assert shop.buy(key, med("male", "51", 3)).status_code == 200
    assert error_of(shop.buy("d", med("male", "51", 3)))[:2] == (429, "rate_limited")


def test_a_run_goes_on_over_a_root_for_nothing_and_ends_where_more_was_planned_for_it(open_shop: OpenShop) -> None:
    shop = open_shop()
    root, value = med("male", "51", 3), med("male", "51", 1)

    def run(*ordered: tuple[str, Any, int]) -> list[Any]:
        body = {"run": [{"key": key, "request": request, "ceiling": ceiling} for key, request, ceiling in ordered]}
        return [one["id"] for one in shop.call("POST", "/v1/runs", json=body).json()["purchases"]]

    assert run(("a", root, 0), ("b", value, 700_000_000), ("c", root, 0), ("d", value, 0)) == ["a", "b", "c", "d"]
    assert run(("e", root, 5), ("f", value, 0)) == ["e"]
    assert shop.provider.ledger.total("ann") == (2, 700_000_000)


def test_credit_and_revocation_count_from_the_next_purchase_on(shop: Shop) -> None:
    shop.quotes(med("male", "51", 1), who="bob")  # the account is known, and a moment old
    shop.accounts.set_credit("bob", 0)
    assert shop.buy("a", med("male", "51", 1), who="bob").json() == {"purchase": {"refused": "refused"}}
    shop.quotes(med("male", "51", 1), who="bob")
    shop.accounts.revoke("bob")
    assert error_of(shop.buy("b", med("male", "51", 3), who="bob"))[0] == 401
    assert shop.provider.ledger.total("bob") == (0, 0)


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({}, 400, "Idempotency-Key is missing"),
        ({"Idempotency-Key": ""}, 400, "Idempotency-Key is missing"),
        ({"Idempotency-Key": "k" * 257}, 422, "an idempotency key must be 1 to 256 printable characters"),
        ({"Idempotency-Key": "a\tb"}, 422, "an idempotency key must be"),
        ({"Idempotency-Key": "."}, 422, "the header Idempotency-Key must not be '.'"),
        ({"Idempotency-Key": ".."}, 422, "the header Idempotency-Key must not be '..'"),
    ],
)
def test_a_purchase_needs_a_key(shop_of_all: Shop, headers: dict[str, str], status: int, said: str) -> None:
    body = {"request": med("male", "51", 1), "ceiling": 1}
    found, _, message = error_of(shop_of_all.call("POST", "/v1/purchases", headers=headers, json=body))
    assert found == status
    assert said in message


def test_what_a_match_does_not_need_is_neither_sold_for_nor_kept(shop: Shop) -> None:
    more = {"tuple": {"GEN": "male", "AGE": "51", "ZIP": "x" * 10_000}, "attribute": "MED", "level": 3}
    for answer in (shop.buy("a", more), shop.buy_many("b", med("male", "51", 3), more)):
        assert error_of(answer) == (
            422,
            "unprocessable",
            "column 'ZIP' is not one that the match of MED needs; it needs GEN, AGE",
        )
    assert shop.provider.ledger.head().entries == 1
    assert error_of(shop.buy("a", {"tuple": {"GEN": "male"}, "attribute": "MED", "level": 3}))[0] == 422


def test_own_purchases_can_be_asked_about_again_and_others_cannot(shop: Shop) -> None:
    bought = shop.buy_many("odd key/1", med("male", "51", 1)).json()["purchases"][0]
    found = shop.call("GET", "/v1/purchases/odd%20key%2F1%2F0").json()
    assert found.pop("request") == med("male", "51", 1)
    assert found == bought
    for who, key in (
        ("bob", "odd%20key%2F1%2F0"),
        ("ann", "other"),
        ("ann", "odd%20key/1"),
        ("ann", "%00"),
        ("ann", "x" * 300),
    ):
        assert error_of(shop.call("GET", f"/v1/purchases/{key}", who))[:2] == (404, "not_found")


def test_when_the_store_fails_nothing_is_answered(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise StorageError("the ledger l.db cannot grow: the disk is full; nothing was recorded")

    with monkeypatch.context() as broken:
        broken.setattr(shop.provider.ledger, "append", full)
        status, code, message = error_of(shop.buy("a", med("male", "51", 1)))
    assert (status, code) == (503, "unavailable")
    assert "NSAID" not in message and "disk" not in message
    assert "the disk is full" in shop.log_lines()[-1]["problem"], "the operator is told"
    assert shop.buy("a", med("male", "51", 1)).json()["purchase"]["price"] == 700_000_000


def test_buyers_at_once_spend_no_more_than_their_credit(open_shop: OpenShop) -> None:
    shop = open_shop()
    with_account(shop.accounts, "carl", credit=1_000_000_000)
    people = [("male", "51"), ("female", "45"), ("female", "32"), ("male", "79")] * 4

    def buy(number: int) -> Any:
        gender, age = people[number]
        return shop.buy(f"k{number}", med(gender, age, 2), who="carl").json()["purchase"]

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(buy, range(len(people))))
    spent = sum(one.get("price", 0) for one in told)
    assert spent == shop.provider.ledger.total("carl").spent <= 1_000_000_000
    assert any("refused" in one for one in told) and spent > 0


def test_another_process_s_purchases_are_taken_in(open_shop: OpenShop) -> None:
    provider = example_provider()
    shop = open_shop(provider)
    other = example_provider(provider.ledger)
    with_account(shop.accounts, "dan", role=Role.CLIENT)
    other.pay(Request({"GEN": "male", "AGE": "51"}, "MED", 1), 10**10, "there", buyer="dan")
    for _ in range(200):
        if shop.quotes(med("male", "51", 1), who="dan").json() == {"quotes": [{"price": 0}]}:
            return
    raise AssertionError("the other's purchase was not taken in")


@pytest.mark.parametrize(
    ("change", "status"),
    [("revoked = 1", 401), ("role = 'operator'", 403), ("credit = 1", 200), ("credit = NULL", 200)],
)
def test_a_sale_that_waited_goes_by_the_account_as_it_is_then(
    open_shop: OpenShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, status: int
) -> None:
    path = tmp_path / "l.db"
    with closing(SqliteLedger(path)) as ledger, closing(open_accounts("sqlite:///l.db", tmp_path)) as accounts:
        shop = open_shop(example_provider(ledger), accounts, reasons=True)
        waits = told_of_waiting(ledger, monkeypatch)
        with ThreadPoolExecutor(1) as pool, closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute(f"UPDATE account SET {change} WHERE name = 'bob'")
            buying = pool.submit(shop.buy, "a", med("male", "51", 1), who="bob")
            assert waits.wait(30)
            other.execute("COMMIT")
            answer = buying.result()
        assert answer.status_code == status
        is_sold = change == "credit = NULL"
        assert is_sold or status != 200 or answer.json() == {"purchase": {"refused": "credit"}}
        assert ledger.head().entries == (2 + len(accounts.list()) if is_sold else 1)


def run_of(shop: Shop, *orders: dict[str, Any]) -> Any:
    return shop.call("POST", "/v1/runs", json={"run": list(orders)})


def test_what_is_sold_together_is_proved_by_one_head(shop: Shop) -> None:
    prices = [700_000_000] * 3
    people = [("male", "51"), ("female", "45"), ("male", "79")]
    for i, who in enumerate(people):
        (quote,) = shop.quotes(med(*who, 1)).json()["quotes"]
        prices[i] = quote["price"]
    orders = [
        {"request": med(*who, 1), "ceiling": price, "key": f"k{i}"}
        for i, (who, price) in enumerate(zip(people, prices, strict=True))
    ]
    told = run_of(shop, *orders).json()["purchases"]
    receipts = [ReceiptDocument(**one["receipt"]).signed() for one in told if "receipt" in one]
    assert len(receipts) >= 2 and all(one.is_in_log for one in receipts)
    assert len({one.logged.signed_head for one in receipts if one.logged is not None}) == 1


def test_a_run_is_sold_in_one_step_up_to_the_first_surprise(shop: Shop) -> None:
    first, second = med("male", "51", 1), med("female", "45", 1)
    orders = [
        {"request": first, "ceiling": 700_000_000, "key": "a"},
        {"request": second, "ceiling": 10**12, "key": "b"},
        {"request": med("male", "79", 1), "ceiling": 700_000_000, "key": "c"},
    ]
    told = run_of(shop, *orders).json()["purchases"]
    assert [one["id"] for one in told] == ["a", "b"], "the second cost less than its ceiling"
    assert run_of(shop, *orders).json()["purchases"] == told
    assert shop.provider.ledger.total("ann").purchases == 2
    assert shop.call("GET", "/v1/purchases/b").json()["id"] == "b"


def test_a_run_whose_quotes_are_others_by_now_sells_nothing(shop: Shop) -> None:
    quoted = {"tuple": {"GEN": "male", "AGE": "51"}, "attribute": "MED", "prices": [1, 1, 1, 0]}
    order = {"request": med("male", "51", 1), "ceiling": 10**12, "key": "a", "quoted": [quoted]}
    assert run_of(shop, order).json() == {"purchases": []}
    assert shop.provider.ledger.total("ann").purchases == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"key": ""},
        {"key": "."},
        {"key": " a"},
        {"key": "é"},
        {"ceiling": -1},
        {"quoted": [{"tuple": {"ZIP": "1"}, "attribute": "MED", "prices": [0]}]},
        {"quoted": [{"tuple": {}, "attribute": "MED", "prices": [-7]}]},
        {"more": 1},
    ],
)
def test_a_run_that_is_mistaken_is_refused_whole(shop: Shop, changed: dict[str, Any]) -> None:
    good = {"request": med("male", "51", 1), "ceiling": 700_000_000, "key": "a"}
    assert run_of(shop, good | {"key": "b"}, good | changed).status_code in (400, 422)
    assert run_of(shop).status_code == 422
    assert shop.provider.ledger.total("ann").purchases == 0


def test_a_run_counts_what_it_asks_about(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=4)
    other = {"tuple": {"GEN": "female", "AGE": "45"}, "attribute": "MED", "prices": [0, 0, 0, 0]}
    order = {"request": med("male", "51", 1), "ceiling": 0, "key": "a", "quoted": [other, other]}
    assert run_of(shop, order).status_code == 200
    assert run_of(shop, order).status_code == 429
