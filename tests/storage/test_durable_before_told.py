"""PostgreSQL lets writers go on before a commit is on disk: nothing is told that a crash would still take back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import postgres
import pytest

from pacas.errors import StorageError
from pacas.protocol.messages import Request
from pacas.provider.ledger.accounts import Account, Role
from pacas.provider.ledger.entry import Entry, Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider

pytest.importorskip("psycopg", reason="psycopg is not installed; pip install 'pacas[postgres]'")
pytestmark = pytest.mark.postgres

if TYPE_CHECKING:
    from pacas.storage.postgres.ledger import PostgresLedger
else:
    PostgresLedger = __import__("pacas.storage.postgres.ledger", fromlist=["PostgresLedger"]).PostgresLedger

KEY, ROWS, CEILING = "key", 40, 10**12
NO_SYNC = "SELECT 1"


@pytest.fixture(scope="module")
def cluster() -> Iterator[postgres.Cluster]:
    """A server that writes its log when it is asked to, and seldom before."""
    if "PACAS_POSTGRES" in os.environ:
        pytest.skip("a server that is given is not stopped")
    with postgres.running_cluster(wal_writer_delay="10s", autovacuum="off") as made:
        yield made


def crash(cluster: postgres.Cluster) -> None:
    cluster.stop(signal.SIGQUIT)
    cluster.start()


@contextmanager
def killed_before_it_syncs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is sold here is committed and not durable, as by a process that ends between the two."""
    with monkeypatch.context() as patch:
        patch.setattr("pacas.storage.postgres.tables.SYNC", NO_SYNC)
        yield


def request(row: int) -> Request:
    return Request({"ID": str(row)}, "V", 0)


def shop(ledger: Ledger) -> Provider:
    table = {"ID": [str(row) for row in range(ROWS)], "V": ["a", "b"] * (ROWS // 2)}
    return Provider(table, match={"V": "ID = ID"}, total=ROWS, seed=1, ledger=ledger)


READS: dict[str, Callable[[PostgresLedger], Any]] = {
    "head": lambda ledger: ledger.head().entries,
    "a purchase": lambda ledger: ledger.find("ann", KEY) is not None,
    "a page": lambda ledger: len(ledger.bought_by("ann")),
    "entries": lambda ledger: len(list(ledger.entries(1))),
    "a total": lambda ledger: ledger.total("ann").purchases,
    "totals": lambda ledger: len(ledger.totals()),
    "in a transaction": lambda ledger: _in_a_transaction(ledger),
}


def _in_a_transaction(ledger: PostgresLedger) -> bool:
    with ledger.transaction():
        return ledger.find("ann", KEY) is not None


@pytest.mark.parametrize("read", READS)
def test_what_was_read_outlasts_a_crash(cluster: postgres.Cluster, monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    url = f"{cluster.url}?ledger=read_{list(READS).index(read)}"
    with closing(PostgresLedger(url)) as seller, closing(PostgresLedger(url)) as reader:
        seller.open({"relation": "ab"}, b"seed" * 8)
        with killed_before_it_syncs(monkeypatch):
            seller.append(Purchase("ann", KEY, request(1), 1, "a", (1,)))
        told = READS[read](reader)
        assert told
        crash(cluster)
        with closing(PostgresLedger(url)) as after:
            assert READS[read](after) == told


def test_what_was_written_outlasts_a_crash(cluster: postgres.Cluster) -> None:
    url, ann = f"{cluster.url}?ledger=written", Account("ann", Role.CLIENT, 5, False, "ab" * 32)

    def crashed_after(write: Callable[[PostgresLedger], Any]) -> Any:
        with closing(PostgresLedger(url)) as ledger:
            ledger.head()  # from here on, what is there already needs no waiting for
            written = write(ledger)
            crash(cluster)
        return written

    crashed_after(lambda ledger: ledger.open({"relation": "ab"}, b"seed" * 8))
    crashed_after(lambda ledger: ledger.begin_anew({"relation": "cd"}, b"seed" * 8))
    crashed_after(lambda ledger: ledger.change_account("ann", lambda before: ann))
    sold = crashed_after(lambda ledger: ledger.append(Purchase("ann", KEY, request(1), 1, "a", (1,))))
    with closing(PostgresLedger(url)) as ledger:
        ledger.open({"relation": "cd"}, b"seed" * 8)
        assert ledger.accounts() == [ann] and ledger.find("ann", KEY) == sold


def test_a_sale_that_a_crash_took_back_is_not_taken_for_a_ledger_that_went_back(
    cluster: postgres.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{cluster.url}?ledger=taken_back"
    with closing(PostgresLedger(url)) as first, closing(PostgresLedger(url)) as second:
        one, other = shop(first), shop(second)
        assert isinstance(one.sell(request(0), CEILING, "kept"), Entry)
        other.refresh()
        with killed_before_it_syncs(monkeypatch):
            one.sell(request(1), CEILING, "lost")
        append = second.append

        def append_after_a_crash(*given: Any, **options: Any) -> Entry:
            crash(cluster)
            return append(*given, **options)

        with monkeypatch.context() as patch, pytest.raises(StorageError):
            patch.setattr(second, "append", append_after_a_crash)
            other.sell(request(2), CEILING, "failed")
        assert second.head().entries == 2, "what was not synced is gone"
        other.refresh()
        sold = other.sell(request(3), CEILING, "next")
        assert isinstance(sold, Entry) and sold.sequence == 2
        assert other.quote(request(1)) == shop(second).quote(request(1)), "what was taken back is for sale"
        assert second.verify().holds
