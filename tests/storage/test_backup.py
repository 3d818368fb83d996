"""Drills: a ledger is copied while it is sold from, lost, and put back; what that forgets is said."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import postgres
import pytest
from example_shop import example_provider
from postgres import POSTGRES

from pacas.errors import LedgerBrokenError, LedgerWentBackError, StorageError
from pacas.protocol.messages import Request
from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.provider.provider import Provider
from pacas.storage.backup import Forgotten, backup, forgotten, restore
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.url import open_accounts, open_ledger, state_file

pytestmark = pytest.mark.attack

FREE = Request({"GEN": "male", "AGE": "51"}, "MED", 3)
DEAR = Request({"GEN": "male", "AGE": "51"}, "MED", 1)


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return "sqlite:///shop.db"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def provider(url: str, tmp_path: Path) -> Iterator[Provider]:
    with example_provider(open_ledger(url, tmp_path)) as opened:
        yield opened


def sell(provider: Provider, *keys: str, buyer: str = "ann") -> None:
    for key in keys:
        provider.sell(DEAR if key == "dear" else FREE, 10**10, key, buyer=buyer)


def test_a_copy_holds_what_was_sold_by_then_with_its_accounts_and_is_for_its_owner_alone(
    provider: Provider, url: str, tmp_path: Path
) -> None:
    with closing(open_accounts(url, tmp_path)) as accounts:
        accounts.add(Account("ann", Role.CLIENT, 5, False, token_hash("t")))
    sell(provider, "dear", "b")
    copy = tmp_path / "copy.db"
    assert backup(url, tmp_path, copy) == provider.ledger.head()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.glob("copy.db*")] == ["copy.db"]
    with closing(SqliteLedger(copy, read_only=True)) as kept:
        assert kept.totals() == provider.ledger.totals()
    with closing(open_accounts("sqlite:///copy.db", tmp_path)) as accounts:
        assert [(one.name, one.credit) for one in accounts.list()] == [("ann", 5)]
    with pytest.raises(StorageError, match=r"copy\.db is there already, and nothing is written over"):
        backup(url, tmp_path, copy)


def test_copies_that_are_made_while_others_sell_hold_each(provider: Provider, url: str, tmp_path: Path) -> None:
    selling = Thread(target=sell, args=(provider, *map(str, range(60))))
    selling.start()
    heads = [backup(url, tmp_path, tmp_path / f"copy-{number}.db").entries for number in range(5)]
    selling.join()
    assert heads == sorted(heads) and provider.ledger.head().entries == 61


def test_the_drill_of_a_ledger_that_is_lost(url: str, tmp_path: Path) -> None:
    """It was copied after its last sale: nothing is forgotten, and selling goes on."""
    copy, state = tmp_path / "copy.db", state_file(url, tmp_path)
    assert state is not None
    with example_provider(open_ledger(url, tmp_path)) as provider:
        sell(provider, "dear", "b")
        state.write(backup(url, tmp_path, copy))
    lose(url, tmp_path)
    assert forgotten(url, tmp_path, copy) is None
    restore(url, tmp_path, copy)
    with example_provider(open_ledger(url, tmp_path)) as provider:
        sell(provider, "c")
        assert provider.ledger.head().entries == 4 and provider.ledger.verify().holds


def test_the_drill_of_going_back_on_purpose(url: str, tmp_path: Path) -> None:
    """Sales after the copy are counted before they are forgotten, and who had it open sells no more."""
    copy = tmp_path / "copy.db"
    with example_provider(open_ledger(url, tmp_path)) as before:
        sell(before, "a")
        backup(url, tmp_path, copy)
        sell(before, "dear", "c")
        sell(before, "d", buyer="bob")
        found = forgotten(url, tmp_path, copy)
        assert found == Forgotten(3, 3, 2, 700_000_000)
        assert found.words() == "3 entries: 3 purchases of 2 buyers"
        away = restore(url, tmp_path, copy)
        with pytest.raises(LedgerWentBackError):
            sell(before, "e")
        with example_provider(open_ledger(url, tmp_path)) as after:
            sell(after, "f", "g", "h", "i")  # it has grown beyond what was known before
            with pytest.raises(LedgerWentBackError):
                sell(before, "e")
    if away is not None:  # what was there is kept
        with closing(SqliteLedger(away, read_only=True)) as kept:
            assert kept.head().entries == 5 and kept.verify().holds


def test_by_its_state_file_alone_it_is_known_how_much_is_forgotten(url: str, tmp_path: Path) -> None:
    copy, state = tmp_path / "copy.db", state_file(url, tmp_path)
    assert state is not None
    with example_provider(open_ledger(url, tmp_path)) as provider:
        sell(provider, "a")
        backup(url, tmp_path, copy)
        sell(provider, "b", "c")
        state.write(provider.ledger.head())
    lose(url, tmp_path)
    found = forgotten(url, tmp_path, copy)
    assert found == Forgotten(2, is_known=False)
    assert found.words() == "2 entries that are known to have been there, and cannot be read"


@pytest.mark.parametrize("url", [POSTGRES], indirect=True)
def test_accounts_of_an_earlier_release_are_copied_and_put_back(provider: Provider, url: str, tmp_path: Path) -> None:
    with closing(open_accounts(url, tmp_path)) as accounts:
        accounts.add(Account("ann", Role.CLIENT, 5, False, token_hash("t")))
    later = ("expires", "previous_hash", "previous_expires")

    def as_it_was() -> None:
        postgres.run(url, f"ALTER TABLE account {', '.join(f'DROP COLUMN {column}' for column in later)}")

    as_it_was()
    backup(url, tmp_path, old := tmp_path / "old.db")
    restore(url, tmp_path, old)
    backup(url, tmp_path, new := tmp_path / "new.db")
    as_it_was()
    restore(url, tmp_path, new)
    with closing(open_accounts(url, tmp_path)) as accounts:
        assert [(one.name, one.credit) for one in accounts.list()] == [("ann", 5)]


def lose(url: str, folder: Path) -> None:
    if url.startswith("sqlite"):
        for file in folder.glob("shop.db*"):
            if not file.name.endswith(".state"):
                file.unlink()
    else:
        for table in ("entry", "head", "total"):
            postgres.run(url, f"DELETE FROM {table}")


def test_a_copy_of_another_history_or_a_damaged_one_is_not_put_back(tmp_path: Path) -> None:
    for name in ("shop.db", "other.db"):
        with example_provider(open_ledger(f"sqlite:///{name}", tmp_path)) as provider:
            sell(provider, name, "b")
    backup("sqlite:///other.db", tmp_path, tmp_path / "copy.db")
    with pytest.raises(LedgerWentBackError, match="the copy is of another history"):
        forgotten("sqlite:///shop.db", tmp_path, tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection, connection:
        connection.execute("UPDATE entry SET price = 1 WHERE sequence = 1")
    with pytest.raises(LedgerBrokenError):
        restore("sqlite:///shop.db", tmp_path, tmp_path / "copy.db")
    with pytest.raises(StorageError, match="give a file that pacas backup has made"):
        forgotten("sqlite:///shop.db", tmp_path, tmp_path / "nothing.db")
