"""Connections of those who have no token: trailers, half requests, and too many of them. Raw sockets; real HTTP."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from certificates import Authority
from example_shop import Shop, example_provider, med
from running_service import app_of, served, with_account

from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.server.http import handshakes
from pacas.server.http.connections import ConnectionLimits, Connections
from pacas.server.http.http_protocol import DROPPED, FEW_CHUNKS, LARGEST_HEAD, MOST_WAITING, SMALLEST_CHUNK
from pacas.server.serving import Tls

pytestmark = pytest.mark.attack

ASK = json.dumps({"requests": [med("male", "51", 1)]}).encode()
BUY = json.dumps({"request": med("male", "51", 1), "ceiling": 10**10}).encode()
TOKEN = b"Authorization: Bearer token-of-ann\r\n"
POST = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n"
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
MUCH = 1 << 24
"""Bytes of trailers that no server should take."""


def connect(url: str) -> socket.socket:
    host, port = url.partition("://")[2].split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def rest_of(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    came = b""
    try:
        while part := connection.recv(65536):
            came += part
    except ConnectionError:
        pass
    return came


def asked(shop: Shop, sent: bytes) -> bytes:
    with connect(shop.url) as connection:
        connection.sendall(sent)
        return rest_of(connection)


@pytest.mark.parametrize("coding", [b"gzip, chunked", b"identity", b"chunked, chunked"])
def test_a_body_that_is_coded_otherwise_is_refused(shop: Shop, coding: bytes) -> None:
    sent = POST % b"/v1/quotes" + TOKEN + (CHUNKED % (len(ASK), ASK)).replace(b"chunked", coding) + b"\r\n"
    assert asked(shop, sent).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("coding", [b"gzip", b"identity, br", b"GZIP"])
def test_a_body_that_says_it_is_compressed_is_refused(shop: Shop, coding: bytes) -> None:
    for said, status in ((coding, b"415"), (b"identity", b"200")):
        length = b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (said, len(ASK))
        assert asked(shop, POST % b"/v1/quotes" + TOKEN + length + ASK).startswith(b"HTTP/1.1 %b " % status)


def test_a_body_that_nobody_wants_is_dropped_in_gulps(shop: Shop) -> None:
    """Who has sent it gets its answer, and others are read in between."""
    begun, sent = monotonic(), b"x" * (4 << 20)
    head = (POST % b"/v1/quotes").replace(b"close", b"keep-alive") + b"Content-Length: %d\r\n\r\n" % len(sent)
    with connect(shop.url) as connection:
        connection.sendall(head + sent + HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        told = rest_of(connection)
    assert told.startswith(b"HTTP/1.1 401 ") and told.endswith(b'{"status":"ok"}')
    assert monotonic() - begun > 4 * DROPPED


# ---- trailers -------------------------------------------------------------------------------------------------------


def test_a_trailer_is_no_header(shop: Shop) -> None:
    quote = POST % b"/v1/quotes" + CHUNKED % (len(ASK), ASK)
    assert asked(shop, quote + TOKEN + b"\r\n").startswith(b"HTTP/1.1 401 ")
    buy = POST % b"/v1/purchases" + TOKEN + CHUNKED % (len(BUY), BUY)
    assert asked(shop, buy + b"Idempotency-Key: k\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert shop.provider.ledger.total("ann").purchases == 0


def test_a_trailer_that_nobody_reads_does_no_harm(shop: Shop) -> None:
    buy = POST % b"/v1/purchases" + TOKEN + b"Idempotency-Key: k\r\n" + CHUNKED % (len(BUY), BUY)
    assert asked(shop, buy + b"Idempotency-Key: other\r\nExpires: never\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert shop.provider.ledger.find("ann", "k") is not None


@pytest.mark.parametrize("token", [TOKEN, b""], ids=["known", "unknown"])
@pytest.mark.parametrize("trailer", [b"X-%d: " + b"x" * 1000 + b"\r\n", b"x"], ids=["many", "endless"])
def test_trailers_count_like_a_head_and_end_the_connection(shop_of_all: Shop, trailer: bytes, token: bytes) -> None:
    sent = 0
    with connect(shop_of_all.url) as connection:
        connection.sendall(POST.replace(b"close", b"keep-alive") % b"/v1/quotes" + token + CHUNKED % (len(ASK), ASK))
        try:
            while sent < MUCH:
                part = b"".join(trailer % i for i in range(60)) if b"%" in trailer else trailer * LARGEST_HEAD
                sent += connection.send(part)
        except ConnectionError:  # it has hung up
            pass
    assert sent < MUCH
    assert shop_of_all.call("GET", "/v1/health", None).status_code == 200


def test_trailers_in_one_piece_count_as_well(shop_of_all: Shop) -> None:
    trailers = b"".join(b"X-%d: %b\r\n" % (i, b"x" * 1000) for i in range(80))
    came = asked(shop_of_all, POST % b"/v1/quotes" + TOKEN + CHUNKED % (len(ASK), ASK) + trailers + b"\r\n")
    assert b'"price"' not in came


@pytest.mark.parametrize("begin", [b"", POST % b"/v1/quotes" + TOKEN + b"Transfer-Encoding: chunked\r\n\r\n1;x="])
def test_bytes_that_get_nowhere_end_the_connection(shop_of_all: Shop, begin: bytes) -> None:
    filling = b"x" if begin else b"\r\n"
    sent = 0
    with connect(shop_of_all.url) as connection:
        connection.sendall(begin)
        try:
            while sent < MUCH:
                sent += connection.send(filling * 30_000)
        except ConnectionError:
            pass
    assert sent < MUCH


@pytest.mark.parametrize("token", [TOKEN, b""], ids=["known", "unknown"])
def test_a_body_in_crumbs_ends_the_connection(shop_of_all: Shop, token: bytes) -> None:
    """Each chunk is work, however little is in it: others would wait for those of who has no token."""
    sent, crumbs = 0, b"1\r\n \r\n" * 5000
    with connect(shop_of_all.url) as connection:
        begin = POST.replace(b"close", b"keep-alive") % b"/v1/quotes" + token
        connection.sendall(begin + b"Transfer-Encoding: chunked\r\n\r\n")
        try:
            while sent < MUCH:
                sent += connection.send(crumbs)
        except ConnectionError:
            pass
    assert sent < MUCH


def test_a_body_in_many_chunks_is_read_where_they_are_no_crumbs(shop: Shop) -> None:
    spread = b"40\r\n%b\r\n" % (b" " * SMALLEST_CHUNK) * (2 * FEW_CHUNKS)
    ask = (POST % b"/v1/quotes" + TOKEN + CHUNKED % (len(ASK), ASK)).replace(b"\r\n\r\n", b"\r\n\r\n" + spread, 1)
    assert asked(shop, ask + b"\r\n").startswith(b"HTTP/1.1 200 ")


def test_requests_that_do_not_wait_for_answers_are_few(shop_of_all: Shop) -> None:
    came = asked(shop_of_all, HEALTH * (MOST_WAITING // 2) + HEALTH.replace(b"Host", b"Connection: close\r\nHost"))
    assert came.count(b"HTTP/1.1 200 ") == MOST_WAITING // 2 + 1
    came = asked(shop_of_all, HEALTH * 3000)
    assert came.count(b"HTTP/1.1 200 ") <= MOST_WAITING + 1


# ---- time and number ------------------------------------------------------------------------------------------------

QUICK = ConnectionLimits(per_address=6, idle_seconds=0.4, request_seconds=0.4)


@contextmanager
def shop_with(
    limits: ConnectionLimits, ended: list[tuple[str, str, int]] | None = None, context: ssl.SSLContext | None = None
) -> Iterator[str]:
    accounts = MemoryAccounts()
    with_account(accounts, "ann")
    note: Callable[[str, str, int], None] = lambda *said: None if ended is None else ended.append(said)  # noqa: E731
    with served(app_of(example_provider(), accounts), limits=limits, note=note, context=context) as url:
        yield url


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nHo",
        HEALTH,
        HEALTH + b"GET /v1/hea",
        POST.replace(b"close", b"keep-alive") % b"/v1/quotes" + b"Content-Length: 1000\r\n\r\n{",
        POST.replace(b"close", b"keep-alive") % b"/v1/quotes" + TOKEN + b"Content-Length: 1000\r\n\r\n{",
        POST.replace(b"close", b"keep-alive") % b"/v1/quotes" + TOKEN + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{",
        POST.replace(b"close", b"keep-alive") % b"/v1/quotes" + TOKEN + CHUNKED % (len(ASK), ASK) + b"X",
    ],
    ids=[
        "nothing",
        "no line",
        "half a head",
        "idle",
        "idle, half a head",
        "nobody's",
        "half a body",
        "chunk",
        "trailer",
    ],
)
def test_who_says_no_more_is_hung_up_on(begin: bytes) -> None:
    with shop_with(QUICK) as url, connect(url) as connection:
        connection.sendall(begin)
        rest_of(connection)  # ends by itself


def test_a_request_that_takes_its_time_is_cut_off_and_told_of() -> None:
    ended: list[tuple[str, str, int]] = []
    with shop_with(QUICK, ended) as url, connect(url) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        with pytest.raises(ConnectionError):
            for _ in range(2000):
                connection.sendall(b"x")
                sleep(0.01)
    assert ended == [("127.0.0.1", "too slow", 1)]


def test_who_does_not_take_its_answers_is_hung_up_on() -> None:
    with shop_with(ConnectionLimits(idle_seconds=0.4)) as url, connect(url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
        with pytest.raises((ConnectionError, TimeoutError)):
            connection.settimeout(5)
            for _ in range(100_000):
                connection.sendall(ask)
        sleep(1)
        connection.settimeout(30)
        came = rest_of(connection)
    assert len(came) < 8_000_000


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's, and that of a client who trusts it."""
    authority = Authority(tmp_path)
    trusting = ssl.create_default_context(cafile=str(authority.certificate))
    return Tls(*authority.sign("server")).context(), trusting


def greeting(context: ssl.SSLContext) -> bytes:
    """How a client begins to agree on TLS."""
    sent = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="127.0.0.1").do_handshake()
    return sent.read()


@pytest.mark.parametrize("said", [0.0, 0.5, 1.0], ids=["nothing", "half a greeting", "a greeting"])
def test_who_does_not_agree_on_tls_is_hung_up_on(tls: tuple[ssl.SSLContext, ssl.SSLContext], said: float) -> None:
    begin = greeting(tls[1])
    with shop_with(QUICK, context=tls[0]) as url, connect(url) as connection:
        connection.sendall(begin[: int(said * len(begin))])
        connection.settimeout(10)
        rest_of(connection)  # ends by itself


def test_who_does_not_say_goodbye_is_hung_up_on(
    tls: tuple[ssl.SSLContext, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends over TLS ends when both have said so; a service that stops would wait half a minute for it."""
    monkeypatch.setattr(handshakes, "LINGER", 0.4)
    with shop_with(ConnectionLimits(), context=tls[0]) as url, connect(url) as connection:
        came, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        agreeing = tls[1].wrap_bio(came, sent, server_hostname="127.0.0.1")
        for act in (agreeing.do_handshake, lambda: agreeing.write(b"GET / HTTP/0.9\r\n\r\n")):
            while True:
                with suppress(ssl.SSLWantReadError):
                    act()
                    break
                connection.sendall(sent.read())
                came.write(connection.recv(65536))
        connection.sendall(sent.read())
        connection.settimeout(10)
        rest_of(connection)  # ends by itself


def test_who_does_not_agree_on_tls_counts_among_its_address_s_connections(
    tls: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    ended: list[tuple[str, str, int]] = []
    limits = ConnectionLimits(per_address=6, idle_seconds=20, request_seconds=20)
    with shop_with(limits, ended, tls[0]) as url, ExitStack() as stack:
        held = [stack.enter_context(connect(url)) for _ in range(30)]
        with httpx.Client(verify=tls[1], trust_env=False) as client:
            for _ in range(5):
                assert client.get(f"{url}/v1/health").status_code == 200
            begin = monotonic()
            while sum(map(has_ended, held)) < 25 and monotonic() - begin < 10:
                sleep(0.05)
            assert sum(map(has_ended, held)) == 25, "and one that has agreed is open"
        sleep(1.5)
    assert sum(count for _, why, count in ended if why == "too many") == 25


def test_an_address_has_so_many_connections_and_the_one_that_waits_longest_makes_room() -> None:
    ended: list[tuple[str, str, int]] = []
    limits = ConnectionLimits(per_address=6, idle_seconds=20, request_seconds=20)
    with shop_with(limits, ended) as url, ExitStack() as stack:
        held = [stack.enter_context(connect(url)) for _ in range(30)]
        for _ in range(5):
            answer = httpx.get(f"{url}/v1/health", trust_env=False)
            assert answer.status_code == 200
        assert 24 <= sum(map(has_ended, held)) <= 25
        sleep(1.5)
    assert sum(count for _, why, count in ended if why == "too many") >= 24


def has_ended(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except BlockingIOError:
        return False


class One:
    """A connection of which only this is known."""

    def __init__(self, address: str, since: float, answering: bool = False) -> None:
        self.address, self.since, self.is_answering, self.unsent = address, since, answering, 0
        self.is_asking = self.is_lingering = self.has_ended = False

    def left_to_send(self) -> int:
        return 0

    def hang_up(self) -> None:
        self.has_ended = True


def test_who_is_being_answered_keeps_the_connection_and_a_full_server_ends_one_of_the_greediest() -> None:
    connections: Any = Connections(ConnectionLimits(per_address=3, in_all=4))
    connections._is_sweeping = True  # there is no loop
    busy = [One("a", 1, answering=True) for _ in range(3)]
    assert all(map(connections.admit, busy))
    assert not connections.admit(One("a", 2))
    other, another = One("b", 3), One("c", 4)
    assert connections.admit(other)
    assert not connections.admit(another), "all of the greediest are at work"
    busy[1].is_answering = False
    assert connections.admit(another)
    assert [one.has_ended for one in (*busy, other)] == [False, True, False, False]


# ---- bodies of nobody -----------------------------------------------------------------------------------------------


def test_the_body_of_nobody_is_not_read_on_and_on() -> None:
    with shop_with(ConnectionLimits(request_seconds=0.5)) as url, connect(url) as connection:
        connection.sendall(
            POST.replace(b"close", b"keep-alive") % b"/v1/quotes" + b"Content-Length: %d\r\n\r\n" % 10**12
        )
        assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")
        begin = monotonic()
        with pytest.raises(ConnectionError):
            while monotonic() - begin < 20:
                connection.sendall(b"x" * 65536)


def test_a_refusal_is_read_by_who_sends_a_body_to_its_end(shop: Shop) -> None:
    answer = shop.call("POST", "/v1/quotes", None, {"Content-Type": "application/json"}, content=b" " * 3_000_000)
    assert answer.status_code == 401
    assert shop.call("GET", "/v1/health", None).status_code == 200


def test_nothing_is_kept_by_caches_and_the_log_says_who_called(shop: Shop) -> None:
    for path, who in (("/v1/health", None), ("/v1/account", "ann"), ("/v1/account", None), ("/none", None)):
        assert shop.call("GET", path, who).headers["cache-control"] == "no-store"
    assert {line["client"] for line in shop.log_lines() if line["event"] == "request"} == {"127.0.0.1"}
