"""Who may call what, what an account sees of itself, and what an operator sees of all."""

from __future__ import annotations

from dataclasses import replace
from time import sleep, time
from typing import Any

import pytest
from example_shop import OpenShop, Shop, error_of, med

from pacas.provider.ledger.accounts import Account, MemoryAccounts, Role, token_hash
from pacas.server.authentication import STALE

OPEN = ("/v1/key", "/v1/health", "/v1/ready", "/v1/openapi.json")
FOR_CLIENTS = (
    ("POST", "/v1/quotes"),
    ("POST", "/v1/quotes/MED"),
    ("POST", "/v1/purchases"),
    ("GET", "/v1/purchases/k"),
)
FOR_OPERATORS = (("GET", "/v1/accounts"), ("GET", "/metrics"))
FOR_BOTH = (("GET", "/v1/catalogue"), ("GET", "/v1/account"))


@pytest.mark.parametrize("path", OPEN)
def test_what_needs_no_token(shop_of_all: Shop, path: str) -> None:
    assert shop_of_all.call("GET", path, None).status_code == 200


@pytest.mark.parametrize(("method", "path"), [*FOR_CLIENTS, *FOR_OPERATORS, *FOR_BOTH])
def test_none_an_unknown_and_a_revoked_token_are_not_told_apart(shop_of_all: Shop, method: str, path: str) -> None:
    basic = {"Authorization": "Basic token-of-ann"}
    answers = [
        shop_of_all.call(method, path, None),
        shop_of_all.call(method, path, "nobody"),
        shop_of_all.call(method, path, "eve"),
        shop_of_all.call(method, path, None, basic),
        shop_of_all.call(method, path, None, {"Authorization": "Bearer"}),
        shop_of_all.call(method, path, None, {"Authorization": "Bearer " + "x" * 2000}),
    ]
    assert {error_of(answer)[:2] for answer in answers} == {(401, "unauthorized")}
    assert len({answer.content for answer in answers}) == 1
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}


@pytest.mark.parametrize(("method", "path"), FOR_CLIENTS)
def test_an_operator_may_not_ask_or_buy(shop_of_all: Shop, method: str, path: str) -> None:
    assert error_of(shop_of_all.call(method, path, "olga"))[:2] == (403, "forbidden")


@pytest.mark.parametrize(("method", "path"), FOR_OPERATORS)
def test_a_client_may_not_look_at_the_others(shop_of_all: Shop, method: str, path: str) -> None:
    assert error_of(shop_of_all.call(method, path, "ann"))[:2] == (403, "forbidden")


@pytest.mark.parametrize(("method", "path"), FOR_BOTH)
@pytest.mark.parametrize("who", ["ann", "olga"])
def test_both_see_the_catalogue_and_themselves(shop_of_all: Shop, method: str, path: str, who: str) -> None:
    assert shop_of_all.call(method, path, who).status_code == 200


def test_a_revocation_is_seen_in_time_by_those_who_ask(shop: Shop) -> None:
    assert shop.quotes(med("male", "51", 1)).status_code == 200
    shop.accounts.revoke("ann")
    answers = [shop.quotes(med("male", "51", 1)).status_code]
    while answers[-1] == 200 and len(answers) < 10_000:
        answers.append(shop.quotes(med("male", "51", 1)).status_code)
    assert answers[-1] == 401
    assert STALE <= 0.1


def test_accounts_are_not_looked_up_for_every_quote(open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(MemoryAccounts):
        asked = 0

        def by_token(self, token_hash: str) -> Account | None:
            self.asked += 1
            return super().by_token(token_hash)

    accounts = Counting()
    shop = open_shop(accounts=accounts)
    monkeypatch.setattr("pacas.server.authentication.STALE", 1e9)
    for _ in range(20):
        shop.quotes(med("male", "51", 1))
    assert accounts.asked == 1


def test_a_store_that_mixes_up_tokens_lets_nobody_in(open_shop: OpenShop) -> None:
    class Mixed(MemoryAccounts):
        def by_token(self, token_hash: str) -> Account | None:
            return replace(self.list()[0], token_hash="0" * 64)

    assert error_of(open_shop(accounts=Mixed()).quotes(med("male", "51", 1)))[0] == 401


def test_an_account_sees_what_it_spent_and_bought_page_by_page(shop: Shop) -> None:
    shop.buy_many("m", *[med("male", "51", level) for level in (2, 1, 1)])
    shop.buy("other", med("male", "51", 2), who="bob")
    shop.buy("last", med("male", "51", 2))
    pages: list[dict[str, Any]] = []
    after = "0"
    while after is not None:
        pages.append(shop.call("GET", f"/v1/account?after={after}&limit=2").json())
        after = pages[-1]["next"]
    assert [[one["id"] for one in page["purchases"]] for page in pages] == [["m/0", "m/1"], ["m/2", "last"]]
    summary = {key: pages[0][key] for key in ("account", "role", "credit", "spent", "remaining")}
    assert summary == {"account": "ann", "role": "client", "credit": None, "spent": 700_000_000, "remaining": None}
    first = pages[0]["purchases"][0]
    assert first == shop.call("GET", "/v1/purchases/m/0").json()
    assert shop.call("GET", "/v1/account").json()["next"] is None


def test_a_page_of_large_purchases_ends_early(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    bought = shop.buy_many("m", *[med("male", "51", 2)] * 5).json()["purchases"]
    one_size = len(shop.call("GET", "/v1/purchases/m/0").content)
    for size, pages in ((1, 5), (2 * one_size + 100, 3), (10**6, 1)):
        monkeypatch.setattr("pacas.server.routes.PAGE_BYTES", size)
        ids: list[list[str]] = []
        after = "0"
        while after is not None:
            page = shop.call("GET", f"/v1/account?after={after}").json()
            ids.append([one["id"] for one in page["purchases"]])
            after = page["next"]
        assert [one for ids_of_page in ids for one in ids_of_page] == [one["id"] for one in bought]
        assert len(ids) == pages


def test_remaining_is_what_is_left_of_the_credit(shop: Shop) -> None:
    shop.buy("a", med("male", "51", 1), who="bob")
    account = shop.call("GET", "/v1/account", "bob").json()
    assert (account["credit"], account["spent"], account["remaining"]) == (10**9, 700_000_000, 300_000_000)
    shop.accounts.set_credit("bob", 5)
    assert shop.call("GET", "/v1/account", "bob").json()["remaining"] in (0, 300_000_000), "at most 100 ms old"


@pytest.mark.parametrize(
    "query", ["after=x", "after=-1", "limit=0", "limit=1001", "limit=", "limit=1.5", "after=" + "9" * 99]
)
def test_pages_that_are_none(shop_of_all: Shop, query: str) -> None:
    assert error_of(shop_of_all.call("GET", f"/v1/account?{query}"))[:2] == (422, "unprocessable")


def test_an_operator_sees_all_accounts_and_no_token(shop: Shop) -> None:
    shop.buy("a", med("male", "51", 1), who="bob")
    listed = shop.call("GET", "/v1/accounts", "olga")
    assert [tuple(line.values()) for line in listed.json()] == [
        ("ann", "client", None, 0, 0, 0, None, False, None),
        ("bob", "client", 10**9, 700_000_000, 1, 700_000_000, None, False, None),
        ("eve", "client", None, 0, 0, 0, None, True, None),
        ("olga", "operator", None, 0, 0, 0, None, False, None),
    ]
    shown = ["account", "role", "credit", "spent", "purchases", "listed", "terms", "revoked", "quotes_per_minute"]
    assert list(listed.json()[0]) == shown


def test_during_an_overlap_both_tokens_open_the_account_and_then_the_new_one_alone(shop: Shop) -> None:
    def asked(token: str) -> tuple[int, str]:
        told = shop.call("GET", "/v1/account", None, {"Authorization": f"Bearer {token}"})
        return told.status_code, told.json().get("account") or error_of(told)[1]

    shop.accounts.set_token("ann", token_hash("new"), None, int(time()) + 1000)
    assert asked("new") == asked("token-of-ann") == (200, "ann")
    shop.accounts.set_token("bob", token_hash("newer"), None, int(time()) - 1)
    assert asked("newer") == (200, "bob")
    assert asked("token-of-bob") == (401, "token_expired")


def test_a_token_that_has_expired_is_told_so_and_another_one_nothing(shop: Shop) -> None:
    now = int(time())
    shop.accounts.add(Account("kim", Role.CLIENT, None, False, token_hash("over"), expires=now - 1))
    shop.accounts.add(Account("lee", Role.CLIENT, None, False, token_hash("ahead"), expires=now + 3600))

    def asked(token: str) -> tuple[int, str]:
        return error_of(shop.call("GET", "/v1/account", None, {"Authorization": f"Bearer {token}"}))[:2]

    assert asked("over") == (401, "token_expired")
    assert asked("over") == (401, "token_expired")
    assert shop.call("GET", "/v1/account", None, {"Authorization": "Bearer ahead"}).status_code == 200
    assert asked("another") == (401, "unauthorized")
    shop.accounts.revoke("kim")
    sleep(2 * STALE)
    assert asked("over") == (401, "unauthorized")
