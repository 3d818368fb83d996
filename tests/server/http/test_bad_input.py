"""Input that nobody should send: on the wire, in headers, paths and bodies. All of it gets the one error shape."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import Any

import httpx
import pyarrow as pa
import pytest
from arrow_streams import foreign_streams, stream
from example_shop import Shop, error_of, med
from pydantic import ValidationError

from pacas.server.http.failures import MOST_PROBLEMS, Failure
from pacas.server.http.http_protocol import LARGEST_HEAD
from pacas.server.thread_pools import ThreadPools
from pacas.wire.shapes.base import ARROW
from pacas.wire.shapes.purchases import purchases_reader
from pacas.wire.shapes.quotes import quotes_reader

ASK = json.dumps({"requests": [med("male", "51", 1)]}).encode()
HEAD = (
    b"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-ann\r\nContent-Type: application/json\r\n"
    b"Connection: close\r\n"
)
MOST = 1 << 24
"""Bytes of a head that no server should take."""


def connected(shop: Shop) -> socket.socket:
    host, port = shop.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def answers_to(shop: Shop, sent: bytes) -> list[httpx.Response]:
    """What comes back, until it is closed, on a connection on which these bytes and no more are sent."""
    with connected(shop) as connection:
        connection.sendall(sent)
        came = b"".join(iter(lambda: connection.recv(65536), b""))
    answers = []
    while came:
        head, _, rest = came.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = int(headers["content-length"])
        answers.append(httpx.Response(int(status.split()[1]), headers=headers, content=rest[:length]))
        came = rest[length:]
    return answers


@pytest.mark.parametrize(
    "sent",
    [
        b"HELO example.org\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"SECRET /v1/health HTTP/1.1\r\n\r\n",
        b"GET /v1/health\r\n\r\n",
        b"GET /v1/health HTTP/0.9\r\nHost: x\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\n\r\n",
        b"GET /v1/health HTTP/1.0\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        b"GET /v1/health HTTP/9.9\r\n\r\n",
        b"GET /v1/h\xffalth HTTP/1.1\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nX: a\0b\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        HEAD + b"Content-Length: -5\r\n\r\nhello",
        HEAD + b"Content-Length: five\r\n\r\nhello",
        HEAD + b"Content-Length: " + b"9" * 40 + b"\r\n\r\nhello",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nnot a size\r\n",
    ],
    ids=lambda sent: repr(sent[-30:]),
)
def test_what_is_not_http_gets_the_one_shape(shop_of_all: Shop, sent: bytes) -> None:
    (answer,) = answers_to(shop_of_all, sent)
    status, code, message = error_of(answer)
    assert (status, code) == (400, "bad_request")
    assert message == "this is not HTTP that can be read, or its headers are too large, or its chunks too small"
    assert answer.headers["connection"] == "close"
    assert shop_of_all.call("GET", "/v1/health", None).status_code == 200


def test_a_length_that_is_too_short_cuts_the_body_off(shop_of_all: Shop) -> None:
    (answer,) = answers_to(shop_of_all, HEAD + b"Content-Length: 5\r\n\r\n" + ASK)
    assert error_of(answer)[:2] == (400, "bad_request")


def test_a_body_in_chunks_is_a_body(shop_of_all: Shop) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in ASK)
    (answer,) = answers_to(shop_of_all, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    assert answer.json() == {"quotes": [{"price": 700_000_000}]}


def test_a_length_that_is_too_large_is_refused_before_the_body_comes(shop_of_all: Shop) -> None:
    (answer,) = answers_to(shop_of_all, HEAD + b"Content-Length: 1000000000000\r\n\r\n")
    assert error_of(answer)[:2] == (413, "too_large")


@pytest.mark.parametrize("begin", [b"GET /v1/health HTTP/1.1\r\nX: ", b"GET /"])
def test_a_head_without_an_end_is_not_taken(shop_of_all: Shop, begin: bytes) -> None:
    sent = 0
    with connected(shop_of_all) as connection:
        connection.sendall(begin)
        try:
            while sent < MOST:
                sent += connection.send(b"x" * LARGEST_HEAD)
            came = connection.recv(65536)
        except ConnectionError:  # it has hung up
            came = b""
    assert sent < MOST or came.startswith(b"HTTP/1.1 400 ")
    assert shop_of_all.call("GET", "/v1/health", None).status_code == 200


def test_a_head_that_comes_in_pieces_is_a_head(shop_of_all: Shop) -> None:
    head = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 40_000 + b"\r\nConnection: close\r\n\r\n"
    with connected(shop_of_all) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(0, len(head), 5000):
            connection.sendall(head[i : i + 5000])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("to", ["websocket", "h2c"])
def test_there_is_nothing_to_upgrade_to(shop_of_all: Shop, to: str) -> None:
    sent = f"GET /v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: {to}\r\n\r\n"
    (answer,) = answers_to(shop_of_all, sent.encode())
    assert error_of(answer)[:2] == (404, "not_found")


def test_large_headers_are_only_headers(shop_of_all: Shop) -> None:
    large = "x" * 60_000
    assert error_of(shop_of_all.call("GET", "/v1/account", None, {"Authorization": f"Bearer {large}"}))[0] == 401
    assert error_of(shop_of_all.buy(large, med("male", "51", 1)))[0] == 422
    assert error_of(shop_of_all.call("POST", "/v1/quotes", headers={"Content-Type": large}))[0] == 415
    assert error_of(shop_of_all.call("GET", f"/v1/purchases/{large}"))[0] == 404
    assert error_of(shop_of_all.call("GET", f"/v1/account?after={large}"))[0] == 422


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Authorization", "Bearer token-of-ann", 401),
        ("Authorization", "Bearer token-of-bob", 401),
        ("Content-Type", "application/json", 415),
        ("Idempotency-Key", "k", 422),
    ],
)
def test_of_two_headers_neither_is_believed(shop_of_all: Shop, header: str, value: str, status: int) -> None:
    headers = [
        ("Authorization", "Bearer token-of-ann"),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "k"),
        (header, value),
        ("X-Other", "a"),
        ("X-Other", "b"),
    ]
    body = json.dumps({"request": med("male", "51", 1), "ceiling": 0})
    for sent in (headers, headers[::-1]):
        assert error_of(shop_of_all.client.post("/v1/purchases", headers=sent, content=body))[0] == status


def test_other_headers_may_come_twice(shop_of_all: Shop) -> None:
    headers = [("Authorization", "Bearer token-of-ann"), ("X-Other", "a"), ("X-Other", "b")]
    assert shop_of_all.client.get("/v1/account", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "*",
        "//v1/account",
        "/v1//account",
        "/v1/account/",
        "/v1/../v1/account",
        "/v1/%2e%2e/account",
        "/V1/account",
        "/v1/account%00",
        "/v1/account;x=1",
        "/v1/purchases/%00",
        "/v1/purchases/%ff%fe",
        "/v1/purchases/%ed%a0%80",
        "/v1/purchases/../../etc/passwd",
        "/v1/purchases/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/v1/purchases/",
        "/v1/purchases/%0d%0aX-Injected:%201",
    ],
)
def test_paths_that_lead_nowhere(shop_of_all: Shop, path: str) -> None:
    sent = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-of-ann\r\nConnection: close\r\n\r\n"
    (answer,) = answers_to(shop_of_all, sent.encode())
    assert error_of(answer)[:2] == (404, "not_found")
    assert "x-injected" not in answer.headers


@pytest.mark.parametrize("attribute", ["%00", "%ff", "MED%00", "MED/", "..%2fMED", "x" * 5000, "%0d%0aX:%201"])
def test_attributes_that_are_none(shop_of_all: Shop, attribute: str) -> None:
    body = stream(pa.table({"GEN": ["male"], "AGE": ["51"]}))
    answer = shop_of_all.call("POST", f"/v1/quotes/{attribute}", headers={"Content-Type": ARROW}, content=body)
    assert error_of(answer)[:2] in ((422, "unprocessable"), (404, "not_found"))


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (b'"\xff"', 400),
        (b'"\xed\xa0\x80"', 400),
        (b'"\\ud800"', 400),
        (b'"\\udc00\\ud800"', 400),
        (b'"a\0b"', 400),
        (b'"\\x41"', 400),
        (b"1" * 5000, 400),
        (b"1e400", 422),
        (b"-Infinity", 422),
        (b'{"deep":' * 150 + b"1" + b"}" * 150, 422),
        (b'{"deep":' * 5000 + b"1" + b"}" * 5000, 400),
        (b'"\\u0000"', 200),
        (b'"\\ud83d\\ude00"', 200),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_values_that_are_no_text(shop_of_all: Shop, value: bytes, status: int) -> None:
    body = b'{"requests":[{"attribute":"MED","level":1,"tuple":{"GEN":%s,"AGE":"51"}}]}' % value
    answer = shop_of_all.call("POST", "/v1/quotes", headers={"Content-Type": "application/json"}, content=body)
    assert answer.status_code == status, answer.text
    if status != 200:
        error_of(answer)


def test_more_parameters_than_anybody_needs(shop_of_all: Shop) -> None:
    query = "&".join(["limit=1"] * 101)
    assert error_of(shop_of_all.call("GET", f"/v1/account?{query}"))[0] == 422


@pytest.mark.parametrize("key", [b"k\xe9y", b"\xf0\x9f\x98\x80"])
def test_a_key_is_ascii(shop_of_all: Shop, key: bytes) -> None:
    headers = {b"Authorization": b"Bearer token-of-ann", b"Idempotency-Key": key, b"Content-Type": b"application/json"}
    body = json.dumps({"request": med("male", "51", 1), "ceiling": 0})
    assert error_of(shop_of_all.client.post("/v1/purchases", headers=headers, content=body))[:2] == (
        422,
        "unprocessable",
    )


# ---- Arrow ----------------------------------------------------------------------------------------------------------


def ask(shop: Shop, body: bytes) -> httpx.Response:
    return shop.call("POST", "/v1/quotes/MED", headers={"Content-Type": ARROW}, content=body)


def test_tables_that_cannot_be_asked_about(shop_of_all: Shop) -> None:
    for body in foreign_streams():
        assert error_of(ask(shop_of_all, body))[0] in (400, 413, 422)


def test_a_stream_that_was_cut_off_is_quoted_as_far_as_whole_batches_came_or_not_at_all(shop_of_all: Shop) -> None:
    whole = stream(pa.table({"GEN": ["male", "female"], "AGE": ["51", "45"]}))
    for size in range(0, len(whole), 5):
        answer = ask(shop_of_all, whole[:size])
        if answer.status_code != 200:
            assert error_of(answer)[0] == 400
        else:
            assert pa.ipc.open_stream(answer.content).read_all().num_rows in (0, 2)


# ---- what a bad body costs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reader", "key"), [(quotes_reader, "requests"), (purchases_reader, "purchases")])
def test_of_many_wrong_requests_only_the_first_is_complained_about(reader: Any, key: str) -> None:
    with pytest.raises(ValidationError) as problem:
        reader(1000)(json.dumps({key: [0] * 1000}))
    assert problem.value.error_count() == 1
    assert Failure.of(problem.value).message == f"{key}.0: Input should be an object"


@pytest.mark.parametrize(("reader", "key"), [(quotes_reader, "requests"), (purchases_reader, "purchases")])
def test_what_follows_the_first_request_too_many_is_not_looked_at(reader: Any, key: str) -> None:
    one: Any = med("male", "51", 1)
    if key == "purchases":
        one = {"request": one, "ceiling": 1}
    with pytest.raises(ValidationError) as problem:
        reader(3)(json.dumps({key: [one] * 4 + [0] * 1000}))
    failure = Failure.of(problem.value)
    assert (failure.code.status, failure.message) == (
        413,
        "more than the 3 requests that one call may have; send fewer",
    )
    assert len(getattr(reader(3)(json.dumps({key: [one] * 3})), key)) == 3


def test_many_keys_that_nobody_knows_are_not_listed(shop_of_all: Shop) -> None:
    request = med("male", "51", 1) | {f"more {i}": 1 for i in range(MOST_PROBLEMS + 1)}
    status, _, message = error_of(shop_of_all.quotes(request))
    assert (status, message) == (422, "the body has more than 1,000 keys or values that are wrong")


def test_a_large_body_is_read_where_it_keeps_nobody_waiting() -> None:
    pools = ThreadPools()

    def reader(body: bytes) -> str:
        return threading.current_thread().name

    async def read() -> list[str]:
        return [await pools.read("ann", reader, b"x" * size) for size in (10, pools.AT_ONCE, pools.AT_ONCE + 1)]

    small, largest, large = asyncio.run(read())
    assert small == largest == threading.current_thread().name
    assert large.startswith("pacas-quotes")
    pools.finish()
