"""A ledger that goes back under a running provider, or between two, is noticed before anything is sold from it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pacas.errors import LedgerWentBackError, StorageError
from pacas.protocol.messages import Quote, Request
from pacas.provider.ledger.chain import Head
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.state_file import StateFile
from pacas.storage.url import (
    open_accounts,
    open_checkpoints,
    open_ledger,
    open_offers,
    open_refusals,
    open_serving,
    read_ledger,
    state_file,
)

pytestmark = pytest.mark.attack

CEILING = 10**12
URL = "sqlite:///shop.db"


def shop(ledger: Ledger) -> Provider:
    table = {"ID": [str(row) for row in range(8)], "V": ["a", "b"] * 4}
    return Provider(table, match={"V": "ID = ID"}, total=8, seed=1, ledger=ledger)


def sell(provider: Provider, *rows: int) -> None:
    for row in rows:
        provider.sell(Request({"ID": str(row)}, "V", 0), CEILING, f"k{row}")


def check_sells_nothing(provider: Provider) -> None:
    """Neither a sale nor a refresh takes the ledger for what it was, and what was bought stays so."""
    for attempt in (lambda: sell(provider, 7), lambda: sell(provider, 0), provider.refresh):
        with pytest.raises(LedgerWentBackError, match="the ledger has gone back: "):
            attempt()
    assert provider.quote(Request({"ID": "0"}, "V", 0)) == Quote(0)


def forget(path: Path, last: int) -> None:
    """Cut a ledger as somebody without scruples would, so that what is left holds."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM entry WHERE sequence > ?", (last,))
        (hash_,) = connection.execute("SELECT hash FROM entry WHERE sequence = ?", (last,)).fetchone()
        connection.execute("UPDATE head SET entries = ?, hash = ?", (last + 1, hash_))
        connection.execute("UPDATE total SET purchases = ?, spent = (SELECT sum(price) FROM entry)", (last,))


def copy_of(path: Path, into: Path) -> Path:
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(into)) as other:
        one.backup(other)
    return into


def rolled_back(path: Path) -> None:
    forget(path, 2)


def regrown(path: Path) -> None:
    """As many entries as were known, others among them: a count would not tell."""
    forget(path, 2)
    with closing(SqliteLedger(path)) as ledger:
        sell(shop(ledger), 5, 6, 7)


def deleted(path: Path) -> None:
    path.unlink()


def without_its_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


def swapped(path: Path) -> None:
    os.replace(copy_of(path, path.with_name("copy.db")), path)


def made_anew(path: Path) -> None:
    for more in ("", "-wal", "-shm"):
        path.with_name(path.name + more).unlink()
    with closing(SqliteLedger(path)) as ledger:
        sell(shop(ledger), 4)


@pytest.mark.parametrize("attack", [rolled_back, regrown, deleted, without_its_log, swapped, made_anew])
def test_nothing_is_sold_from_a_file_that_is_not_what_it_was(tmp_path: Path, attack: Callable[[Path], None]) -> None:
    path = tmp_path / "shop.db"
    with closing(SqliteLedger(path)) as ledger:
        provider = shop(ledger)
        sell(provider, 0, 1, 2, 3)
        attack(path)
        check_sells_nothing(provider)


def test_a_sale_into_a_file_that_is_taken_away_meanwhile_is_not_answered(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(SqliteLedger(path)) as ledger:
        provider = shop(ledger)

        def credit() -> int | None:
            path.unlink()
            return None

        with pytest.raises(LedgerWentBackError, match=r"shop\.db was removed or replaced"):
            provider.sell(Request({"ID": "0"}, "V", 0), CEILING, "k", credit=credit)


@pytest.mark.postgres
def test_nothing_is_sold_from_a_schema_that_is_not_what_it_was(postgres_url: str, tmp_path: Path) -> None:
    with closing(open_ledger(postgres_url, tmp_path)) as ledger:
        provider = shop(ledger)
        sell(provider, 0, 1, 2, 3)
        name = ledger._address.ledger  # type: ignore[attr-defined]
        with pytest.importorskip("psycopg").connect(postgres_url.partition("?")[0], autocommit=True) as connection:
            connection.execute(f'SET search_path = "{name}"'.encode())
            connection.execute("DELETE FROM entry WHERE sequence > 2")
            connection.execute("UPDATE head SET entries = 3, hash = (SELECT hash FROM entry WHERE sequence = 2)")
            connection.execute("UPDATE total SET purchases = 2, spent = (SELECT sum(price) FROM entry)")
        check_sells_nothing(provider)
        with closing(open_ledger(postgres_url, tmp_path)) as other:
            sell(shop(other), 5, 6)
        check_sells_nothing(provider)


def test_a_ledger_that_is_put_right_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(SqliteLedger(path)) as ledger:
        provider = shop(ledger)
        sell(provider, 0)
        away = path.rename(tmp_path / "away.db")
        check_sells_nothing(provider)
        away.rename(path)
        sell(provider, 1)
        assert ledger.verify().holds


# ---- the state file --------------------------------------------------------------------------------------------------


@pytest.fixture
def noted(tmp_path: Path) -> Iterator[StateFile]:
    """The state file of a ledger with three sales."""
    with closing(open_ledger(URL, tmp_path)) as ledger:
        provider = shop(ledger)
        sell(provider, 0, 1, 2)
        state = state_file(URL, tmp_path)
        assert state is not None
        state.write(provider.till.known)
    yield state


def test_a_ledger_that_is_missing_is_not_made_where_one_was(tmp_path: Path, noted: StateFile) -> None:
    (tmp_path / "shop.db").unlink()
    for opened in (open_ledger, read_ledger, open_accounts, open_offers, open_refusals, open_serving, open_checkpoints):
        with pytest.raises(LedgerWentBackError, match=r"shop\.db is missing, and shop\.db\.state beside it says"):
            opened(URL, tmp_path)
    assert not (tmp_path / "shop.db").exists()
    noted.path.write_text(f"0:{'0' * 64}\n")  # as one may write who wants a new one
    open_ledger(URL, tmp_path).close()


def test_a_ledger_that_went_back_between_two_starts_is_not_opened(tmp_path: Path, noted: StateFile) -> None:
    forget(tmp_path / "shop.db", 1)
    with pytest.raises(LedgerWentBackError, match="it counts 2 entries, and 4 were known"):
        open_ledger(URL, tmp_path)
    with closing(SqliteLedger(tmp_path / "shop.db")) as ledger:
        sell(shop(ledger), 4, 5, 6)
    with pytest.raises(LedgerWentBackError, match="entry 3 is not the one that was known"):
        open_ledger(URL, tmp_path)


def test_a_ledger_that_has_grown_since_is_opened_and_so_is_one_without_a_state_file(
    tmp_path: Path, noted: StateFile
) -> None:
    for row in (3, 4):
        with closing(open_ledger(URL, tmp_path)) as ledger:
            sell(shop(ledger), row)
        noted.path.unlink(missing_ok=True)


def test_a_state_file_that_says_nothing_is_not_taken_for_none(tmp_path: Path, noted: StateFile) -> None:
    noted.path.write_text("")
    with pytest.raises(StorageError, match=r"the state file shop\.db\.state does not say which head"):
        open_ledger(URL, tmp_path)


def test_a_head_is_noted_now_and_then_and_whole(tmp_path: Path) -> None:
    state = StateFile(tmp_path / "s")
    for entries in (2, 3):
        state.note(Head(entries, "a" * 64))
    assert state.head() == Head(2, "a" * 64)
    state.write(Head(9, "b" * 64))
    assert state.head() == Head(9, "b" * 64)
    StateFile(tmp_path / "no" / "s").note(Head(2, "a" * 64))  # a sale goes on


@pytest.mark.postgres
def test_a_schema_is_not_made_where_one_was(postgres_url: str, tmp_path: Path) -> None:
    state = state_file(postgres_url, tmp_path)
    assert state is not None and read_ledger(postgres_url, tmp_path) is None
    state.write(Head(4, "a" * 64))
    for opened in (open_ledger, read_ledger, open_accounts, open_offers, open_refusals, open_serving, open_checkpoints):
        with pytest.raises(StorageError, match="is no longer there; restore a copy"):
            opened(postgres_url, tmp_path)
    state.path.unlink()
    open_ledger(postgres_url, tmp_path).close()


# ---- ledgers that can only be read -----------------------------------------------------------------------------------


@pytest.mark.parametrize("can_write", [False, True], ids=["nothing can be written", "beside it"])
def test_a_ledger_is_read_where_it_cannot_be_written(
    tmp_path: Path, noted: StateFile, monkeypatch: pytest.MonkeyPatch, can_write: bool
) -> None:
    """Root may write everywhere, so what the system says of the folder is put in its mouth."""
    folder = tmp_path / "archive"
    folder.mkdir()
    shutil.copy(tmp_path / "shop.db", folder)
    (folder / "shop.db").chmod(0o400)
    monkeypatch.setattr(os, "access", lambda *_: can_write)
    found = read_ledger(URL, folder)
    assert found is not None
    with closing(found) as ledger:
        provider = shop(ledger)
        assert ledger.verify().head == noted.head()
        assert provider.quote(Request({"ID": "2"}, "V", 0)) == Quote(0)
        with pytest.raises(StorageError, match="cannot be written"):
            sell(provider, 6)
        assert can_write or os.listdir(folder) == ["shop.db"]
    assert os.listdir(folder) == ["shop.db"]


def test_what_can_only_be_read_and_has_sold_nothing_is_opened_anew_in_memory(tmp_path: Path) -> None:
    with closing(open_ledger(URL, tmp_path)) as ledger:
        Provider({"ID": ["1"], "V": ["a"]}, match={"V": "ID = ID"}, total=1, seed=2, ledger=ledger)
        head = ledger.head()
    found = read_ledger(URL, tmp_path)
    assert found is not None
    with closing(found) as ledger:
        assert shop(ledger).began_anew
        assert ledger.head() == head
