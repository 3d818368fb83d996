"""A provider over HTTP, on a wire that fails: what is lost is asked for again, and nothing is paid twice."""

from __future__ import annotations

import json
import logging
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import httpx
import pytest
from certificates import Authority
from flaky_proxy import ANSWER, REQUEST, flaky
from running_service import app_of, served, service, with_account

from pacas import example
from pacas.client.outcome.steps import Observer, Progress
from pacas.client.safe_clean import SafeClean
from pacas.core.relation import Relation
from pacas.errors import InputError, RemoteError
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request
from pacas.provider.ledger.accounts import MemoryAccounts, Role
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.ledger import Ledger, MemoryLedger
from pacas.provider.provider import Provider
from pacas.remote.connection import CONNECTING, Tries
from pacas.remote.published_key import published_key
from pacas.remote.remote_provider import RemoteProvider
from pacas.server.serving import Tls
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.wire.signatures import verify

CREDIT = 10**9
FIRST = Request({"GEN": "male", "AGE": "51"}, "MED", 1)
SECRET = "a-token-that-nobody-else-should-see"


def shop(ledger: Ledger | None = None, **more: Any) -> Provider:
    return Provider(
        example.provider,
        **{"match": {"MED": "GEN = GEN, AGE = AGE"}, "hierarchies": example.hierarchies, **more},
        ledger=ledger,
        total=6,
        seed=7,
    )


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.remote.connection.SHORTEST_WAIT", 0.001)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited; it does not."""
    waited: list[float] = []
    monkeypatch.setattr("pacas.remote.connection.sleep", waited.append)
    return waited


class Before:
    """An application in front of another: it may answer a call itself."""

    def __init__(self, app: Any, answers: Callable[[str], tuple[int, Mapping[str, str], bytes] | None]) -> None:
        self._app, self._answers = app, answers
        self.paths: list[str] = []
        self.tokens: list[bytes | None] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        own = None
        if scope["type"] == "http":
            self.paths.append(scope["path"])
            self.tokens.append(dict(scope["headers"]).get(b"authorization"))
            own = self._answers(scope["path"])
        if own is None:
            await self._app(scope, receive, send)
            return
        status, headers, body = own
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})


def passing(path: str) -> None:
    """Answer nothing oneself."""


async def nothing(scope: Any, receive: Any, send: Any) -> None:
    """An application that only comes and goes; what stands before it answers."""
    assert scope["type"] == "lifespan"
    while (message := await receive())["type"] == "lifespan.startup":
        await send({"type": "lifespan.startup.complete"})
    assert message["type"] == "lifespan.shutdown"
    await send({"type": "lifespan.shutdown.complete"})


def in_turn(*answers: tuple[int, dict[str, str]] | None) -> Callable[[str], tuple[int, dict[str, str], bytes] | None]:
    """These answers to the first calls for quotes or purchases; then those of the service."""
    left = list(answers)

    def answer(path: str) -> tuple[int, dict[str, str], bytes] | None:
        if not left or path == "/v1/catalogue":
            return None
        own = left.pop(0)
        return None if own is None else (*own, b"")

    return answer


@pytest.fixture
def accounts() -> MemoryAccounts:
    found = MemoryAccounts()
    with_account(found, "ann", token=SECRET)
    return found


# ---- a server that is away ---------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_a_server_that_is_away_is_one_clear_line(short_waits: None) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with RemoteProvider(url, SECRET, patience=0.05) as remote, pytest.raises(RemoteError) as raised:
        remote.catalogue()
    line = str(raised.value)
    assert line.startswith(f"no provider answers at {url}; is it running? (") and line.endswith("tries in 0 s)")


def test_a_server_that_says_nothing_is_given_up_after_the_time_for_an_answer(short_waits: None) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        RemoteProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=0.05, patience=0.05) as remote,
        pytest.raises(RemoteError, match="no provider answers"),
    ):
        remote.catalogue()


def test_the_first_answer_is_not_waited_for_as_long_as_others(
    monkeypatch: pytest.MonkeyPatch, accounts: MemoryAccounts, short_waits: None
) -> None:
    with served(app_of(shop(), accounts)) as url, RemoteProvider(url, SECRET, timeout=3600) as remote:
        given: list[float] = []
        send = httpx.Client.send

        def noted(client: httpx.Client, asked: httpx.Request) -> httpx.Response:
            given.append(asked.extensions["timeout"]["read"])
            return send(client, asked)

        monkeypatch.setattr(httpx.Client, "send", noted)
        remote.quote(FIRST)
    assert given == [CONNECTING, 3600]
    monkeypatch.setattr("pacas.remote.connection.CONNECTING", 0.05)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        RemoteProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=3600, patience=0.01) as remote,
        pytest.raises(RemoteError, match="no provider answers"),
    ):
        remote.catalogue()


def test_it_waits_longer_and_longer_and_gives_up_when_the_patience_is_gone(waits: list[float]) -> None:
    tries = Tries(1000.0)
    for tries.count in range(1, 9):
        assert tries.again()
    for wait, full in zip(waits, (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0), strict=True):
        assert full / 2 <= wait <= full
    assert not Tries(1.0, 1).again(at_least=2.0), "longer than the patience is not waited"
    assert len(waits) == 8


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_server_that_is_not_ready_is_asked_again(status: int, accounts: MemoryAccounts, waits: list[float]) -> None:
    app = Before(app_of(shop(), accounts), in_turn((status, {}), (status, {})))
    with served(app) as url, RemoteProvider(url, SECRET) as remote:
        assert isinstance(remote.quote(FIRST), Quote)
    assert app.paths == ["/v1/catalogue", *["/v1/quotes"] * 3]
    assert len(waits) == 2


def test_a_server_that_is_never_ready_is_one_clear_line(accounts: MemoryAccounts, short_waits: None) -> None:
    app = Before(app_of(shop(), accounts), lambda path: (503, {"Retry-After": "1000"}, b""))
    with (
        served(app) as url,
        RemoteProvider(url, SECRET) as remote,
        pytest.raises(RemoteError, match=r"is not ready \(503; 1 try in 0 s\); try again later"),
    ):
        remote.catalogue()


def test_a_limit_is_waited_for_as_long_as_the_server_says(accounts: MemoryAccounts, waits: list[float]) -> None:
    app = Before(app_of(shop(), accounts), in_turn((429, {"Retry-After": "7"})))
    with served(app) as url, RemoteProvider(url, SECRET) as remote:
        assert isinstance(remote.pay(FIRST, 6 * CREDIT, "a"), Answer)
    assert waits == [7.0]


def test_a_limit_that_would_take_too_long_is_one_clear_line(accounts: MemoryAccounts) -> None:
    app = Before(app_of(shop(), accounts), in_turn((429, {"Retry-After": "600"})))
    with (
        served(app) as url,
        RemoteProvider(url, SECRET) as remote,
        pytest.raises(RemoteError, match="asks to wait for 600 s"),
    ):
        remote.quote(FIRST)


def test_a_limit_of_the_service_itself_is_waited_for(waits: list[float]) -> None:
    with service(shop(), quotes_per_minute=2) as (url, token), RemoteProvider(url, token, patience=10.0) as remote:
        remote.quote(FIRST)
        remote.quote(FIRST)
        with pytest.raises(RemoteError, match="asks to wait for 30 s"):
            remote.quote(FIRST)


# ---- a wire that loses things ------------------------------------------------------------------------------------


class Losing:
    """Loses the first requests for a purchase, or the answers to them."""

    def __init__(self, what: str, times: int) -> None:
        self._what, self._left = what, times
        self._is_purchase = False
        self.lost = 0

    def __call__(self, what: str, data: bytes) -> bool:
        if what == REQUEST and b" /v1/" in data:
            self._is_purchase = b"POST /v1/purchases" in data
        if what != self._what or not self._is_purchase or not self._left:
            return False
        self._left -= 1
        self.lost += 1
        return True


@pytest.mark.parametrize("what", [REQUEST, ANSWER])
def test_a_purchase_that_is_lost_on_the_way_is_made_and_charged_once(what: str, short_waits: None) -> None:
    ledger = MemoryLedger()
    losing = Losing(what, 3)
    with service(shop(ledger)) as (server, token), flaky(server, losing) as url, RemoteProvider(url, token) as remote:
        quoted = remote.quote(FIRST)
        assert isinstance(quoted, Quote) and quoted.price > 0
        assert remote.pay(FIRST, quoted.price, "a") == Answer("NSAID", 1, quoted.price)
        assert remote.quote(FIRST) == Quote(0)
    assert losing.lost == 3
    assert ledger.totals() == {"ann": Total(1, quoted.price)}


class Restarting(Observer):
    """Takes the server away after a step of the cleaning, and brings another one a moment later."""

    def __init__(self, restart: Callable[[], None], after: int) -> None:
        self._restart, self._after = restart, after
        self.steps = 0

    def progressed(self, progress: Progress) -> None:
        self.steps += 1
        if self.steps == self._after:
            self._restart()


def cleaned(marketplace: Any, observer: Observer | None = None) -> Any:
    cleaner = SafeClean(["GEN, DIAG -> MED"], budget=6)
    return cleaner.clean(example.client, marketplace, run="run", observer=observer)


def outcome(cleaning: Any) -> Any:
    bought = [(p.attribute, p.rows.tolist(), p.row, p.level, p.value, p.price, p.key) for p in cleaning.purchases]
    left = [(u.attribute, u.rows.tolist(), u.reason) for u in cleaning.unrepaired]
    return cleaning.relation.to_arrow().to_pylist(), bought, left, cleaning.spent_nanocredits


def test_a_server_that_restarts_in_the_middle_of_a_clean_changes_nothing(
    tmp_path: Path, accounts: MemoryAccounts, short_waits: None
) -> None:
    expected = outcome(cleaned(shop()))
    assert len(expected[1]) > 1, "there is something left to buy after the restart"
    port = free_port()
    with ExitStack() as at_the_end:
        running = ExitStack()
        at_the_end.callback(lambda: running.close())
        opened: list[Ledger] = []

        def start() -> str:
            opened.append(SqliteLedger(tmp_path / "ledger.db"))
            at_the_end.callback(opened[-1].close)
            return running.enter_context(served(app_of(shop(opened[-1]), accounts), port=port))

        def restart() -> None:
            running.close()
            later = Timer(0.05, start)
            later.start()
            at_the_end.callback(later.join)

        url = start()
        remote = at_the_end.enter_context(RemoteProvider(url, SECRET))
        restarting = Restarting(restart, after=1)
        assert outcome(cleaned(remote, restarting)) == expected
        assert len(opened) == 2
        assert opened[-1].totals() == {"ann": Total(len(expected[1]), expected[3])}


# ---- who may ask -------------------------------------------------------------------------------------------------

TOKEN = "the token is missing, wrong or revoked; give it with --token or PACAS_TOKEN"


def test_without_a_valid_token_one_is_told_so(accounts: MemoryAccounts) -> None:
    with served(app_of(shop(), accounts)) as url:
        for token in (None, "wrong", SECRET + "x"):
            with RemoteProvider(url, token) as remote, pytest.raises(RemoteError, match=TOKEN):
                remote.catalogue()
        with RemoteProvider(url, SECRET) as remote:
            assert isinstance(remote.pay(FIRST, 6 * CREDIT, "a"), Answer)
            accounts.revoke("ann")
            with pytest.raises(RemoteError, match=TOKEN):
                remote.pay(FIRST, 6 * CREDIT, "b")


def test_an_operator_may_not_buy(accounts: MemoryAccounts) -> None:
    token = with_account(accounts, "op", role=Role.OPERATOR)
    with (
        served(app_of(shop(), accounts)) as url,
        RemoteProvider(url, token) as remote,
        pytest.raises(RemoteError, match="does not allow it: "),
    ):
        remote.pay(FIRST, 6 * CREDIT, "a")


def test_a_redirect_is_not_followed_and_nobody_else_gets_the_token() -> None:
    elsewhere = Before(nothing, lambda path: (200, {}, b"{}"))
    with served(elsewhere) as other:
        moved = Before(nothing, lambda path: (307, {"Location": other + path}, b""))
        with (
            served(moved) as url,
            RemoteProvider(url, SECRET) as remote,
            pytest.raises(RemoteError, match=r"sends elsewhere \(307\)"),
        ):
            remote.catalogue()
    assert moved.tokens == [f"Bearer {SECRET}".encode()]
    assert elsewhere.tokens == []


@pytest.mark.parametrize("url", ["http://example.org", "http://192.168.0.1:8080", "http://localhost.example.org"])
def test_plain_http_stays_on_the_machine_unless_it_is_told_otherwise(url: str) -> None:
    with pytest.raises(InputError, match="give its https:// address"):
        RemoteProvider(url, SECRET)
    RemoteProvider(url, SECRET, insecure=True).close()


@pytest.mark.parametrize(
    "url", ["", "example.org", "ftp://example.org", "http://", "https://a b", "https://[::1", "https://h:x"]
)
def test_what_is_no_url_is_bad_input(url: str) -> None:
    with pytest.raises(InputError, match="is no URL"):
        RemoteProvider(url, SECRET)


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "ä"])
def test_what_is_no_token_is_bad_input_and_is_not_repeated(token: str) -> None:
    with pytest.raises(InputError) as raised:
        RemoteProvider("https://127.0.0.1:1", token)
    assert not token or token not in str(raised.value)


def test_the_token_is_in_no_repr_error_or_log_line(
    accounts: MemoryAccounts, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    body = json.dumps({"error": {"code": "x", "message": "no"}}).encode()
    left = [301, 400, 401, 403, 404, 413, 418, 422, 429, 500, 503]
    with served(Before(nothing, lambda path: (left[0], {}, body))) as url:
        while left:
            remote = RemoteProvider(url, SECRET, patience=0.0)
            with pytest.raises((RemoteError, InputError)) as raised:
                remote.catalogue()
            said += [str(raised.value), repr(raised.value), repr(remote), repr(vars(remote))]
            remote.close()
            left.pop(0)
    assert len(said) == 44
    assert SECRET not in "\n".join(said) + caplog.text


# ---- TLS ---------------------------------------------------------------------------------------------------------


def test_a_server_is_trusted_by_its_authority_and_for_its_name_only(tmp_path: Path, accounts: MemoryAccounts) -> None:
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    context = Tls(*authority.sign("server")).context()
    with served(app_of(shop(), accounts), context=context) as url:
        with RemoteProvider(url, SECRET, ca=authority.certificate) as remote:
            assert isinstance(remote.quote(FIRST), Quote)
        assert published_key(f"{url}/v1/key", ca=authority.certificate).startswith("-----BEGIN PUBLIC KEY")
        named = url.replace("127.0.0.1", "localhost")
        for at, ca, hint in (
            (url, None, "if its authority is a private one, give it with --ca"),
            (url, other.certificate, "is its authority the one in the --ca file?"),
            (named, authority.certificate, "is the address the one that it is for?"),
        ):
            with RemoteProvider(at, SECRET, ca=ca) as remote, pytest.raises(RemoteError) as problem:
                remote.catalogue()
            said = str(problem.value)
            assert said.startswith(f"the certificate of {at} is not trusted (") and said.endswith(f"); {hint}")


def test_plain_http_at_a_port_for_tls_and_the_other_way_round(
    tmp_path: Path, accounts: MemoryAccounts, short_waits: None
) -> None:
    authority = Authority(tmp_path)
    with served(app_of(shop(), accounts), context=Tls(*authority.sign("server")).context()) as url:
        plain = url.replace("https", "http")
        with (
            RemoteProvider(plain, SECRET, patience=0.01) as remote,
            pytest.raises(RemoteError, match=f"what is at {plain} hangs up on plain http; does it want https://"),
        ):
            remote.catalogue()
    with served(app_of(shop(), accounts)) as url:
        secure = url.replace("http", "https")
        with (
            RemoteProvider(secure, SECRET, ca=authority.certificate) as remote,
            pytest.raises(RemoteError, match=rf"no secure connection to {secure} \(.*\); does it speak plain http"),
        ):
            remote.catalogue()


def test_a_server_may_ask_for_a_clients_certificate(
    tmp_path: Path, accounts: MemoryAccounts, short_waits: None
) -> None:
    authority = Authority(tmp_path)
    context = Tls(*authority.sign("server"), authority.certificate).context()
    with served(app_of(shop(), accounts), context=context) as url:
        with RemoteProvider(
            url, SECRET, ca=authority.certificate, client_certificate=authority.sign("client")
        ) as remote:
            assert isinstance(remote.pay(FIRST, 6 * CREDIT, "a"), Answer)
        with (
            RemoteProvider(url, SECRET, ca=authority.certificate, patience=0.05) as remote,
            pytest.raises(RemoteError, match=r"does it ask for a certificate \(--cert\)"),
        ):
            remote.catalogue()
        foreign = Authority(tmp_path, "other").sign("foreign")
        with (
            RemoteProvider(url, SECRET, ca=authority.certificate, client_certificate=foreign, patience=0.05) as remote,
            pytest.raises(RemoteError, match=r"is it a certificate that it accepts \(--cert\)"),
        ):
            remote.catalogue()


def test_files_that_are_no_certificates_are_named(tmp_path: Path) -> None:
    certificate = Authority(tmp_path).certificate
    signed = Authority(tmp_path).sign("client", password=b"secret")
    with pytest.raises(InputError, match=r"none\.pem holds no certificates of an authority"):
        RemoteProvider("https://127.0.0.1:1", ca=tmp_path / "none.pem")
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(InputError, match=r"none\.pem holds no certificates of an authority"):
        RemoteProvider("https://127.0.0.1:1", ca=tmp_path / "none.pem")
    for own in ((certificate, tmp_path / "none.pem"), (tmp_path / "lacks.pem", signed.key), signed):
        with pytest.raises(InputError, match="are no client certificate"):
            RemoteProvider("https://127.0.0.1:1", client_certificate=own)


def test_the_context_verifies_and_speaks_no_old_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr("httpx.Client", lambda **options: made.append(options))
    RemoteProvider("https://127.0.0.1:1", SECRET)
    RemoteProvider("http://127.0.0.1:1", SECRET)
    for options in made:
        context = options["verify"]
        assert context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname
        assert not options["follow_redirects"]
    assert made[0]["verify"].minimum_version >= ssl.TLSVersion.TLSv1_2


# ---- what is asked and answered ----------------------------------------------------------------------------------


def test_a_batch_is_cut_to_what_the_server_takes(accounts: MemoryAccounts) -> None:
    tuples = {"GEN": ["male", "female", None, "nobody"] * 5, "AGE": ["51", "45", "51", "1"] * 5}
    expected = shop().quote_batch("MED", tuples).prices.tolist()
    for settings, calls in (({}, 1), ({"max_batch": 3}, 7), ({"max_body_bytes": 560}, 0)):
        app = Before(app_of(shop(), accounts, **settings), passing)
        with served(app) as url, RemoteProvider(url, SECRET) as remote:
            assert remote.quote_batch("MED", tuples).prices.tolist() == expected
        asked = app.paths.count("/v1/quotes/MED")
        assert asked == calls if calls else asked > 1


def test_a_single_tuple_that_is_too_large_is_bad_input() -> None:
    with service(shop(), max_body_bytes=600) as (url, token), RemoteProvider(url, token) as remote:
        with pytest.raises(InputError, match="takes no request of that size"):
            remote.quote_batch("MED", {"GEN": ["x" * 1000], "AGE": ["51"]})
        with pytest.raises(InputError, match="takes no request of that size"):
            remote.quote(Request({"GEN": "x" * 1000, "AGE": "51"}, "MED", 0))


@pytest.mark.parametrize("attribute", ["MED/ICATION", "?x=1#", "a b", "Präparat", "%2F"])
def test_an_attribute_may_have_any_name(attribute: str) -> None:
    relation = Relation.of({"ID": ["1", "2"], attribute: ["x", "y"]})
    provider = Provider(relation, match={attribute: "ID = ID"}, seed=7)
    with service(provider) as (url, token), RemoteProvider(url, token) as remote:
        tuples = {"ID": ["1", "3"]}
        assert remote.quote_batch(attribute, tuples).prices.tolist() == (
            provider.quote_batch(attribute, tuples, buyer="ann").prices.tolist()
        )


def test_only_the_columns_that_the_match_needs_are_sent() -> None:
    sent: list[bytes] = []

    def watch(what: str, data: bytes) -> bool:
        sent.append(data)
        return False

    own = {"GEN": "male", "AGE": "51", "NAME": "somebody of ours"}
    with service(shop()) as (server, token), flaky(server, watch) as url, RemoteProvider(url, token) as remote:
        remote.quote(Request(own, "MED", 0))
        remote.quote_batch("MED", {column: [value] for column, value in own.items()})
        remote.pay(Request(own, "MED", 1), 6 * CREDIT, "a")
    assert b"male" in b"".join(sent)
    assert b"somebody of ours" not in b"".join(sent)


def test_values_that_are_not_told_are_leaves_under_the_root() -> None:
    relation = Relation.of({"ID": ["1", "2"], "CITY": ["Ulm", "Aachen"]})
    with (
        service(Provider(relation, match={"CITY": "ID = ID"}, seed=7)) as (url, token),
        RemoteProvider(url, token) as remote,
    ):
        hierarchy = remote.catalogue()["CITY"].hierarchy
        assert (hierarchy.height, hierarchy.ground_labels, hierarchy.root_label) == (1, [], "*")
        assert remote.pay(Request({"ID": "1"}, "CITY", 0), 6 * CREDIT, "a") == Answer("Ulm", 0, CREDIT // 2)


def test_a_hierarchy_is_the_same_after_the_wire() -> None:
    provider = shop()
    with service(provider) as (url, token), RemoteProvider(url, token) as remote:
        told, own = remote.catalogue()["MED"].hierarchy, provider.catalogue()["MED"].hierarchy
    assert told.labels == own.labels
    assert told.ancestors.tolist() == own.ancestors.tolist()
    assert told.numeric == own.numeric


def test_a_purchase_has_a_receipt_that_the_published_key_verifies() -> None:
    ledger = MemoryLedger()
    with service(shop(ledger)) as (url, token), RemoteProvider(url, token) as remote:
        answer = remote.pay(FIRST, 6 * CREDIT, "a")
        again = remote.pay(FIRST, 6 * CREDIT, "a")
        pem = published_key(f"{url}/v1/key")
    assert isinstance(answer, Answer) and isinstance(again, Answer)
    assert answer.receipt is not None and answer.receipt == again.receipt
    assert verify(answer.receipt, pem)
    receipt = answer.receipt.receipt
    assert (receipt.account, receipt.attribute, receipt.tuple, receipt.level) == ("ann", "MED", FIRST.tuple, 1)
    assert (receipt.answer, receipt.price, receipt.idempotency_key) == (answer.value, answer.price, "a")
    assert (receipt.sequence, receipt.hash) == (1, next(iter(ledger.entries(1))).hash)


def test_without_reasons_a_refusal_says_nothing_else() -> None:
    with service(shop(), reasons=False) as (url, token), RemoteProvider(url, token) as remote:
        nobody = Request({"GEN": "nobody", "AGE": "51"}, "MED", 0)
        assert remote.quote(nobody) == remote.pay(nobody, CREDIT, "a") == Refusal(Reason.REFUSED)
        assert remote.quote_batch("MED", {"GEN": ["nobody"], "AGE": ["51"]})[0] == [Refusal(Reason.REFUSED)] * 4
        assert remote.pay(FIRST, 0, "a") == Refusal(Reason.REFUSED)


def test_the_account_tells_all_that_was_bought_however_many_pages(accounts: MemoryAccounts) -> None:
    accounts.set_credit("ann", 7 * CREDIT)
    with served(app_of(shop(), accounts)) as url, RemoteProvider(url, SECRET) as remote:
        first = remote.pay(FIRST, 6 * CREDIT, "key 0")
        for i in range(1, 103):
            remote.pay(FIRST, 0, f"key {i}")
        account = remote.account()
        assert remote.account_name() == "ann"
    assert isinstance(first, Answer)
    assert (account.account, account.role, account.credit) == ("ann", "client", 7 * CREDIT)
    assert (account.spent, account.remaining) == (first.price, 7 * CREDIT - first.price)
    assert [bought.key for bought in account.purchases] == [f"key {i}" for i in range(103)]
    assert account.purchases[0].answer == first
    assert all(bought.request == FIRST for bought in account.purchases)
    assert "NSAID" not in repr(account)


def test_a_key_that_http_cannot_carry_is_bad_input() -> None:
    with service(shop()) as (url, token), RemoteProvider(url, token) as remote:
        for key in ("schlüssel", " a", "a "):
            with pytest.raises(InputError, match="idempotency key has ASCII characters only"):
                remote.pay(FIRST, CREDIT, key)
        with pytest.raises(InputError, match="ceiling must not be negative"):
            remote.pay(FIRST, -1, "a")
        with pytest.raises(InputError, match=r"not valid Unicode|cannot be sent"):
            remote.quote(Request({"GEN": "\ud800", "AGE": "51"}, "MED", 0))


def test_threads_share_one_client() -> None:
    with service(shop()) as (url, token), RemoteProvider(url, token) as remote:
        expected = remote.quote(FIRST)
        told: list[Any] = []
        threads = [Thread(target=lambda: told.extend(remote.quote(FIRST) for _ in range(5))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert told == [expected] * 40


# ---- what is no provider -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"<html>", "is not a provider"),
        (200, b"{}", "is not a provider"),
        (200, b'{"attributes": [{"attribute": "MED", "columns": [], "height": 3, "hierarchy": null}]}', "not a prov"),
        (404, b"<html>", "is not a provider"),
        (204, b"", "is not a provider"),
        (418, b"{}", "is not a provider"),
        (500, b"Traceback", r"failed \(500\); its own log says why"),
        (400, b'{"error": {"message": "bad\\u001b[31m\\nline"}}', r"^bad \[31m line$"),
        (422, b'{"error": {"message": "' + b"x" * 1000 + b'"}}', "^x{399}…$"),
        (422, b'{"error": []}', "is not a provider"),
        (400, b"[" * 100_000, "is not a provider"),
    ],
)
def test_what_answers_otherwise_is_named_as_such(status: int, body: bytes, said: str) -> None:
    app = Before(nothing, lambda path: (status, {}, b"" if status == 204 else body))
    with (
        served(app) as url,
        RemoteProvider(url, SECRET) as remote,
        pytest.raises((RemoteError, InputError), match=said),
    ):
        remote.catalogue()


@pytest.fixture
def altering(accounts: MemoryAccounts) -> Iterator[Callable[[Callable[[Any], Any]], RemoteProvider]]:
    """A client whose purchases are answered with something that a function made of the true answer."""
    with ExitStack() as stack:

        def connect(alter: Callable[[Any], Any]) -> RemoteProvider:
            url = stack.enter_context(served(Altering(app_of(shop(), accounts), alter)))
            return stack.enter_context(RemoteProvider(url, SECRET))

        yield connect


class Altering:
    """Changes what a service answers to purchases."""

    def __init__(self, app: Any, alter: Callable[[Any], Any]) -> None:
        self._app, self._alter = app, alter

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def altered(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [h for h in message["headers"] if h[0] != b"content-length"]
            elif message.get("body"):
                message["body"] = json.dumps(self._alter(json.loads(message["body"]))).encode()
            await send(message)

        await self._app(scope, receive, altered if scope.get("path") == "/v1/purchases" else send)


@pytest.mark.parametrize(
    "member", [{"answer": "dolex"}, {"price": 1}, {"level": 0}, {"idempotency_key": "b"}, {"tuple": {}}]
)
def test_a_receipt_for_something_else_is_an_error(altering: Any, member: dict[str, Any]) -> None:
    def alter(told: Any) -> Any:
        told["purchase"]["receipt"] |= member
        return told

    with pytest.raises(RemoteError, match="has sold something else than was asked for"):
        altering(alter).pay(FIRST, 6 * CREDIT, "a")


def test_another_level_than_was_asked_for_is_an_error(altering: Any) -> None:
    def alter(told: Any) -> Any:
        told["purchase"]["level"] = told["purchase"]["receipt"]["level"] = 2
        return told

    with pytest.raises(RemoteError, match="has sold something else than was asked for"):
        altering(alter).pay(FIRST, 6 * CREDIT, "a")


def test_an_answer_of_another_shape_is_an_error(altering: Any) -> None:
    with pytest.raises(RemoteError, match="is not a provider, or one of another release"):
        altering(lambda told: {"purchase": {"price": 1}}).pay(FIRST, 6 * CREDIT, "a")
