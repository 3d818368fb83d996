"""Failures over HTTP: one shape for all of them, and nothing given away."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from example_shop import OpenShop, Shop, error_of, med

from pacas.server.app import CallMiddleware
from pacas.server.http.failures import LONGEST
from pacas.server.monitoring.logs import make_log
from pacas.server.monitoring.metrics import Metrics

ASK = {"requests": [med("male", "51", 1)]}
NESTED = b'{"requests":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def post(shop: Shop, body: bytes, content_type: str = "application/json", path: str = "/v1/quotes") -> httpx.Response:
    headers = {"Content-Type": content_type, "Idempotency-Key": "k"}
    return shop.call("POST", path, headers=headers, content=body)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "not_found"),
        ("GET", "/v1/nothing", 404, "not_found"),
        ("POST", "/v2/quotes", 404, "not_found"),
        ("GET", "/docs", 404, "not_found"),
        ("GET", "/v1/quotes", 405, "method_not_allowed"),
        ("DELETE", "/v1/account", 405, "method_not_allowed"),
        ("PROPFIND", "/v1/account", 405, "method_not_allowed"),
    ],
)
def test_paths_and_methods_that_are_not_there(
    shop_of_all: Shop, method: str, path: str, status: int, code: str
) -> None:
    assert error_of(shop_of_all.call(method, path))[:2] == (status, code)


@pytest.mark.parametrize("path", ["/v1/quotes", "/v1/purchases"])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"hello", 400),
        (b"{", 400),
        (b'{"requests": [}', 400),
        (b"\xff\xfe", 400),
        (b'{"requests": ["\\ud800"]}', 400),
        (NESTED, 400),
        (b"null", 422),
        (b"[]", 422),
        (b"{}", 422),
        (b"1e999", 422),
        (b"NaN", 422),
    ],
)
def test_bodies_that_are_none(shop_of_all: Shop, path: str, body: bytes, status: int) -> None:
    found, code, _ = error_of(post(shop_of_all, body, path=path))
    assert (found, code) == (status, "bad_request" if status == 400 else "unprocessable")


@pytest.mark.parametrize(
    "change",
    [
        {"level": "1"},
        {"level": True},
        {"level": 1.0},
        {"level": -1},
        {"level": 10**30},
        {"level": float("nan")},
        {"level": float("inf")},
        {"attribute": None},
        {"attribute": ["MED"]},
        {"attribute": "x" * 1001},
        {"tuple": None},
        {"tuple": []},
        {"tuple": {"GEN": 1, "AGE": "51"}},
        {"tuple": {"GEN": float("nan"), "AGE": "51"}},
        {"tuple": {"GEN": {"deep": {}}, "AGE": "51"}},
        {"tuple": {"GEN": "m" * 10_001, "AGE": "51"}},
        {"tuple": {str(i): "v" for i in range(1001)}},
        {"more": 1},
    ],
    ids=lambda change: str(change)[:40],
)
def test_requests_of_the_wrong_types(shop_of_all: Shop, change: dict[str, Any]) -> None:
    request = med("male", "51", 1) | change
    for path, body in (("/v1/quotes", {"requests": [request]}), ("/v1/purchases", {"request": request, "ceiling": 1})):
        found, code, message = error_of(post(shop_of_all, json.dumps(body).encode(), path=path))
        assert (found, code) == (422, "unprocessable"), (path, message)


@pytest.mark.parametrize("ceiling", [None, -1, 1.5, "1", 2**63, True])
def test_ceilings_that_are_none(shop_of_all: Shop, ceiling: Any) -> None:
    body = {"request": med("male", "51", 1), "ceiling": ceiling}
    found, _, message = error_of(post(shop_of_all, json.dumps(body).encode(), path="/v1/purchases"))
    assert found == 422
    assert message.startswith("ceiling: ")


def test_the_message_names_the_place(shop_of_all: Shop) -> None:
    body = {"requests": [med("male", "51", 1), med("male", "51") | {"level": "1"}]}
    message = error_of(post(shop_of_all, json.dumps(body).encode()))[2]
    assert message == "requests.1.level: Input should be a valid integer"
    both = {"request": med("male", "51", 1), "ceiling": 1, "purchases": []}
    assert "request: Extra" in error_of(post(shop_of_all, json.dumps(both).encode(), path="/v1/purchases"))[2]


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_other_media_types_are_refused(shop_of_all: Shop, content_type: str) -> None:
    body = json.dumps(ASK).encode()
    assert error_of(post(shop_of_all, body, content_type))[:2] == (415, "unsupported_media_type")
    arrow = error_of(post(shop_of_all, body, content_type, "/v1/quotes/MED"))
    assert arrow[:2] == (415, "unsupported_media_type")


def test_a_charset_is_no_other_media_type(shop_of_all: Shop) -> None:
    assert post(shop_of_all, json.dumps(ASK).encode(), "Application/JSON; charset=utf-8").status_code == 200


def test_a_client_gets_back_little_of_what_it_sent(shop_of_all: Shop) -> None:
    long = "secret " * 140
    for request in (
        {"tuple": {}, "attribute": long, "level": 1},
        {"tuple": {long: "1"}, "attribute": "MED", "level": 1},
        {"tuple": {long: 7}, "attribute": "MED", "level": 1},
        med("male", "51", 1) | {long: 1},
        {"tuple": {}, "attribute": "a\nb\x1b[31m", "level": 1},
    ):
        message = error_of(shop_of_all.quotes(request))[2]
        assert len(message) <= LONGEST and message.isprintable()


# ---- errors that nobody expected ------------------------------------------------------------------------------------


@pytest.fixture
def quiet() -> Iterator[None]:
    """uvicorn's own logger, silent as it is in `serve`."""
    logger = logging.getLogger("uvicorn.error")
    logger.disabled = True
    yield
    logger.disabled = False


def test_an_unexpected_error_says_where_and_not_what(
    open_shop: OpenShop, monkeypatch: pytest.MonkeyPatch, quiet: None
) -> None:
    shop = open_shop()

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ibuprofen of the man of 51")

    monkeypatch.setattr(shop.provider, "quote", broken)
    monkeypatch.setattr(shop.provider.till, "sell_each", broken)
    for answer in (shop.quotes(med("male", "51", 1)), shop.buy("k", med("male", "51", 1))):
        assert error_of(answer) == (500, "internal", "an error inside the service; its log says where")
    failed = [line for line in shop.log_lines() if line["event"] == "failed"]
    assert [(line["error"], line["route"]) for line in failed] == [
        ("RuntimeError", "/v1/quotes"),
        ("RuntimeError", "/v1/purchases"),
    ]
    assert [line["place"].partition(":")[0] for line in failed] == [
        "server/trading/quoting.py",
        "server/trading/sales_desk.py",
    ]
    assert "ibuprofen" not in shop.log.getvalue() and "Traceback" not in shop.log.getvalue()


def test_a_call_that_is_cancelled_is_answered_in_the_one_shape_and_logged_as_such() -> None:
    log = io.StringIO()
    sent: list[Any] = []

    async def endless(*_: Any) -> None:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing more is read")

    async def cancelled() -> None:
        middleware = CallMiddleware(endless, make_log(log), Metrics())
        call = asyncio.create_task(middleware({"type": "http", "method": "POST"}, receive, send))
        await asyncio.sleep(0)
        call.cancel()
        await call

    asyncio.run(cancelled())
    start, body = sent
    assert start["status"] == 503 == json.loads(log.getvalue())["status"]
    assert json.loads(body["body"])["error"]["code"] == "unavailable"
