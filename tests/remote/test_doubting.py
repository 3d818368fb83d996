"""A client that doubts: servers that charge, answer or sign what they should not, and are believed nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from remote_shop import CREDIT, FIRST, SECRET, Before, passing, shop
from running_service import KEY, app_of, served, with_account

from pacas.errors import InputError, OverchargedError, RemoteError
from pacas.protocol.messages import ABSENT, Answer, Request
from pacas.protocol.receipt import Receipt
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.signing_key import SigningKey

pytestmark = pytest.mark.attack

Lie = Callable[[dict[str, Any]], None]


class Lying:
    """A service whose purchases are answered otherwise, and signed as if they were not."""

    def __init__(self, app: Any, lie: Lie, key: SigningKey = KEY) -> None:
        self._app, self._lie, self._key = app, lie, key

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != "/v1/purchases":
            await self._app(scope, receive, send)
            return
        begin: list[Any] = []

        async def altered(message: Any) -> None:
            if message["type"] == "http.response.start":
                begin.append(message)
                return
            body = self._altered(message["body"])
            kept = [(name, value) for name, value in begin[0]["headers"] if name != b"content-length"]
            await send({**begin[0], "headers": [*kept, (b"content-length", b"%d" % len(body))]})
            await send({**message, "body": body})

        await self._app(scope, receive, altered)

    def _altered(self, body: bytes) -> bytes:
        bought = json.loads(body)["purchase"]
        self._lie(bought)
        if "receipt" not in bought:
            return json.dumps({"purchase": bought}).encode()
        told = bought["receipt"]
        for name in ("answer", "price", "level"):
            told[name] = bought[name]
        members = {name: value for name, value in told.items() if name not in ("version", "key_id", "signature", "log")}
        signed = self._key.sign(Receipt(**members))
        told["key_id"], told["signature"] = signed.key_id, signed.signature
        return json.dumps({"purchase": bought}).encode()


@contextmanager
def lying(lie: Lie, key: SigningKey = KEY, **how: Any) -> Iterator[RemoteProvider]:
    accounts = MemoryAccounts()
    with_account(accounts, "ann", token=SECRET)
    with served(Lying(app_of(shop(), accounts), lie, key)) as url, RemoteProvider(url, SECRET, **how) as remote:
        yield remote


def told(**members: Any) -> Lie:
    return lambda bought: bought.update(members)


def test_who_lies_about_nothing_is_believed() -> None:
    with lying(told()) as remote:
        assert remote.pay(FIRST, CREDIT, "a") == Answer("NSAID", 1, 700_000_000)


def test_a_price_beyond_the_ceiling_is_not_paid_in_silence() -> None:
    with lying(told(price=2 * CREDIT)) as remote, pytest.raises(OverchargedError) as raised:
        remote.pay(FIRST, CREDIT, "a")
    assert "charged 2 credits, and no more than 1 credit was agreed to" in str(raised.value)
    assert raised.value.charged == 2 * CREDIT


@pytest.mark.parametrize("value", ["", "*", "ibuprofen", "nothing of the kind", ABSENT])
def test_a_value_that_its_hierarchy_does_not_have_at_the_level_is_not_believed(value: str) -> None:
    with lying(told(answer=value)) as remote, pytest.raises(RemoteError, match="MED, level 1, what is no value of its"):
        remote.pay(FIRST, CREDIT, "a")


def test_a_level_that_was_not_asked_for_is_not_believed() -> None:
    with lying(told(level=3, answer="*")) as remote, pytest.raises(RemoteError, match="something else than was asked"):
        remote.pay(FIRST, CREDIT, "a")


def test_a_root_is_the_root() -> None:
    with lying(told()) as remote:
        assert remote.pay(Request(FIRST.tuple, "MED", 3), 0, "a") == Answer("*", 3, 0)


@pytest.mark.parametrize("how", [{}, {"public_key": KEY.public_key}], ids=["published", "given"])
def test_a_receipt_that_another_key_signed_is_not_believed(how: dict[str, str]) -> None:
    with lying(told(), SigningKey.generate(), **how) as remote, pytest.raises(RemoteError, match="not signed with"):
        remote.pay(FIRST, CREDIT, "a")


@pytest.mark.parametrize("lie", [{"price": 1}, {"answer": "NSAID"}, {"id": "b"}, {"level": 2}])
def test_without_a_receipt_there_is_nothing_but_the_root_for_nothing(lie: dict[str, Any]) -> None:
    root = Request(FIRST.tuple, "MED", 3)
    with lying(told()) as remote:
        assert remote.pay(root, CREDIT, "a") == Answer("*", 3, 0)
    with lying(told(**lie)) as remote, pytest.raises(RemoteError, match="without a receipt"):
        remote.pay(root, CREDIT, "a")


# ---- what is sent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("send", "said"),
    [
        (
            {"MED": ["GEN"]},
            'asks for AGE to find MED, which [send] does not allow; to send it, write MED = ["GEN", "AGE"]',
        ),
        ({}, 'asks for GEN, AGE to find MED, which [send] does not allow; to send it, write MED = ["GEN", "AGE"]'),
    ],
)
def test_nothing_is_sent_that_was_not_agreed_to(send: dict[str, list[str]], said: str) -> None:
    accounts = MemoryAccounts()
    with_account(accounts, "ann", token=SECRET)
    app = Before(app_of(shop(), accounts), passing)
    with served(app) as url, RemoteProvider(url, SECRET, send=send) as remote:
        for ask in (
            lambda: remote.quote(FIRST),
            lambda: remote.quote_batch("MED", {"GEN": ["male"], "AGE": ["51"]}),
            lambda: remote.pay(FIRST, CREDIT, "a"),
        ):
            with pytest.raises(InputError) as raised:
                ask()
            assert said in str(raised.value)
    assert app.paths == ["/v1/catalogue"]


def test_what_was_agreed_to_is_sent() -> None:
    with lying(told(), send={"MED": ["AGE", "GEN", "ZIP"]}) as remote:
        assert isinstance(remote.pay(FIRST, CREDIT, "a"), Answer)
