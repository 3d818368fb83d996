"""A provider over HTTP, on a wire that fails: what is lost is asked for again, and nothing is paid twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import pytest
from flaky_proxy import ANSWER, REQUEST, flaky
from remote_shop import CREDIT, FIRST, SECRET, Before, free_port, nothing, passing, shop
from running_service import app_of, served, service, with_account

from pacas import example
from pacas.client.outcome.steps import Observer, PlannedStep, Progress
from pacas.client.safe_clean import SafeClean
from pacas.core.relation import Relation
from pacas.errors import InputError, RemoteError
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.remote.known_keys import KnownKeys, published_at
from pacas.remote.remote_provider import RemoteProvider
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.wire.signatures import verify

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
    """Takes the server away before what was ordered is paid, and brings another one a moment later."""

    def __init__(self, restart: Callable[[], None]) -> None:
        self._restart = restart
        self.steps = 0

    def ordering(self, *steps: PlannedStep) -> None:
        if not self.steps:
            self._restart()

    def progressed(self, progress: Progress) -> None:
        self.steps += 1


def cleaned(marketplace: Any, observer: Observer | None = None) -> Any:
    cleaner = SafeClean(["GEN, DIAG -> MED"], budget=6, strategy="paper")
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
        restarting = Restarting(restart)
        assert outcome(cleaned(remote, restarting)) == expected
        assert len(opened) == 2
        assert opened[-1].totals() == {"ann": Total(len(expected[1]), expected[3])}


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
        pem = KnownKeys(None, lambda: published_at(f"{url}/v1/key"), url).known
    assert isinstance(answer, Answer) and isinstance(again, Answer)
    assert answer.receipt is not None and answer.receipt == again.receipt
    assert verify(answer.receipt, pem)
    receipt = answer.receipt.receipt
    assert (receipt.account, receipt.attribute, receipt.tuple, receipt.level) == ("ann", "MED", FIRST.tuple, 1)
    assert (receipt.answer, receipt.price, receipt.idempotency_key) == (answer.value, answer.price, "a")
    assert (receipt.sequence, receipt.hash) == (1, next(iter(ledger.entries(1))).hash)


def test_a_credit_that_is_used_up_is_known_without_reasons_too() -> None:
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann", credit=1)
    with served(app_of(shop(), accounts, reasons=False)) as url, RemoteProvider(url, token) as remote:
        assert remote.pay(FIRST, CREDIT, "a") == Refusal(Reason.CREDIT)
        assert remote.balance().remaining == 1


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
        assert remote.balance().account == "ann"
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
