"""A buyer whose server may be gone at any moment, and who asks again, with the same key, until there is an answer."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from threading import Event
from typing import Any
from urllib.parse import quote

import httpx
from oracles.worlds import World

from pacas.protocol.messages import Answer, Request
from pacas.wire.shapes.purchases import PastPurchase, PurchaseAnswer, PurchasesAnswer
from pacas.wire.shapes.quotes import Refused

from .literal_replay import Acknowledged

CEILING = 10**12
MANY = 3
"""Purchases in one call, where it is for several."""
PAUSE = 0.02
"""Seconds after which a service that has no ledger is asked again."""
PATIENCE = 1000
"""Such pauses, before it is given up."""


class Outcome(Enum):
    """How a call ends: with an answer, with the word to come back, or not at all."""

    ANSWERED = auto()
    LATER = auto()
    CUT = auto()


@dataclass
class Order:
    """One call for purchases, with its idempotency key; it is the same call however often it is made."""

    key: str
    requests: list[Request]
    times: int = 0

    @property
    def keys(self) -> list[str]:
        """The keys of the purchases in the ledger."""
        return [self.key] if len(self.requests) == 1 else [f"{self.key}/{i}" for i in range(len(self.requests))]

    @property
    def body(self) -> dict[str, Any]:
        asked = [{"request": _as_json(request), "ceiling": CEILING} for request in self.requests]
        return asked[0] if len(asked) == 1 else {"purchases": asked}


@dataclass
class Seen:
    """What one buyer has seen of the service."""

    refused: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    cut: int = 0
    """Calls that were lost with their server."""
    unavailable: int = 0
    retried: int = 0
    """Calls that were answered after an earlier try was lost."""
    recovered: int = 0
    """Purchases that were in the ledger before a kill, and answered only after it."""
    again: int = 0
    """Calls that were made once more at the end."""


class OrderingClient:
    """Buys from one account, one call after the other."""

    def __init__(self, number: int, buyer: str, token: str, world: World, chance: random.Random) -> None:
        self._number, self.buyer, self._world, self._chance = number, buyer, world, chance
        self.token = token
        self._headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(trust_env=False, timeout=60)
        self._heard: Callable[[], None] = _unnoticed
        self._orders = 0
        self.seen = Seen()
        self.pending: Order | None = None
        self.settled: list[Order] = []
        self.acknowledged: dict[str, Acknowledged] = {}
        self.is_calling = False

    def close(self) -> None:
        self._http.close()

    def buy(self, url: str, stop: Event, sent: Callable[[], None], heard: Callable[[], None], before: int) -> None:
        """Buy until the server is gone or it is enough. `before`: the last entry of the ledger when this began."""
        self._heard = heard
        self._look_up_last(url)
        while not stop.is_set():
            self.pending = self.pending or self._next()
            sent()
            match self.call(url, self.pending, before):
                case Outcome.ANSWERED:
                    self.settled.append(self.pending)
                    self.pending = None
                case Outcome.LATER:
                    time.sleep(PAUSE)
                case Outcome.CUT:
                    return

    def settle(self, url: str, order: Order) -> None:
        """Call until there is an answer, from a server that stays."""
        for _ in range(PATIENCE):
            outcome = self.call(url, order)
            if outcome is Outcome.ANSWERED:
                return
            assert outcome is Outcome.LATER, "the server is gone"
            time.sleep(PAUSE)
        raise AssertionError("the service has no ledger any more")

    def call(self, url: str, order: Order, before: int = 0) -> Outcome:
        """Make a call once."""
        headers = self._headers | {"Idempotency-Key": order.key}
        order.times += 1
        self.seen.calls += 1
        self.is_calling = True
        try:
            told = self._http.post(f"{url}/v1/purchases", json=order.body, headers=headers)
        except httpx.TransportError:
            self.seen.cut += 1
            return Outcome.CUT
        finally:
            self.is_calling = False
        if told.status_code == 503:
            self.seen.unavailable += 1
            return Outcome.LATER
        assert told.status_code == 200, f"{told.status_code}: {told.text}"
        self._heard()
        self._take(order, told.content, before)
        return Outcome.ANSWERED

    def ask_again(self, url: str) -> None:
        """Settle what is open, and ask for all the rest once more: it is as it was, and costs nothing more."""
        self._heard = _unnoticed
        if self.pending is not None:
            self.settle(url, self.pending)
            self.settled.append(self.pending)
        self.seen, seen = Seen(), self.seen
        for order in self.settled:
            self.settle(url, order)
        self.seen, seen.again = seen, self.seen.calls

    def _look_up_last(self, url: str) -> None:
        """The last purchase that was acknowledged is there, after whatever has happened since; unless it is cut."""
        if not self.acknowledged:
            return
        key, told = next(reversed(self.acknowledged.items()))
        try:
            found = self._http.get(f"{url}/v1/purchases/{quote(key, safe='')}", headers=self._headers)
        except httpx.TransportError:
            return
        if found.status_code != 503:
            assert found.status_code == 200, f"{key} was acknowledged, and is lost"
            again = PastPurchase.model_validate_json(found.content)
            assert again.receipt is not None and again.receipt.signed() == told.answer.receipt, (
                f"{key} was answered otherwise before"
            )

    def _take(self, order: Order, content: bytes, before: int) -> None:
        if len(order.requests) == 1:
            bought = [PurchaseAnswer.model_validate_json(content).purchase]
        else:
            bought = PurchasesAnswer.model_validate_json(content).purchases
        self.seen.retried += order.times > 1
        for key, request, one in zip(order.keys, order.requests, bought, strict=True):
            if isinstance(one, Refused):
                assert key not in self.acknowledged, f"{key} was sold, and is now refused"
                self.seen.refused[one.refused] += 1
                continue
            assert one.id == key and one.receipt is not None
            told = Acknowledged(
                self.buyer, key, request, Answer(one.answer, one.level, one.price, one.receipt.signed())
            )
            first = self.acknowledged.setdefault(key, told)
            assert first == told and first.answer.receipt == told.answer.receipt, f"{key} was answered otherwise before"
            self.seen.recovered += order.times > 1 and one.receipt.sequence <= before

    def _next(self) -> Order:
        self._orders += 1
        many = MANY if self._chance.random() < 0.25 else 1
        return Order(f"{self._number}-{self._orders}", [self._request() for _ in range(many)])

    def _request(self) -> Request:
        row = self._chance.choice(self._world.rows)
        return Request({"ID": row["ID"]}, "MED", self._chance.choice([0, 0, 1]))


def _as_json(request: Request) -> dict[str, Any]:
    return {"tuple": dict(request.tuple), "attribute": request.attribute, "level": request.level}


def _unnoticed() -> None:
    """An answer that nobody waits for."""
