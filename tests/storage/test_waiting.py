"""What happens while a writer waits for another: who reads does not wait, and a sale goes by what is true after it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from example_shop import example_provider
from postgres import POSTGRES
from waiting_ledger import told_of_waiting

from pacas.protocol.messages import Answer, Reason, Refusal, Request
from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.storage.url import open_accounts, open_ledger

TOKEN = token_hash("token-of-ann")
REQUEST = Request({"GEN": "male", "AGE": "51"}, "MED", 1)
CEILING = 10**10


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger and its accounts are."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'provider.ledger.db'}"
    named: str = request.getfixturevalue("postgres_url")
    return named


Run = Callable[[str], Any]


@contextmanager
def held(url: str) -> Iterator[Run]:
    """Another process's transaction, as long as this lasts: a function that runs statements in it."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection.execute
            connection.execute("COMMIT")
        return
    import psycopg

    from pacas.storage.postgres.address import PostgresAddress

    place = PostgresAddress.parse(url)
    with closing(psycopg.connect(url.partition("?")[0], autocommit=True)) as connection:
        connection.execute(f"SET search_path = {place.ledger}; BEGIN; SELECT pg_advisory_xact_lock({place.lock})")
        yield connection.execute
        connection.execute("COMMIT")


class Meanwhile(Thread):
    """Work in a thread, from its start until the block around it ends: what came of it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work, self.done = work, list[Any]()

    def run(self) -> None:
        try:
            self.done.append(self._work())
        except Exception as error:
            self.done.append(error)

    def __enter__(self) -> Meanwhile:
        return self

    def __exit__(self, *error: object) -> None:
        self.join()


def test_reading_does_not_wait_with_a_writer_of_the_same_process(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        provider.pay(REQUEST, CEILING, "key 1", buyer="ann")
        begun = told_of_waiting(ledger, monkeypatch)
        with Meanwhile(lambda: provider.pay(REQUEST, CEILING, "key 2", buyer="bob")) as sale, held(url):
            sale.start()
            assert begun.wait(30)
            assert not ledger._lock.acquire(blocking=False)  # type: ignore[attr-defined]
            assert ledger.head().entries == 2
            assert ledger.total("ann").purchases == 1 and ledger.total("bob").purchases == 0
            assert [entry.sequence for entry in ledger.bought_by("ann")] == [1]
            assert ledger.find("bob", "key 2") is None
            assert sale.done == []
        assert isinstance(sale.done[0], Answer)
        assert ledger.total("bob").purchases == 1


@pytest.mark.parametrize(
    ("change", "outcome"),
    [("revoked = 1", PermissionError), ("credit = 1", Refusal(Reason.CREDIT)), ("credit = 9000000000", Answer)],
)
def test_a_sale_goes_by_the_account_as_it_is_when_the_wait_is_over(
    url: str, monkeypatch: pytest.MonkeyPatch, change: str, outcome: Any
) -> None:
    with closing(open_ledger(url, Path())) as ledger, closing(open_accounts(url, Path())) as accounts:
        provider = example_provider(ledger)
        accounts.add(Account("ann", Role.CLIENT, None, False, TOKEN))

        def credit() -> int | None:
            account = accounts.by_token(TOKEN)
            assert account is not None
            if account.revoked:
                raise PermissionError
            return account.credit

        begun = told_of_waiting(ledger, monkeypatch)
        pay = partial(provider.pay, REQUEST, CEILING, "key", buyer="ann", credit=credit)
        with Meanwhile(pay) as sale, held(url) as run:
            sale.start()
            run(f"UPDATE account SET {change} WHERE name = 'ann'")
            assert begun.wait(30)
        (sold,) = sale.done
        assert isinstance(sold, outcome) if isinstance(outcome, type) else sold == outcome
        assert ledger.head().entries == (3 if outcome is Answer else 1), "the sale, and ann as she is then"


@pytest.mark.parametrize("change", ["revoke", "set_credit", "add"])
def test_an_account_does_not_change_in_the_midst_of_a_sale(url: str, change: str) -> None:
    with closing(open_ledger(url, Path())) as ledger, closing(open_accounts(url, Path())) as accounts:
        provider = example_provider(ledger)
        accounts.add(Account("ann", Role.CLIENT, None, False, TOKEN))
        changes: dict[str, Callable[[], None]] = {
            "revoke": lambda: accounts.revoke("ann"),
            "set_credit": lambda: accounts.set_credit("ann", 0),
            "add": lambda: accounts.add(Account("bob", Role.CLIENT, 1, False, token_hash("bob"))),
        }
        entries: list[int] = []

        def changed() -> None:
            changes[change]()
            entries.append(ledger.head().entries)

        thread = Thread(target=changed)

        def credit() -> int | None:
            thread.start()
            thread.join(0.3)  # it would be done by now if it did not wait
            account = accounts.by_token(TOKEN)
            assert account is not None and not account.revoked
            return account.credit

        assert isinstance(provider.pay(REQUEST, CEILING, "key", buyer="ann", credit=credit), Answer)
        thread.join()
        assert entries == [4], "the sale, ann as she was then, and the change"


def test_a_key_that_was_used_is_answered_whatever_the_credit_is_now(url: str) -> None:
    def credit() -> int | None:
        raise AssertionError("nothing is sold")

    with closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        sold = provider.pay(REQUEST, CEILING, "key", buyer="ann")
        assert provider.pay(REQUEST, CEILING, "key", buyer="ann", credit=credit) == sold
