"""Sales of several threads share a commit: each is judged on all before it, and all are durable, or none."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from example_shop import POLICY

from pacas import example
from pacas.core.hierarchy import Hierarchy
from pacas.errors import InputError, KeyReusedError, StorageError
from pacas.protocol.messages import Payment, Quote, Reason, Refusal, Request
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.entry import Entry
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.storage.sqlite.ledger import SqliteLedger

ROWS, CEILING, ENOUGH = 40, 10**12, 30
MODES: dict[str, dict[str, Any]] = {"sealed": {"hierarchies": {"V": Hierarchy.flat(["a", "b"])}}, "paper": {"seed": 1}}


def shop(ledger: Ledger, mode: str = "paper") -> Provider:
    table = {"ID": [str(row) for row in range(ROWS)], "V": ["a", "b"] * (ROWS // 2)}
    return Provider(table, match={"V": "ID = ID"}, total=ROWS, ledger=ledger, **MODES[mode])


def of(row: int, level: int = 0) -> Request:
    return Request({"ID": str(row)}, "V", level)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqliteLedger]:
    with closing(SqliteLedger(tmp_path / "l.db")) as made:
        yield made


@contextmanager
def waiting_together(provider: Provider, count: int) -> Iterator[Callable[..., Future[Entry | Refusal]]]:
    """Orders that are given inside wait until all have come: then one thread serves them in one transaction."""
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(count))
        stack.enter_context(provider.till._commits.turn)

        def order(*given: Any, **options: Any) -> Future[Entry | Refusal]:
            before = len(provider.till._commits._waiting)
            future = pool.submit(provider.sell, *given, **options)
            while len(provider.till._commits._waiting) == before:
                pass
            return future

        yield order


def commits(ledger: SqliteLedger) -> list[str]:
    told: list[str] = []
    ledger._connection.set_trace_callback(lambda statement: told.append(statement))
    return told


@pytest.mark.parametrize("mode", MODES)
def test_sales_that_wait_share_one_commit_and_each_knows_those_before(ledger: SqliteLedger, mode: str) -> None:
    provider, told = shop(ledger, mode), commits(ledger)
    with waiting_together(provider, 5) as order:
        made = [
            order(of(0), CEILING, "a"),
            order(of(0), CEILING, "b"),  # bought a moment ago: nothing to pay
            order(of(1), CEILING, "c", buyer="bob"),
            order(of(2), 0, "d"),
            order(of(3), CEILING, "e", credit=0),
        ]
    first, second, third, fourth, fifth = (one.result(ENOUGH) for one in made)
    assert isinstance(first, Entry) and isinstance(second, Entry) and isinstance(third, Entry)
    assert (first.sequence, second.sequence, third.sequence) == (1, 2, 3)
    assert first.purchase.price > 0 == second.purchase.price
    assert (fourth, fifth) == (Refusal(Reason.CEILING), Refusal(Reason.CREDIT))
    assert told.count("COMMIT") == 1
    assert ledger.verify().holds
    assert (
        provider.shop.sales.totals()
        == ledger.totals()
        == {
            "bob": Total(1, third.purchase.price),
            "local": Total(2, first.purchase.price),
        }
    )


def test_a_mistake_in_one_is_no_other_s_business(ledger: SqliteLedger) -> None:
    provider = shop(ledger)
    provider.sell(of(9), CEILING, "used")

    def no_credit() -> int | None:
        raise InputError("this account may not buy")

    with waiting_together(provider, 5) as order:
        reused = order(of(0), CEILING, "used")
        good = order(of(1), CEILING, "b")
        nowhere = order(Request({"ID": "1"}, "W", 0), CEILING, "c")
        nobody = order(of(2), CEILING, "d", credit=no_credit)
        again = order(of(1), CEILING, "b")
    assert good.result(ENOUGH) == again.result(ENOUGH)
    with pytest.raises(KeyReusedError):
        reused.result(ENOUGH)
    with pytest.raises(InputError, match="W"):
        nowhere.result(ENOUGH)
    with pytest.raises(InputError, match="this account may not buy"):
        nobody.result(ENOUGH)
    assert ledger.head().entries == 3


@pytest.mark.parametrize("ceilings", [(CEILING, CEILING, CEILING), (CEILING, 0, 0)], ids=["sold", "and refused"])
@pytest.mark.parametrize("mode", MODES)
def test_a_commit_that_fails_has_sold_nothing_and_is_forgotten(
    ledger: SqliteLedger, mode: str, ceilings: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = shop(ledger, mode)
    provider.sell(of(5), CEILING, "before")
    prices = [provider.quote(of(row)) for row in range(ROWS)]

    def full() -> None:
        ledger._roll_back()
        raise StorageError("the disk is full")

    monkeypatch.setattr(ledger, "_commit", full)
    with waiting_together(provider, 3) as order:
        made = [order(of(row), ceiling, f"k{row}") for row, ceiling in enumerate(ceilings)]
    for one in made:
        with pytest.raises(StorageError, match="the disk is full"):
            one.result(ENOUGH)
    monkeypatch.undo()
    provider.refresh()
    assert [provider.quote(of(row)) for row in range(ROWS)] == prices
    assert prices[5] == Quote(0)
    assert isinstance(provider.sell(of(0), CEILING, "k0"), Entry)
    assert provider.shop.sales.totals() == ledger.totals()
    assert ledger.verify().holds


def test_who_comes_while_others_are_served_joins_them(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    provider, told = shop(ledger), commits(ledger)
    look, late = ledger.look_ahead, Future[Entry | Refusal]()

    def looked(purchases: Any) -> None:
        look(purchases)
        if not late.running() and not late.done():
            late.set_running_or_notify_cancel()
            pool.submit(lambda: late.set_result(provider.sell(of(1), CEILING, "late", buyer="bob")))
            while not provider.till._commits._waiting:
                pass

    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(ledger, "look_ahead", looked)
        first = provider.sell(of(0), CEILING, "first")
        second = late.result(ENOUGH)
    assert isinstance(first, Entry) and isinstance(second, Entry)
    assert (first.sequence, second.sequence) == (1, 2)
    assert told.count("COMMIT") == 1


def test_orders_of_several_buyers_are_served_each_by_itself(ledger: SqliteLedger) -> None:
    provider, told = shop(ledger), commits(ledger)
    orders = [
        (Payment(of(0), CEILING, "a"), "ann", None),
        (Payment(of(1), 0, "b"), "bob", None),  # a surprise, which ends no other's run
        (Payment(Request({"ID": "1"}, "W", 0), CEILING, "c"), "bob", None),
        (Payment(of(2), CEILING, "d"), "bob", None),
    ]
    first, second, third, fourth = provider.till.sell_each(orders)
    assert isinstance(first, Entry) and isinstance(fourth, Entry)
    assert second == Refusal(Reason.CEILING) and isinstance(third, InputError)
    assert told.count("COMMIT") == 1 and provider.till.sell_each([]) == []


def test_who_waits_no_longer_leaves_its_turn_to_others(ledger: SqliteLedger) -> None:
    provider = shop(ledger)
    with waiting_together(provider, 3) as order:
        served = [order(of(row), CEILING, f"k{row}") for row in range(3)]
        parties = list(provider.till._commits._waiting)
        provider.till._commits._leave(parties[1])
        parties[1].runs[0].outcome = KeyError("interrupted")
        parties[1].woken.release()
    assert [isinstance(one.result(ENOUGH), Entry) for one in (served[0], served[2])] == [True, True]
    with pytest.raises(KeyError):
        served[1].result(ENOUGH)
    assert isinstance(provider.sell(of(5), CEILING, "after"), Entry), "nobody is waited for in vain"


def test_threads_that_sell_at_once_sell_all_and_nothing_twice(ledger: SqliteLedger) -> None:
    provider, told, go = shop(ledger), commits(ledger), Event()

    def buy(buyer: int) -> None:
        go.wait(ENOUGH)
        for row in range(ROWS):
            provider.sell(of(row), CEILING, f"{buyer}/{row}", buyer=f"b{buyer % 4}")

    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(buy, buyer) for buyer in range(8)]
        go.set()
        for one in made:
            one.result(ENOUGH)
    assert ledger.verify().holds and ledger.head().entries == 8 * ROWS + 1
    assert provider.shop.sales.totals() == ledger.totals()
    assert told.count("COMMIT") < 8 * ROWS


def _caches(provider: Provider) -> dict[str, Any]:
    return dict(provider.shop.sales.quote_caches)  # type: ignore[attr-defined]


# ---- what another process has sold -----------------------------------------------------------------------------------


def test_a_sale_of_another_process_is_taken_in_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted anew: neither what is left, nor the quotes that are kept."""

    def example_shop(ledger: Ledger) -> Provider:
        return Provider(
            example.provider,
            match={"MED": example.md},
            policies=[POLICY],
            hierarchies=example.hierarchies,
            total=6,
            seed=7,
            ledger=ledger,
        )

    for make in (shop, example_shop):
        with ExitStack() as stack:
            path = tmp_path / make.__name__
            one, other = (make(stack.enter_context(closing(SqliteLedger(path)))) for _ in range(2))
            attribute, offer = next(iter(one.catalogue().items()))
            table = {"ID": "0"} if make is shop else {"GEN": "male", "AGE": "51"}
            request = Request({c: table[c] for c in offer.columns}, attribute, 1)
            caches = _caches(other)
            one.sell(request, CEILING, "a")
            with monkeypatch.context() as patched:
                patched.setattr("pacas.provider.safety.surviving.Surviving.recount", None)
                other.refresh()
            assert _caches(other) == caches
            assert other.quote(request) == Quote(0)
            with sqlite3.connect(path) as connection:
                assert connection.execute("SELECT count(*) FROM entry").fetchone() == (2,)
            fresh = make(other.ledger)
            for level in range(offer.hierarchy.height + 1):
                at = Request(request.tuple, attribute, level)
                assert other.quote(at, buyer="bob") == fresh.quote(at, buyer="bob")
