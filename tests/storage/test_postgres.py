"""Ledgers in PostgreSQL: what is in the database, and what happens when the server is not as it should be."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import postgres
import pytest

from pacas.errors import StorageError
from pacas.protocol.messages import Request
from pacas.provider.ledger.entry import Entry, Purchase
from pacas.storage.url import open_accounts

pytest.importorskip("psycopg", reason="psycopg is not installed; pip install 'pacas[postgres]'")

if TYPE_CHECKING:
    from pacas.storage.postgres.ledger import PostgresLedger
else:
    PostgresLedger = __import__("pacas.storage.postgres.ledger", fromlist=["PostgresLedger"]).PostgresLedger

FINGERPRINT = {"relation": "ab"}
SEED = b"seed" * 8
REQUEST = Request({"GEN": "secret"}, "MED", 0)


def purchase(number: int) -> Purchase:
    return Purchase("ann", f"key {number}", REQUEST, 1, "hidden" * 20, (number,))


@pytest.fixture
def ledger(postgres_url: str) -> Iterator[PostgresLedger]:
    with closing(PostgresLedger(postgres_url)) as made:
        made.open(FINGERPRINT, SEED)
        yield made


def connection(ledger: PostgresLedger) -> Any:
    """The ledger's own."""
    return ledger._session.connection


def setting(ledger: PostgresLedger, name: str) -> str:
    row = connection(ledger).execute(f"SHOW {name}".encode()).fetchone()
    assert row is not None
    return str(row[0])


def backend(ledger: PostgresLedger) -> int:
    return int(connection(ledger).info.backend_pid)


# ---- what is in the database -----------------------------------------------------------------------------------------


def test_an_appended_purchase_is_there_for_others_before_append_returns(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    entry = ledger.append(purchase(1))
    assert postgres.run(postgres_url, "SELECT hash FROM entry WHERE sequence = 1") == [(entry.hash,)]


@pytest.mark.parametrize(("asked", "kept"), [("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply",) * 2])
def test_a_commit_is_durable_whatever_the_server_is_set_to(postgres_url: str, asked: str, kept: str) -> None:
    with closing(PostgresLedger(f"{postgres_url}&options=-csynchronous_commit%3D{asked}")) as ledger:
        assert setting(ledger, "synchronous_commit") == kept


def test_ledgers_of_one_database_do_not_touch_each_other(postgres_url: str, postgres_cluster: str) -> None:
    other = f"{postgres_url}_b"
    try:
        with closing(PostgresLedger(postgres_url)) as one, closing(PostgresLedger(other)) as two:
            one.open(FINGERPRINT, SEED)
            with one.transaction():
                one.append(purchase(1))
                two.open(FINGERPRINT, b"another")
                two.append(purchase(1))
            assert one.head().entries == two.head().entries == 2
            assert one.head() != two.head()
    finally:
        postgres.run(postgres_cluster, f"DROP SCHEMA {other.partition('ledger=')[2]} CASCADE")


def test_verification_does_not_hold_off_writers(ledger: PostgresLedger, postgres_url: str) -> None:
    sold: list[Entry] = []
    with closing(PostgresLedger(postgres_url)) as other:
        found = ledger.verify(visit=lambda entry: sold.append(other.append(purchase(1))))
    assert found.holds and found.head.entries == 1
    assert ledger.head().entries == 2 and len(sold) == 1


def test_a_schema_that_was_made_for_it_and_is_empty_is_used(postgres_url: str, postgres_cluster: str) -> None:
    postgres.run(postgres_cluster, f"CREATE SCHEMA {postgres_url.partition('ledger=')[2]}")
    with closing(PostgresLedger(postgres_url)) as ledger:
        ledger.open(FINGERPRINT, SEED)
        assert ledger.head().entries == 1


def test_a_sale_is_two_round_trips(ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.append(purchase(1))
    tables = ledger._tables()
    sent: list[str] = []
    send = tables._send

    def noted(text: str) -> list[list[tuple[Any, ...]]]:
        sent.append(text)
        return send(text)

    monkeypatch.setattr(tables, "_send", noted)
    with ledger.transaction():
        assert ledger.find("ann", "key 2", REQUEST) is None
        assert ledger.head().entries == 2
        assert ledger.total("ann") == (1, 1)
        ledger.append(purchase(2), is_new=True)
    assert len(sent) == 2
    assert ledger.verify().holds and ledger.head().entries == 3


def test_many_sales_that_share_a_commit_are_two_round_trips(
    ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.append(purchase(1))
    tables = ledger._tables()
    sent: list[str] = []
    send = tables._send

    def noted(text: str) -> list[list[tuple[Any, ...]]]:
        sent.append(text)
        return send(text)

    monkeypatch.setattr(tables, "_send", noted)
    with ledger.transaction():
        ledger.look_ahead([("ann", f"key {number}") for number in range(1, 9)] + [("", "")])
        assert ledger.find("ann", "key 1", REQUEST) is not None
        for number in range(2, 9):
            assert ledger.find("ann", f"key {number}", REQUEST) is None
            ledger.append(purchase(number), is_new=True)
            assert ledger.find("ann", f"key {number}", REQUEST) is not None
    assert len(sent) == 2
    assert ledger.verify().holds and ledger.head().entries == 9


def test_a_transaction_that_asks_for_nothing_is_not_sent(
    ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger._tables(), "_send", None)
    with ledger.transaction(), ledger.transaction():
        pass
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        raise ZeroDivisionError


# ---- what is no ledger -----------------------------------------------------------------------------------------------


def refused(url: str) -> str:
    """The one line that a ledger which cannot be opened ends in."""
    said = []
    for opening in (PostgresLedger, lambda url: open_accounts(url, Path())):
        with pytest.raises(StorageError) as caught:
            opening(url)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "\n" not in said[0] and postgres.PASSWORD not in said[0] and "wrong" not in said[0]
    return said[0]


def test_a_schema_of_something_else_is_left_as_it_is(postgres_url: str, postgres_cluster: str) -> None:
    schema = postgres_url.partition("ledger=")[2]
    for table in ("entry (secret text)", "layout (secret text)"):
        postgres.run(postgres_cluster, f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.{table}")
        assert "is a schema of something else; nothing was written to it" in refused(postgres_url)
        tables = postgres.run(postgres_cluster, f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'")
        assert tables == [(table.split()[0],)]
        postgres.run(postgres_cluster, f"DROP SCHEMA {schema} CASCADE")


def test_a_newer_layout_is_not_read(ledger: PostgresLedger, postgres_url: str) -> None:
    postgres.run(postgres_url, "UPDATE layout SET version = 2")
    assert "has the layout 2, and this release reads layout 1" in refused(postgres_url)


def test_a_database_that_cannot_hold_every_text_is_not_used(postgres_cluster: str) -> None:
    name = f"ascii_{os.getpid()}"
    postgres.run(postgres_cluster, f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    try:
        said = refused(postgres_cluster.replace("/postgres", f"/{name}"))
        assert "needs a database in UTF8, and this one is in SQL_ASCII" in said
    finally:
        postgres.run(postgres_cluster, f"DROP DATABASE {name}")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("/postgres", "/nowhere", "cannot be opened: PostgreSQL has no such database"),
        (postgres.PASSWORD, "wrong-password", "let nobody in with this user and password"),
        ("127.0.0.1", "nowhere.invalid", "cannot be found: no such host"),
        ("127.0.0.1:", "127.0.0.1:1", "cannot be opened: PostgreSQL"),
    ],
)
def test_a_server_that_cannot_be_reached_is_one_clear_line(postgres_url: str, old: str, new: str, said: str) -> None:
    if old not in postgres_url:
        pytest.skip("for the private cluster's own URL")
    url = postgres_url.replace(old, new)
    if new.endswith(":1"):
        url = postgres_url.replace(f":{postgres_url.rsplit(':', 1)[1].split('/')[0]}/", ":1/")
        said = "PostgreSQL is not running at this host and port"
    assert said in refused(url)


def test_no_repr_shows_the_password(ledger: PostgresLedger) -> None:
    for thing in (ledger, ledger._address, ledger._session, ledger._tables()):
        assert postgres.PASSWORD not in repr(thing) and postgres.PASSWORD not in str(thing)


def test_a_ledger_that_is_taken_away_is_one_clear_line(ledger: PostgresLedger, postgres_url: str) -> None:
    postgres.run(postgres_url, f"DROP SCHEMA {postgres_url.partition('ledger=')[2]} CASCADE")
    with pytest.raises(StorageError, match="is no longer there"):
        ledger.append(purchase(1))


# ---- waiting, and connections that are lost --------------------------------------------------------------------------


def test_waiting_for_another_process_has_an_end(ledger: PostgresLedger, postgres_url: str) -> None:
    with closing(PostgresLedger(postgres_url, patience=0.05)) as other:
        with ledger.transaction():
            ledger.head()
            with pytest.raises(StorageError, match="is in use"):
                other.append(purchase(1))
            assert other.head().entries == 1  # reading waits for nobody
        assert other.append(purchase(1)).sequence == 1


def test_a_lost_connection_is_one_error_and_the_next_use_makes_another(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    ledger.append(purchase(1))
    postgres_end(ledger, postgres_url)
    with pytest.raises(StorageError, match=r"has lost its connection to PostgreSQL; .* the same key$"):
        ledger.append(purchase(2))
    assert ledger.append(purchase(2)).sequence == 2
    postgres_end(ledger, postgres_url)
    with pytest.raises(StorageError, match="lost its connection"):
        ledger.head()
    assert ledger.head().entries == 3
    assert ledger.verify().holds


def test_a_transaction_whose_connection_is_lost_leaves_nothing_even_if_the_failure_is_ignored(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    with pytest.raises(StorageError, match="the whole transaction was undone"), ledger.transaction():
        ledger.append(purchase(1))
        assert ledger.head().entries == 2
        postgres_end(ledger, postgres_url)
        with pytest.raises(StorageError, match="lost its connection"):
            ledger.find("ann", "key 2")
        with pytest.raises(StorageError, match="the whole transaction was undone"):
            ledger.append(purchase(2))
    assert ledger.head().entries == 1
    assert ledger.append(purchase(2)).sequence == 1


def test_a_connection_lost_before_the_commit_records_nothing(ledger: PostgresLedger, postgres_url: str) -> None:
    with pytest.raises(StorageError, match="lost its connection"), ledger.transaction():
        ledger.append(purchase(1))
        ledger.append(purchase(2))
        postgres_end(ledger, postgres_url)
    assert ledger.head().entries == 1
    assert ledger.totals() == {}


def test_a_write_that_fails_undoes_the_transaction(ledger: PostgresLedger, postgres_url: str) -> None:
    postgres.run(postgres_url, "ALTER TABLE total ADD CONSTRAINT poor CHECK (spent < 3)")
    with pytest.raises(StorageError, match=r"\(PostgreSQL's error 23514\)") as caught, ledger.transaction():
        for number in range(1, 6):
            ledger.append(purchase(number))
    assert "hidden" not in str(caught.value)
    assert ledger.head().entries == 1
    assert ledger.append(purchase(9)).sequence == 1


def postgres_end(ledger: PostgresLedger, url: str) -> None:
    """End a ledger's connection from the server's side, and wait until it is gone."""
    postgres.run(url, "SELECT pg_terminate_backend(%s, 10000)", backend(ledger))


@pytest.mark.postgres
def test_a_server_that_is_stopped_crashes_and_starts_again_is_used_again() -> None:
    if "PACAS_POSTGRES" in os.environ:
        pytest.skip("a server that is given is not stopped")
    with postgres.running_cluster() as cluster, closing(PostgresLedger(cluster.url)) as ledger:
        accounts = open_accounts(cluster.url, Path())
        ledger.open(FINGERPRINT, SEED)
        kept = ledger.append(purchase(1))
        for how, sequence in ((signal.SIGINT, 2), (signal.SIGQUIT, 3)):
            with pytest.raises(StorageError, match="lost its connection"), ledger.transaction():
                ledger.append(purchase(7))
                assert ledger.head().entries == sequence + 1
                cluster.stop(how)
            for use in (ledger.head, ledger.verify, lambda: ledger.append(purchase(8))):
                with pytest.raises(StorageError, match="PostgreSQL is not running at this host and port"):
                    use()
            with pytest.raises(StorageError):
                accounts.list()
            cluster.start()
            assert ledger.append(purchase(sequence)).sequence == sequence
            assert accounts.list() == []
        assert ledger.find("ann", "key 1") == kept and ledger.find("ann", "key 7") is None
        assert ledger.verify().holds
        accounts.close()


@contextmanager
def hanging(ledger: PostgresLedger) -> Iterator[None]:
    """A server that has accepted a ledger's connection, and answers nothing on it."""
    if "PACAS_POSTGRES" in os.environ:
        pytest.skip("a server that is given is not stopped")
    process = backend(ledger)
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_waiting_for_a_server_that_does_not_answer_has_an_end(ledger: PostgresLedger) -> None:
    ledger.append(purchase(1))
    for use in (ledger.head, lambda: ledger.append(purchase(2))):
        connection(ledger).limit = 0.2
        with hanging(ledger), pytest.raises(StorageError, match="lost its connection"):
            use()
    assert ledger.append(purchase(2)).sequence == 2
    assert ledger.verify().holds


def test_closing_ends_the_wait_for_a_server_that_does_not_answer(
    ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacas.storage.postgres.session.GRACE", 0.2)
    failed: list[StorageError] = []
    asking = Event()

    def ask() -> None:
        with pytest.raises(StorageError) as caught, ledger.transaction():
            asking.set()
            ledger.head()
        failed.append(caught.value)

    with hanging(ledger):
        thread = Thread(target=ask)
        thread.start()
        assert asking.wait(30)
        ledger.close()
        thread.join()
    assert "lost its connection" in str(failed[0])
    with pytest.raises(StorageError, match="is closed"):
        ledger.head()


def test_the_server_gives_up_a_statement_that_takes_too_long(ledger: PostgresLedger) -> None:
    assert setting(ledger, "statement_timeout") == "20s" and setting(ledger, "lock_timeout") == "10s"
    connection(ledger).execute("SET statement_timeout = 100")
    with pytest.raises(StorageError, match="did not answer in time; nothing was recorded"), ledger._store() as store:
        store._rows("SELECT pg_sleep(30)")  # type: ignore[attr-defined]


# ---- closed, or another process's ------------------------------------------------------------------------------------


def test_a_closed_ledger_is_an_error(postgres_url: str) -> None:
    ledger = PostgresLedger(postgres_url)
    ledger.close()
    uses = (ledger.head, ledger.opening, ledger.verify, lambda: ledger.append(purchase(1)), lambda: [*ledger.entries()])
    for use in uses:
        with pytest.raises(StorageError, match="is closed"):
            use()


def test_a_ledger_that_was_opened_before_a_fork_is_an_error(
    ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other_process:
        other_process.setattr(os, "getpid", lambda: -1)
        for use in (ledger.head, lambda: ledger.append(purchase(1))):
            with pytest.raises(StorageError, match="open it again"):
                use()
        ledger._session.close()
    assert ledger._session._connection is not None and not ledger._session._connection.closed
    ledger._session._is_closed = False
    assert ledger.head().entries == 1
