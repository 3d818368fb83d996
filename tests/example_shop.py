"""The running example's provider as a service, and ways to call it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import httpx

from pacas import example
from pacas.core.anonymity import Policy
from pacas.provider.ledger.accounts import Accounts
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider

POLICY = Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 0}, k=3)


def example_provider(ledger: Ledger | None = None) -> Provider:
    return Provider(
        example.provider,
        match={"MED": example.md},
        policies=[POLICY],
        hierarchies=example.hierarchies,
        total=6,
        seed=7,
        ledger=ledger,
    )


def med(gender: str, age: str, level: int | None = None) -> dict[str, Any]:
    """A request for the medication of a person."""
    at = {} if level is None else {"level": level}
    return {"tuple": {"GEN": gender, "AGE": age}, "attribute": "MED", **at}


class Shop:
    """A service that runs, and ways to call it."""

    stop: Callable[[float], None]
    """Tell it that it ends in so many seconds."""

    def __init__(self, url: str, provider: Provider, accounts: Accounts, log: io.StringIO) -> None:
        self.url, self.provider, self.accounts, self.log = url, provider, accounts, log
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=30)

    def call(
        self, method: str, path: str, who: str | None = "ann", headers: dict[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        sent = {} if who is None else {"Authorization": f"Bearer token-of-{who}"}
        return self.client.request(method, path, headers=sent | (headers or {}), **more)

    def quotes(self, *requests: Any, who: str = "ann") -> httpx.Response:
        return self.call("POST", "/v1/quotes", who, json={"requests": list(requests)})

    def buy(self, key: str, request: Any, ceiling: int = 10**10, who: str = "ann") -> httpx.Response:
        body = {"request": request, "ceiling": ceiling}
        return self.call("POST", "/v1/purchases", who, {"Idempotency-Key": key}, json=body)

    def buy_many(self, key: str, *requests: Any, ceiling: int = 10**10, who: str = "ann") -> httpx.Response:
        body = {"purchases": [{"request": request, "ceiling": ceiling} for request in requests]}
        return self.call("POST", "/v1/purchases", who, {"Idempotency-Key": key}, json=body)

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


OpenShop = Callable[..., Shop]


def error_of(response: httpx.Response) -> tuple[int, str, str]:
    """Status, code and message of a failed call, which has the one shape and nothing else."""
    assert response.headers["content-type"] == "application/json"
    document = response.json()
    assert list(document) == ["error"] and sorted(document["error"]) == ["code", "message"], document
    message = document["error"]["message"]
    assert message and "\n" not in message and len(message) <= 200
    return response.status_code, document["error"]["code"], message
