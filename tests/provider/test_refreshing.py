"""Several providers over one ledger: each takes in every purchase once, whoever sells meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest
from waiting_ledger import told_of_waiting

from pacas.protocol.messages import Quote, Request
from pacas.provider.ledger.chain import Head
from pacas.provider.ledger.entry import Entry
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.storage.sqlite.ledger import SqliteLedger

ROWS = 40
CEILING = 10**12
ENOUGH = 30
"""Seconds that nothing here takes."""


def shop(ledger: Ledger) -> Provider:
    table = {"ID": [str(row) for row in range(ROWS)], "V": ["a", "b"] * (ROWS // 2)}
    return Provider(table, match={"V": "ID = ID"}, total=ROWS, seed=1, ledger=ledger)


def of(row: int) -> Request:
    return Request({"ID": str(row)}, "V", 0)


def check_knows_all(provider: Provider) -> None:
    """What it has taken in is what the ledger says, and its quotes are those of one that has just begun."""
    assert provider.shop.sales.totals() == provider.ledger.totals()
    assert provider.shop.sales.count == provider.ledger.head().entries - 1
    fresh = shop(provider.ledger)
    assert [provider.quote(of(row)) for row in range(ROWS)] == [fresh.quote(of(row)) for row in range(ROWS)]


def test_a_sale_that_waits_for_another_process_takes_in_what_that_one_has_sold_before_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with closing(SqliteLedger(path)) as first, closing(SqliteLedger(path)) as second:
        selling, waiting = shop(first), shop(second)
        for row in range(3):
            selling.sell(of(row), CEILING, f"a{row}")
        with ThreadPoolExecutor(1) as pool, closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            sale = pool.submit(waiting.sell, of(3), CEILING, "b")
            last = monotonic() + 5
            while waiting.till.known.entries < 4 and monotonic() < last:
                sleep(0.01)
            assert waiting.till.known.entries == 4
            assert not sale.done()
            other.execute("COMMIT")
            assert isinstance(sale.result(ENOUGH), Entry)
        check_knows_all(waiting)


def test_a_sale_that_waits_for_another_process_does_not_keep_quotes_from_the_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "l.db"
    with closing(SqliteLedger(path)) as first, closing(SqliteLedger(path)) as second:
        selling, waiting = shop(first), shop(second)
        waits = told_of_waiting(second, monkeypatch)
        with ThreadPoolExecutor(1) as pool, closing(sqlite3.connect(path, isolation_level=None)) as other:
            selling.sell(of(0), CEILING, "a")
            other.execute("BEGIN IMMEDIATE")
            sale = pool.submit(waiting.sell, of(1), CEILING, "b")
            assert waits.wait(ENOUGH)
            waiting.refresh()
            assert waiting.quote(of(0)) == Quote(0)
            assert not sale.done()
            other.execute("COMMIT")
            sale.result(ENOUGH)
        check_knows_all(waiting)


def test_a_sale_that_a_refresh_has_seen_before_its_seller_is_taken_in_once(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = shop(MemoryLedger())
    transaction, depth = provider.ledger.transaction, list[int]()
    with ThreadPoolExecutor(1) as pool:

        @contextmanager
        def refreshed_at_its_end() -> Iterator[None]:
            depth.append(1)
            with transaction():
                yield
            depth.pop()
            if not depth:
                pool.submit(provider.refresh).result(ENOUGH)

        monkeypatch.setattr(provider.ledger, "transaction", refreshed_at_its_end)
        provider.sell(of(0), CEILING, "a")
        provider.sell(of(1), CEILING, "b")
        monkeypatch.undo()
    check_knows_all(provider)


def test_a_refresh_takes_in_nothing_that_was_taken_in_while_it_was_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = MemoryLedger()
    provider, other = shop(ledger), shop(ledger)
    read = ledger.after
    late = iter([lambda: provider.sell(of(2), CEILING, "c"), lambda: None])

    def overtaken(known: Head) -> list[Entry]:
        entries = read(known)
        next(late)()
        return entries

    other.sell(of(0), CEILING, "a")
    other.sell(of(1), CEILING, "b")
    monkeypatch.setattr(ledger, "after", overtaken)
    provider.refresh()
    monkeypatch.undo()
    check_knows_all(provider)


def test_sales_and_refreshes_at_once_lose_and_repeat_nothing(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with closing(SqliteLedger(path)) as first, closing(SqliteLedger(path)) as second:
        providers, done = (shop(first), shop(second)), Event()

        def until_done(act: Callable[[], object]) -> None:
            while not done.is_set():
                act()

        def sell(provider: Provider, rows: range) -> None:
            for row in rows:
                provider.sell(of(row), CEILING, f"k{row}")

        with ThreadPoolExecutor(6) as pool:
            watching = [pool.submit(until_done, provider.refresh) for provider in providers]
            halves = range(0, ROWS, 2), range(1, ROWS, 2)
            sales = [pool.submit(sell, provider, rows) for provider, rows in zip(providers, halves, strict=True)]
            for sale in sales:
                sale.exception(ENOUGH)
            done.set()
            for future in (*sales, *watching):
                future.result(ENOUGH)
        for provider in providers:
            provider.refresh()
            check_knows_all(provider)
        assert first.total("local") == (ROWS, ROWS * 10**9)


def test_what_the_match_does_not_need_is_not_recorded() -> None:
    provider = shop(MemoryLedger())
    asked = Request({"FOO": "x" * 1000, "ID": "1", "BAR": None}, "V", 0)
    sold = provider.pay(asked, CEILING, "a")
    entry = provider.ledger.find("local", "a")
    assert entry is not None and entry.purchase.request == of(1)
    assert provider.pay(asked, CEILING, "a") == provider.pay(of(1), CEILING, "a") == sold
    assert provider.ledger.head().entries == 2
