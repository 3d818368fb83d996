"""Large questions come in parts: others come in between, and who has gone is not worked for any more."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pytest
from arrow_streams import stream
from example_shop import OpenShop, med
from running_service import with_account

from pacas import example
from pacas.errors import StorageError
from pacas.provider.ledger.accounts import Role
from pacas.provider.matching.similarity import SimilarityIndex
from pacas.provider.provider import Provider
from pacas.server.service import Service
from pacas.server.signing_key import SigningKey
from pacas.server.thread_pools import Rounds
from pacas.server.trading import quoting
from pacas.server.trading.sales_desk import SalesDesk, WantedPurchase
from pacas.wire.shapes.base import ARROW

pytestmark = pytest.mark.attack


class Slow:
    """A provider that finds tuples by likeness, and waits for leave to find each part of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        hierarchies = example.hierarchies
        match = {"MED": "GEN = GEN, AGE ~ AGE within 1"}
        self.provider = Provider(
            example.provider, match=match, hierarchies=hierarchies, total=6, seed=7, quotes="paper"
        )
        self.parts: list[tuple[str, int]] = []
        self.leave = threading.Semaphore(0)
        self.waits = True
        quote = self.provider.quote_batch

        def slow(attribute: str, tuples: Any, *, buyer: str) -> Any:
            self.parts.append((buyer, len(tuples["GEN"])))
            if buyer != "bob" and self.waits:
                self.leave.acquire(timeout=30)
            return quote(attribute, tuples, buyer=buyer)

        monkeypatch.setattr(self.provider, "quote_batch", slow)
        monkeypatch.setattr(quoting, "SHORT", 0.0)  # parts stay small


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    return Slow(monkeypatch)


MANY = [med("male", "51")] * 100
HEAD = (
    b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-ann\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n"
)


def test_parts_make_the_whole(open_shop: OpenShop, slow: Slow) -> None:
    slow.waits = False
    shop = open_shop(slow.provider)
    (one,) = shop.quotes(MANY[0]).json()["quotes"]
    slow.parts.clear()
    assert shop.quotes(*MANY).json()["quotes"] == [one] * 100
    table = pa.table({"GEN": ["male"] * 100, "AGE": ["51"] * 100})
    told = shop.call("POST", "/v1/quotes/MED", headers={"Content-Type": ARROW}, content=stream(table))
    assert pa.ipc.open_stream(told.content).read_all().num_rows == 100
    sizes = [size for _, size in slow.parts]
    assert sum(sizes) == 200 and max(sizes) == quoting.SMALLEST_PART


def test_many_calls_of_one_account_keep_nobody_else_waiting(open_shop: OpenShop, slow: Slow) -> None:
    shop = open_shop(slow.provider)
    body = json.dumps({"requests": MANY}).encode()
    host, port = shop.url.removeprefix("http://").split(":")
    held = [socket.create_connection((host, int(port)), timeout=30) for _ in range(5)]
    for connection in held:
        connection.sendall(HEAD % len(body) + body)
    while not slow.parts:
        pass
    assert len(shop.quotes(*MANY, who="bob").json()["quotes"]) == 100, "while ann waits"
    assert [buyer for buyer, _ in slow.parts].count("ann") == 1, "one call of an account at a time"
    slow.waits = False
    for _ in range(100):
        slow.leave.release()
    for connection in held:
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        connection.close()


def test_what_takes_more_than_a_look_is_found_where_neither_the_loop_nor_the_ledger_waits(
    open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A purchase, many, and a run with what it was planned by, of a provider that finds people by likeness."""
    match = {"MED": "ZIP ~ ZIP jaro_winkler 0.8"}
    provider = Provider(example.provider, match=match, hierarchies=example.hierarchies, total=6)
    threads: list[str] = []
    search = SimilarityIndex._search

    def noted(index: SimilarityIndex, value: str) -> Any:
        threads.append(threading.current_thread().name)
        return search(index, value)

    monkeypatch.setattr(SimilarityIndex, "_search", noted)
    shop = open_shop(provider)
    asked = [{"tuple": {"ZIP": f"P0T2T{end}"}, "attribute": "MED", "level": 3} for end in "123456789"]
    assert shop.quotes(asked[0]).status_code == shop.quotes(*asked[1:3]).status_code == 200
    assert shop.buy("one", asked[3]).status_code == shop.buy_many("many", *asked[4:6]).status_code == 200
    quoted = [{"tuple": asked[8]["tuple"], "attribute": "MED", "prices": [0, 0, 0, 0]}]
    run = [{"request": one, "ceiling": 0, "key": str(place), "quoted": quoted} for place, one in enumerate(asked[6:8])]
    assert shop.call("POST", "/v1/runs", json={"run": run}).status_code == 200
    assert len(threads) == len(asked), "each is found once, and kept"
    assert all(name.startswith("pacas-quotes") for name in threads), set(threads)


def test_of_calls_that_are_answered_at_once_an_account_has_one_in_a_round() -> None:
    served: list[str] = []

    async def call(rounds: Rounds, account: str) -> None:
        await rounds.turn(account)
        served.append(account)

    async def serve() -> None:
        rounds = Rounds()
        calls = [asyncio.create_task(call(rounds, "ann")) for _ in range(20)]
        calls[7].cancel()
        await asyncio.sleep(0)
        calls += [asyncio.create_task(call(rounds, "bob")) for _ in range(2)]
        await asyncio.gather(*calls, return_exceptions=True)
        await rounds.turn("ann")  # as if nobody had been there

    asyncio.run(asyncio.wait_for(serve(), 30))
    assert served.count("ann") == 19 and served.count("bob") == 2
    assert served.index("bob") <= 3, "after a few of ann's, and not after all"


def test_purchases_of_one_account_leave_room_for_others(open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = open_shop()
    leave, begun = threading.Event(), threading.Semaphore(0)
    commits: list[list[str]] = []
    asked: list[str] = []
    sell, buy = shop.provider.till.sell_each, SalesDesk.buy

    async def noted(desk: SalesDesk, wanted: WantedPurchase) -> bytes:
        asked.append(wanted.account.name)
        return await buy(desk, wanted)

    def slow(orders: Sequence[Any]) -> Any:
        begun.release()
        leave.wait(30)
        commits.append([buyer for _, buyer, _ in orders])
        return sell(orders)

    monkeypatch.setattr(SalesDesk, "buy", noted)
    monkeypatch.setattr(shop.provider.till, "sell_each", slow)
    buying = [threading.Thread(target=shop.buy, args=(f"{i}", med("male", "51", 1))) for i in range(50)]
    for thread in buying:
        thread.start()
    assert begun.acquire(timeout=30)
    bobs = threading.Thread(target=shop.buy, args=("b", med("female", "53", 1)), kwargs={"who": "bob"})
    bobs.start()
    while "bob" not in asked:
        pass
    leave.set()
    for thread in (*buying, bobs):
        thread.join()
    assert shop.provider.ledger.total("ann").purchases == 50
    bought = [buyer for commit in commits for buyer in commit]
    assert bought.index("bob") <= 16, "after those of ann's that have begun, and not after 50"
    assert len(commits) < 51, "those that wait together are sold together"


def test_purchases_that_wait_for_a_ledger_that_is_away_do_not_wait_one_after_the_other(
    open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = open_shop()
    begun, leave, waiting, is_ready = threading.Event(), threading.Event(), threading.Event(), [True]
    buy, told = SalesDesk.buy, list[int]()

    async def noted(desk: SalesDesk, wanted: WantedPurchase) -> bytes:
        if begun.is_set():
            waiting.set()
        return await buy(desk, wanted)

    def locked(orders: Sequence[Any]) -> Any:
        begun.set()
        leave.wait(30)
        raise StorageError("is in use")

    monkeypatch.setattr(SalesDesk, "buy", noted)
    monkeypatch.setattr(shop.provider.till, "sell_each", locked)
    monkeypatch.setattr(Service, "is_ready", property(lambda service: is_ready[0]))

    def asked(key: str) -> None:
        told.append(shop.buy(key, med("male", "51", 1)).status_code)

    first, second = (threading.Thread(target=asked, args=(key,)) for key in "ab")
    first.start()
    assert begun.wait(30)
    second.start()
    assert waiting.wait(30)
    monkeypatch.setattr(shop.provider.till, "sell_each", lambda orders: pytest.fail("waits for the ledger again"))
    is_ready[0] = False
    leave.set()
    first.join()
    second.join()
    assert told == [503, 503]


def test_who_has_gone_is_not_worked_for(open_shop: OpenShop, slow: Slow) -> None:
    shop = open_shop(slow.provider)
    body = json.dumps({"requests": MANY}).encode()
    host, port = shop.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(HEAD % len(body) + body)
        while not slow.parts:
            pass
    for _ in range(20):
        shop.call("GET", "/v1/health", None)  # the loop has heard of it by now
    slow.leave.release()
    while not any(line.get("status") == 499 for line in shop.log_lines()):
        pass
    assert len(slow.parts) <= 2


def test_who_reconciles_and_has_gone_is_not_worked_for(open_shop: OpenShop, slow: Slow) -> None:
    shop = open_shop(slow.provider, reconcile=True, reasons=True)
    token = with_account(shop.accounts, "refine", role=Role.RECONCILE, credit=1)
    given = [{"pid": "GEN", "v": "male"}, {"pid": "AGE", "v": "51"}]
    asked = {f"q{i}": {"query": "", "properties": given} for i in range(100)}
    body = urlencode({"queries": json.dumps(asked)}).encode()
    head = b"POST /reconcile/%b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nContent-Type: %b\r\n\r\n"
    host, port = shop.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head % (token.encode(), len(body), b"application/x-www-form-urlencoded") + body)
        while not slow.parts:
            pass
    for _ in range(20):
        shop.call("GET", "/v1/health", None)
    slow.leave.release()
    while not any(line.get("status") == 499 for line in shop.log_lines()):
        pass
    assert len(slow.parts) <= 2 and slow.parts[0] == ("refine", quoting.SMALLEST_PART)


def test_a_body_that_is_too_much_is_refused_before_it_is_read(open_shop: OpenShop) -> None:
    shop = open_shop(quotes_per_minute=100)
    host, port = shop.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(HEAD % 90_000 + b" " * 90_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 400 "), "no JSON, and counted"
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(HEAD % 90_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 429 "), "and no byte of it was sent"


def test_a_receipt_is_signed_once(open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch) -> None:
    signed: list[Any] = []
    sign = SigningKey.sign

    def noted(key: SigningKey, receipt: Any) -> Any:
        signed.append(receipt)
        return sign(key, receipt)

    monkeypatch.setattr(SigningKey, "sign", noted)
    shop = open_shop()
    first = shop.buy("a", med("male", "51", 1)).json()["purchase"]
    assert shop.buy("a", med("male", "51", 1)).json()["purchase"] == first
    for _ in range(3):
        (told,) = shop.call("GET", "/v1/account").json()["purchases"]
        assert told["receipt"] == first["receipt"]
    assert len(signed) == 1
