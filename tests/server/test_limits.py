"""Limits: how large a body, how many requests in a call, how many tuples in a minute."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest
from example_shop import OpenShop, Shop, error_of, med

from pacas.protocol.messages import Request
from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.server.http.failures import Failure
from pacas.server.limits import QuoteLimit, ServiceSettings
from pacas.wire.shapes.base import ARROW
from pacas.wire.shapes.failures import ErrorCode
from pacas.wire.shapes.purchases import LARGEST_RUN

pytestmark = pytest.mark.attack

ANN, BOB = (Account(name, Role.CLIENT, None, False, token_hash(name)) for name in ("ann", "bob"))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_bucket_fills_up_as_time_goes_by() -> None:
    clock = Clock()
    limit = QuoteLimit(60, clock)
    limit.take(ANN, 50)
    limit.take(ANN, 10)
    with pytest.raises(Failure) as full:
        limit.take(ANN, 5)
    assert full.value.code is ErrorCode.RATE_LIMITED
    assert full.value.headers == {"Retry-After": "5"}
    limit.take(BOB, 60)
    clock.now += 4.9
    with pytest.raises(Failure):
        limit.take(ANN, 5)
    clock.now += 0.2
    limit.take(ANN, 5)
    clock.now += 1e6
    limit.take(ANN, 60)
    with pytest.raises(Failure):
        limit.take(ANN, 1)


def test_a_call_over_the_limit_counts_nothing() -> None:
    limit = QuoteLimit(60, Clock())
    with pytest.raises(Failure) as never:
        limit.take(ANN, 61)
    assert never.value.code is ErrorCode.TOO_LARGE, "that many never come together"
    limit.take(ANN, 60)


def test_an_account_may_have_a_rate_of_its_own_and_another_from_now_on() -> None:
    clock = Clock()
    limit = QuoteLimit(60, clock)
    slow = replace(ANN, quotes_per_minute=6)
    with pytest.raises(Failure) as many:
        limit.take(slow, 7)
    assert (many.value.code, "6 requests" in many.value.message) == (ErrorCode.TOO_LARGE, True)
    limit.take(slow, 6)
    with pytest.raises(Failure) as full:
        limit.take(slow, 1)
    assert full.value.headers == {"Retry-After": "10"}
    limit.take(BOB, 60)
    clock.now += 10
    limit.take(slow, 1)
    fast = replace(ANN, quotes_per_minute=600)
    clock.now += 1
    limit.take(fast, 10)
    with pytest.raises(Failure):
        limit.take(fast, 1)


def test_an_accounts_own_rate_holds_over_http_and_its_catalogue_says_so(open_shop: OpenShop) -> None:
    shop = open_shop(max_batch=50)
    everybody = shop.call("GET", "/v1/catalogue").json()
    shop.accounts.set_rate("bob", 3)
    own = shop.call("GET", "/v1/catalogue", "bob").json()
    assert own["limits"] == everybody["limits"] | {"quotes_per_minute": 3, "max_batch": 3, "max_run": 3}
    assert own | {"limits": everybody["limits"]} == everybody
    assert error_of(shop.quotes(*[med("male", "51", 1)] * 4, who="bob"))[:2] == (413, "too_large")
    assert shop.quotes(*[med("male", "51", 1)] * 3, who="bob").status_code == 200
    assert error_of(shop.quotes(med("male", "51", 1), who="bob"))[:2] == (429, "rate_limited")
    assert error_of(shop.buy("k", med("male", "51", 1), who="bob"))[:2] == (429, "rate_limited")
    assert shop.quotes(*[med("male", "51", 1)] * 40).status_code == 200
    rates = {one["account"]: one["quotes_per_minute"] for one in shop.call("GET", "/v1/accounts", "olga").json()}
    assert rates == {"ann": None, "bob": 3, "eve": None, "olga": None}


def test_each_tuple_counts_whatever_is_answered(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=10)
    assert shop.quotes(*[med("male", "45")] * 9).status_code == 200
    answer = shop.quotes(med("male", "51", 1), med("male", "51", 1))
    status, code, message = error_of(answer)
    assert (status, code) == (429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 12
    assert "10 tuples a minute" in message
    assert shop.quotes(med("male", "51", 1), who="bob").status_code == 200, "each account has its own"
    assert shop.quotes(med("male", "45", 1)).status_code == 200
    table = pa.table({"GEN": ["male"] * 9, "AGE": ["51"] * 9})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    arrow = shop.call("POST", "/v1/quotes/MED", headers={"Content-Type": ARROW}, content=bytes(sink.getvalue()))
    assert error_of(arrow)[0] == 429


def test_a_purchase_counts_as_a_question_refused_or_not(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=3)
    for i in range(2):
        assert "refused" in shop.buy(f"k{i}", med("male", "51", 1), ceiling=0).json()["purchase"]
    assert "answer" in shop.buy("k2", med("male", "51", 1)).json()["purchase"]
    answer = shop.buy("k3", med("male", "51", 1), ceiling=0)
    assert error_of(answer)[:2] == (429, "rate_limited") and answer.headers["retry-after"]
    assert error_of(shop.quotes(med("male", "51", 1)))[0] == 429


def test_what_was_bought_before_is_told_again_whatever_the_limit_says(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=3)
    one = shop.buy("one", med("male", "51", 2)).json()
    many = shop.buy_many("many", med("male", "51", 2), med("male", "51", 1)).json()
    assert error_of(shop.quotes(med("male", "51", 1)))[0] == 429
    for _ in range(3):
        assert shop.buy("one", med("male", "51", 2)).json() == one
        assert shop.buy_many("many", med("male", "51", 2), med("male", "51", 1)).json() == many
    assert error_of(shop.buy("one", med("male", "51", 1)))[0] == 409
    assert shop.provider.ledger.total("ann").purchases == 3


def test_of_many_purchases_that_the_limit_refuses_none_is_made(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=4)
    assert shop.quotes(med("male", "51", 1), med("male", "51", 1)).status_code == 200
    asked = [med("male", "51", 2)] * 3
    answer = shop.buy_many("m", *asked)
    assert error_of(answer)[:2] == (429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 15, "one more than are left"
    assert shop.provider.ledger.total("ann").purchases == 0
    assert shop.buy_many("m", *asked[:2]).status_code == 200, "what was refused is not counted"


def test_of_many_purchases_only_those_not_made_before_count(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=4)
    asked = [med("male", "51", 2)] * 4
    for i in range(2):  # as a call leaves it that was cut in the middle
        shop.provider.sell(Request(asked[i]["tuple"], "MED", 2), 10**10, f"m/{i}", buyer="ann")
    assert shop.quotes(med("male", "51", 1), med("male", "51", 1)).status_code == 200
    told = shop.buy_many("m", *asked).json()["purchases"]
    assert [one["id"] for one in told] == ["m/0", "m/1", "m/2", "m/3"]
    assert error_of(shop.quotes(med("male", "51", 1)))[0] == 429


def test_a_batch_may_be_no_longer_than_is_allowed(open_shop: OpenShop) -> None:
    shop = open_shop(max_batch=3)
    assert shop.quotes(*[med("male", "51", 1)] * 3).status_code == 200
    status, code, message = error_of(shop.quotes(*[med("male", "51", 1)] * 4))
    assert (status, code, message) == (
        413,
        "too_large",
        "more than the 3 requests that one call may have; send fewer",
    )
    assert error_of(shop.buy_many("k", *[med("male", "51", 1)] * 4))[0] == 413
    assert shop.provider.ledger.total("ann").purchases == 0


def test_a_large_body_counts_by_its_bytes_however_little_it_asks(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=100)
    assert len(shop.quotes(*[med("male", "51", 1)] * 100).json()["quotes"]) == 100, "not its bytes besides"
    long = med("male", "5" * 60_000, 1)
    assert shop.quotes(long, who="bob").status_code == 422, "longer than a text may be, and read to say so"
    assert error_of(shop.quotes(long, who="bob"))[:2] == (429, "rate_limited")
    assert shop.quotes(med("male", "51", 1), who="bob").status_code == 200


def test_pages_of_an_account_count_by_what_is_on_them(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=25)
    shop.buy_many("m", *[med("male", "51", 1)] * 20)
    told = [shop.call("GET", "/v1/account").status_code for _ in range(10)]
    assert told[:2] == [200, 200] and 429 in told
    assert shop.call("GET", "/v1/account?limit=1").status_code == 200, "what may be spent is told at any time"


def test_a_batch_is_never_longer_than_a_minute_allows() -> None:
    assert ServiceSettings(quotes_per_minute=5, max_batch=10).batch == 5
    assert ServiceSettings(quotes_per_minute=50, max_batch=10).batch == 10


def test_a_body_that_says_it_is_too_large(open_shop: OpenShop) -> None:
    shop = open_shop(max_body_bytes=2000)
    assert shop.quotes(*[med("male", "51", 1)] * 20).status_code == 200
    status, code, message = error_of(shop.quotes(*[med("male", "51", 1)] * 40))
    assert (status, code) == (413, "too_large")
    assert "2,000 bytes" in message


def test_a_body_that_does_not_say_is_counted_as_it_comes(open_shop: OpenShop) -> None:
    shop = open_shop(max_body_bytes=2000)

    def parts() -> Iterator[bytes]:
        for _ in range(50):
            yield b" " * 100

    headers = {"Content-Type": "application/json"}
    assert error_of(shop.call("POST", "/v1/quotes", headers=headers, content=parts()))[:2] == (413, "too_large")
    assert shop.quotes(med("male", "51", 1)).status_code == 200


def test_a_client_that_leaves_in_the_middle_harms_nobody(shop: Shop) -> None:
    host, port = shop.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-ann\r\n"
            b'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"requests"'
        )
    for _ in range(500):
        if any(line.get("status") == 499 for line in shop.log_lines()):
            break
        shop.quotes(med("male", "51", 1))
    else:
        raise AssertionError("the call that was left is not in the log")
    assert "failed" not in {line["event"] for line in shop.log_lines()}


def test_a_run_is_smaller_than_other_bodies(open_shop: OpenShop) -> None:
    """It is read as a whole."""
    shop = open_shop()
    content = b'{"run":[%b]}' % (b" " * LARGEST_RUN)
    headers = {"Content-Type": "application/json"}
    assert error_of(shop.call("POST", "/v1/runs", headers=headers, content=content))[:2] == (413, "too_large")
