"""Nothing that a provider keeps to itself gets out: not in an answer, a header, a log line, a metric or a repr.

Every cell of the relation is a text that stands nowhere else. What may come back is what the caller sent, and what it
has bought.
"""

from __future__ import annotations

import io
import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from arrow_streams import foreign_streams, stream
from example_shop import error_of
from running_service import KEY, served, with_account
from served_process import served_process

from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.errors import StorageError
from pacas.protocol.messages import Request
from pacas.provider.ledger.accounts import MemoryAccounts, Role
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.storage.url import open_accounts, open_ledger
from pacas.wire.shapes.base import ARROW

pytestmark = pytest.mark.attack
MARKER = re.compile(r"zq-\d+-secret")
ROWS, COLUMNS = 12, ("CODE", "PLACE", "SOLD", "GROUPED", "OTHER")
MARKERS = [f"zq-{i}-secret" for i in range(ROWS * len(COLUMNS))]
CELLS = {name: MARKERS[i :: len(COLUMNS)] for i, name in enumerate(COLUMNS)}
TOKENS = ("token-of-ann", "token-of-olga", "token-of-eve")
NEVER = ("Traceback", 'File "', "site-packages", str(Path(__file__).parents[1]), "hunter2")


def marked_provider(ledger: Ledger | None = None) -> Provider:
    """SOLD has no hierarchy but its own values; GROUPED has one, which is published without the data's words."""
    cells = CELLS | {"GROUPED": ["north", "south"] * (ROWS // 2)}
    return Provider(
        pa.table(cells),
        match={"SOLD": "CODE = CODE", "GROUPED": "CODE = CODE, PLACE = PLACE"},
        policies=[Policy(("PLACE",), ("SOLD",), {"SOLD": 0}, k=1, allow_linkage=True)],
        hierarchies={"GROUPED": Hierarchy.from_rows([["north", "any"], ["south", "any"]])},
        total=10,
        seed=1,
        ledger=ledger,
    )


class Watched:
    """A service of which every answer is searched for what should not be in it."""

    def __init__(self, url: str, provider: Provider, log: io.StringIO) -> None:
        self.url, self.provider, self.log = url, provider, log
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=30)
        self.bought: set[str] = set()
        self.statuses: set[int] = set()

    def call(self, method: str, path: str, who: str | None = "ann", **more: Any) -> httpx.Response:
        headers = ({} if who is None else {"Authorization": f"Bearer token-of-{who}"}) | more.pop("headers", {})
        answer = self.client.request(method, path, headers=headers, **more)
        self.statuses.add(answer.status_code)
        shown = answer.text + repr(answer.headers.multi_items())
        found = set(MARKER.findall(shown))
        if answer.status_code == 200 and who == "ann" and "/quotes" not in path:
            self.bought |= self._sold(path, answer)
            found -= self.bought
        sent = path + answer.request.content.decode("latin-1")
        assert not found - set(MARKER.findall(sent)), (method, path, answer.status_code)
        assert not [word for word in (*NEVER, *TOKENS) if word in shown]
        if answer.status_code >= 400:
            error_of(answer)
        return answer

    def post(self, path: str, document: Any, who: str | None = "ann", key: str = "k") -> httpx.Response:
        return self.call("POST", path, who, headers={"Idempotency-Key": key}, json=document)

    def buy(self, key: str, request: Any) -> Any:
        return self.post("/v1/purchases", {"request": request, "ceiling": 10**12}, key=key).json()["purchase"]

    def _sold(self, path: str, answer: httpx.Response) -> set[str]:
        """What is the caller's from now on: what was answered, and the tuple that it was answered for."""
        if path != "/v1/purchases":
            return set()
        document = answer.json()
        bought = [one for one in document.get("purchases", [document.get("purchase")]) if "answer" in one]
        return {text for one in bought for text in (one["answer"], *one["receipt"]["tuple"].values())}

    def log_is_clean(self) -> None:
        log = self.log.getvalue()
        assert log
        assert not MARKER.findall(log)
        assert not [word for word in (*NEVER, *TOKENS) if word in log]
        assert all(isinstance(json.loads(line), dict) for line in log.splitlines())


@contextmanager
def watched(ledger: Ledger | None = None, **settings: Any) -> Iterator[Watched]:
    provider, accounts, log = marked_provider(ledger), MemoryAccounts(), io.StringIO()
    with_account(accounts, "ann")
    with_account(accounts, "eve")
    with_account(accounts, "olga", role=Role.OPERATOR)
    accounts.revoke("eve")
    app = create_app(provider, accounts, ServiceSettings(**settings), KEY, log=make_log(log))
    with served(app) as url:
        service = Watched(url, provider, log)
        with service.client:
            yield service
    service.log_is_clean()


def sold(row: int, level: int | None = 0) -> dict[str, Any]:
    at = {} if level is None else {"level": level}
    return {"tuple": {"CODE": CELLS["CODE"][row]}, "attribute": "SOLD", **at}


def everything(service: Watched) -> None:
    """Ask for all that there is, well and badly, as all kinds of callers."""
    wrong = [
        {"tuple": {}, "attribute": "SOLD"},
        {"tuple": {"CODE": None}, "attribute": "SOLD", "level": 0},
        {"tuple": {"CODE": "unknown"}, "attribute": "SOLD", "level": 0},
        {"tuple": {"CODE": MARKERS[0]}, "attribute": "OTHER", "level": 0},
        {"tuple": {"CODE": MARKERS[0]}, "attribute": "SOLDE", "level": 0},
        {"tuple": {"CODE": MARKERS[0]}, "attribute": "SOLD", "level": 9},
        {"tuple": {"CODE": MARKERS[0], "PLACE": "unknown"}, "attribute": "GROUPED", "level": 0},
        {"tuple": {"CODE": 1}, "attribute": "SOLD", "level": 0},
    ]
    for who in ("ann", "olga", "eve", "nobody", None):
        for path in ("/v1/catalogue", "/v1/account", "/v1/accounts", "/metrics", "/v1/key", "/v1/purchases/k"):
            service.call("GET", path, who)
        for row in range(ROWS):
            service.post("/v1/quotes", {"requests": [sold(row), sold(row, None)]}, who)
        for request in wrong:
            service.post("/v1/quotes", {"requests": [request]}, who)
            service.post("/v1/purchases", {"request": request, "ceiling": 10**12}, who)
            service.post("/v1/purchases", {"purchases": [{"request": request, "ceiling": 0}]}, who)
        good = stream(pa.table({"CODE": CELLS["CODE"]}))
        for body in (good, good[:200], b"", *foreign_streams()):
            for attribute in ("SOLD", "GROUPED", "NONE"):
                service.call("POST", f"/v1/quotes/{attribute}", who, headers={"Content-Type": ARROW}, content=body)
    for method, path in (("GET", "/v1/nothing"), ("DELETE", "/v1/account"), ("PUT", "/v1/purchases"), ("GET", "//")):
        service.call(method, path)
    service.call("POST", "/v1/quotes", content=b"{", headers={"Content-Type": "application/json"})
    service.call("POST", "/v1/quotes", content=b"{}", headers={"Content-Type": "text/plain"})


@pytest.mark.parametrize("reasons", [False, True])
def test_nothing_gets_out_that_was_not_bought(reasons: bool) -> None:
    with watched(reasons=reasons, max_body_bytes=5_000_000) as service:
        everything(service)
        for row in range(3):
            assert service.buy(f"k{row}", sold(row))["answer"] == CELLS["SOLD"][row]
        everything(service)
        assert service.post("/v1/purchases", {"request": sold(5), "ceiling": 0}, key="k0").status_code == 409
        assert CELLS["SOLD"][0] in service.call("GET", "/v1/purchases/k0").text
        assert CELLS["SOLD"][1] in service.call("GET", "/v1/account").text
        assert {200, 400, 401, 403, 404, 405, 409, 413, 415, 422} <= service.statuses


def test_limits_tell_nothing() -> None:
    with watched(max_body_bytes=2000, quotes_per_minute=5, max_batch=3) as service:
        assert service.post("/v1/quotes", {"requests": [sold(i) for i in range(4)]}).status_code == 413
        assert service.post("/v1/quotes", {"requests": [sold(i) for i in range(12)] * 9}).status_code == 413
        assert service.post("/v1/quotes", {"requests": [sold(0)] * 3}).status_code == 200
        assert service.post("/v1/quotes", {"requests": [sold(1)] * 3}).status_code == 429


def test_a_store_that_breaks_tells_nothing(tmp_path: Path) -> None:
    with closing(open_ledger("sqlite:///shop.db", tmp_path)) as ledger, watched(ledger) as service:
        service.buy("k", sold(0))
        ledger.close()
        broken = [
            service.post("/v1/purchases", {"request": sold(1), "ceiling": 10**12}, key="l"),
            service.call("GET", "/v1/purchases/k"),
            service.call("GET", "/v1/account"),
            service.call("GET", "/v1/accounts", "olga"),
            service.call("GET", "/metrics", "olga"),
        ]
        assert {error_of(answer)[:2] for answer in broken} == {(503, "unavailable")}
        assert "problem" in service.log.getvalue()


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("pacas.provider.in_memory.shop.InMemoryShop.judge", RuntimeError),
        ("pacas.provider.provider.Provider.quote_batch", MemoryError),
        ("pacas.provider.pricing.conflicts.Inquiry.value", KeyError),
        ("pacas.provider.ledger.memory_ledger.MemoryLedger.find", UnicodeError),
        ("pacas.provider.ledger.memory_ledger.MemoryLedger.totals", RecursionError),
        ("pacas.provider.ledger.memory_ledger.MemoryLedger.bought_by", OSError),
        ("pacas.provider.ledger.memory_ledger.MemoryLedger.after", ZeroDivisionError),
        ("pacas.provider.ledger.accounts.MemoryAccounts.by_token", AssertionError),
        ("pacas.server.signing_key.SigningKey.sign", pa.ArrowInvalid),
    ],
)
def test_an_error_deep_inside_tells_nothing(place: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    with watched() as service:
        service.buy("k0", sold(0))

        def broken(*_: Any, **__: Any) -> Any:
            seen = CELLS["SOLD"]  # as a traceback with its local names would show
            try:
                raise ValueError(f"{seen} is {TOKENS}")
            except ValueError as error:
                raise kind(f"{CELLS['OTHER'][0]} in {__file__}") from error

        with monkeypatch.context() as altered:
            altered.setattr(place, broken)
            answers = [
                service.post("/v1/quotes", {"requests": [sold(1)]}),
                service.post("/v1/quotes", {"requests": [sold(1), sold(2)]}),
                service.call(
                    "POST",
                    "/v1/quotes/SOLD",
                    headers={"Content-Type": ARROW},
                    content=stream(pa.table({"CODE": CELLS["CODE"]})),
                ),
                service.post("/v1/purchases", {"request": sold(3), "ceiling": 10**12}, key="new"),
                service.call("GET", "/v1/purchases/k0"),
                service.call("GET", "/v1/account"),
                service.call("GET", "/metrics", "olga"),
            ]
            # 503, where who watches the ledger was faster to see that it is broken
            assert {500, 503} & {answer.status_code for answer in answers}
            for answer in answers:
                if answer.status_code == 500:
                    assert error_of(answer)[1:] == ("internal", "an error inside the service; its log says where")
        lines = [json.loads(line) for line in service.log.getvalue().splitlines()]
        assert kind.__name__ in {line.get("error") for line in lines}


def test_reprs_tell_nothing() -> None:
    provider = marked_provider()
    request = Request({"CODE": CELLS["CODE"][0]}, "SOLD", 0)
    entry = provider.sell(request, 10**12, "k", buyer="ann")
    shown = [
        provider,
        provider.ledger,
        provider.stock,
        provider.catalogue(),
        provider.catalogue()["SOLD"],
        provider.as_buyer("ann"),
        provider.quote_batch("SOLD", {"CODE": CELLS["CODE"]}),
        entry,
        provider.ledger.entries(0),
        StorageError("away"),
        ServiceSettings(),
        KEY,
        MemoryAccounts(),
    ]
    for one in shown:
        assert not MARKER.findall(repr(one)), type(one)


BREAKING = """
from pacas.provider.sealed.shop import SealedShop
from pacas.server.http.http_protocol import HttpProtocol

def broken(self, sale, request, buyer, key, time):
    secret = "zq-1-secret"
    raise RuntimeError(f"{secret} in {__name__}")

hang_up = HttpProtocol.connection_lost

def hung_up(self, error):
    hang_up(self, error)
    raise RuntimeError("zq-2-secret")

SealedShop.purchase = broken
HttpProtocol.connection_lost = hung_up
from pacas.cli.main import main
main()
"""
FILE = """
[relation]
data = "shop.csv"

[hierarchies]
SOLD = "sold.csv"

[match]
SOLD = "CODE = CODE"

[ledger]
url = "sqlite:///shop.db"
"""


def test_a_process_writes_nothing_of_it_to_its_log(tmp_path: Path) -> None:
    lines = [",".join(COLUMNS), *(",".join(CELLS[name][row] for name in COLUMNS) for row in range(ROWS))]
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "sold.csv").write_text("".join(f"{value},*\n" for value in CELLS["SOLD"]))
    (tmp_path / "provider.toml").write_text(FILE)
    with closing(open_accounts("sqlite:///shop.db", tmp_path)) as accounts:
        token = with_account(accounts, "ann")
    with served_process(tmp_path, main=BREAKING) as server:
        assert "price" in server.quote(token, sold(0))
        body = {"request": sold(0), "ceiling": 10**12}
        failed = server.call("POST", "/v1/purchases", token, headers={"Idempotency-Key": "k"}, json=body)
        assert error_of(failed)[:2] == (500, "internal")
        assert server.call("GET", "/v1/account", "token-of-eve").status_code == 401
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"GET /{MARKERS[3]} {token} zq\r\n\r\n".encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")
    log = server.log
    told = [json.loads(line) for line in log.splitlines() if not line.startswith("pacas: ")]  # before the first call
    errors = {(line["event"], line["error"]) for line in told if "error" in line}
    assert errors == {("failed", "RuntimeError"), ("server", "RuntimeError")}, "the event loop's own, too"
    assert not MARKER.findall(log)
    assert not [word for word in (*NEVER, *TOKENS) if word in log]
