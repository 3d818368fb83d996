"""Large questions come in parts: others come in between, and who has gone is not worked for any more."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

import pyarrow as pa
import pytest
from arrow_streams import stream
from example_shop import OpenShop, med

from pacas import example
from pacas.provider.provider import Provider
from pacas.server import quoting
from pacas.server.signing_key import SigningKey
from pacas.wire.shapes import ARROW

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
            if buyer == "ann" and self.waits:
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
