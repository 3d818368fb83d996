"""Ledgers in SQLite files: what is on the disk, and what happens when the disk is not as it should be."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pacas.errors import LedgerBrokenError, StorageError
from pacas.protocol.messages import Request
from pacas.provider.ledger.chain import EMPTY
from pacas.provider.ledger.entry import Entry, Purchase
from pacas.storage.database import PATIENCE
from pacas.storage.sqlite.ledger import SqliteLedger

FINGERPRINT = {"relation": "ab"}
SEED = b"seed" * 8


def purchase(number: int) -> Purchase:
    return Purchase("ann", f"key {number}", Request({"GEN": "secret"}, "MED", 0), 1, "hidden" * 20, (number,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "provider.ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[SqliteLedger]:
    with closing(SqliteLedger(path)) as made:
        made.open(FINGERPRINT, SEED)
        yield made


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 300 purchases, closed."""
    path = tmp_path_factory.mktemp("written") / "provider.ledger.db"
    with closing(SqliteLedger(path)) as made, made.transaction():
        made.open(FINGERPRINT, SEED)
        for number in range(300):
            made.append(purchase(number))
    return path


@pytest.mark.parametrize(
    ("damage", "entry"),
    [
        ("UPDATE entry SET previous = hash WHERE sequence = 4", 4),
        ("UPDATE entry SET hash = previous WHERE sequence = 4", 5),
        ("UPDATE entry SET sequence = 99 WHERE sequence = 3", 3),
        ("DELETE FROM entry WHERE sequence = 2", 2),
        ("UPDATE entry SET previous = hash WHERE sequence = 0", 0),
    ],
)
def test_hashes_that_do_not_follow_each_other_are_told_of(
    ledger: SqliteLedger, path: Path, damage: str, entry: int
) -> None:
    for number in range(5):
        ledger.append(purchase(number))
    assert [one for some in ledger.hashes_after(EMPTY) for one in some] == [one.hash for one in ledger.entries()]
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(damage)
    with pytest.raises(LedgerBrokenError, match=f"entry {entry} does not follow the one before it"):
        list(ledger.hashes_after(EMPTY))


# ---- what is on the disk ---------------------------------------------------------------------------------------------


def test_only_the_owner_may_read_what_is_written(ledger: SqliteLedger, path: Path) -> None:
    ledger.append(purchase(1))
    files = sorted(file.name for file in path.parent.iterdir())
    assert files == [path.name, f"{path.name}-shm", f"{path.name}-wal"]
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name


def test_nothing_else_is_left_in_the_folder(path: Path) -> None:
    SqliteLedger(path).close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def pragma(ledger: SqliteLedger, statement: str) -> Any:
    """A setting of the ledger's own connection."""
    return ledger._connection.execute(f"PRAGMA {statement}").fetchone()[0]


def test_every_commit_is_synced_to_the_disk(ledger: SqliteLedger) -> None:
    settings = {name: pragma(ledger, name) for name in ("journal_mode", "synchronous")}
    assert settings == {"journal_mode": "wal", "synchronous": 2}


def test_an_appended_purchase_is_there_for_others_before_append_returns(ledger: SqliteLedger, path: Path) -> None:
    entry = ledger.append(purchase(1))
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT hash FROM entry WHERE sequence = 1").fetchone() == (entry.hash,)


def test_a_ledger_that_was_just_made_is_whole_for_whoever_opens_it(path: Path) -> None:
    first, second = SqliteLedger(path), SqliteLedger(path)
    first.open(FINGERPRINT, SEED)
    assert second.opening() == first.opening()
    first.close()
    second.close()


def test_verification_does_not_hold_off_writers(ledger: SqliteLedger, path: Path) -> None:
    sold: list[Entry] = []
    with closing(SqliteLedger(path)) as other:
        found = ledger.verify(visit=lambda entry: sold.append(other.append(purchase(1))))
    assert found.holds and found.head.entries == 1
    assert ledger.head().entries == 2 and len(sold) == 1


# ---- files that are no ledger, or no longer whole --------------------------------------------------------------------


def emptied(path: Path, written: Path) -> None:
    path.write_bytes(b"")


def text(path: Path, written: Path) -> None:
    path.write_text("GEN,AGE\nsecret,51\n" * 500)


def folder(path: Path, written: Path) -> None:
    path.mkdir()


def another_database(path: Path, written: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE entry (secret)")


def newer_layout(path: Path, written: Path) -> None:
    shutil.copy(written, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")


def cut_in_half(path: Path, written: Path) -> None:
    content = written.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def cut_by_a_page(path: Path, written: Path) -> None:
    path.write_bytes(written.read_bytes()[:-4096])


def cut_in_the_header(path: Path, written: Path) -> None:
    path.write_bytes(written.read_bytes()[:60])


def a_page_of_noise(path: Path, written: Path) -> None:
    content = bytearray(written.read_bytes())
    content[5 * 4096 : 6 * 4096] = bytes(n * 37 % 251 for n in range(4096))
    path.write_bytes(content)


def a_page_of_zeros(path: Path, written: Path) -> None:
    content = bytearray(written.read_bytes())
    content[-4096:] = bytes(4096)
    path.write_bytes(content)


def a_link_to_nowhere(path: Path, written: Path) -> None:
    path.symlink_to(path.parent / "nowhere" / "at.all")


BAD: dict[Callable[[Path, Path], None], str] = {
    emptied: "is cut short",
    text: "is not a SQLite database",
    folder: "is not a file",
    another_database: "is a SQLite database of something else",
    newer_layout: "has the layout 2, and this release reads layout 1",
    cut_in_half: "is damaged",
    cut_by_a_page: "is damaged",
    cut_in_the_header: "is cut short",
    a_page_of_noise: "is damaged",
    a_page_of_zeros: "is damaged",
    a_link_to_nowhere: "is not a file",
}


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
def test_a_bad_file_is_one_clear_error_and_is_left_as_it_is(
    path: Path, written: Path, make: Callable[[Path, Path], None]
) -> None:
    make(path, written)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StorageError) as caught:
        SqliteLedger(path)
    message = str(caught.value)
    assert message.startswith(f"the ledger {path.name} {BAD[make]}"), message
    assert "\n" not in message and "secret" not in message and "hidden" not in message
    assert caught.value.__cause__ is None
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_damaged_while_it_is_open_is_an_error(written: Path, path: Path) -> None:
    shutil.copy(written, path)
    with closing(SqliteLedger(path)) as ledger:
        os.truncate(path, 3 * 4096)
        with pytest.raises(StorageError, match=r"the ledger provider\.ledger\.db (is damaged|cannot be read)"):
            list(ledger.entries())
        with pytest.raises(StorageError):
            ledger.verify()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that nobody can write to")
def test_a_folder_that_cannot_be_written_is_an_error() -> None:
    with pytest.raises(StorageError, match=r"the ledger l\.db cannot be made in its folder"):
        SqliteLedger(Path("/proc/self/l.db"))


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"the ledger l\.db cannot be made in its folder"):
        SqliteLedger(tmp_path / "nowhere" / "l.db")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_ledger_in_a_read_only_folder_is_an_error(written: Path, path: Path) -> None:
    shutil.copy(written, path)
    path.parent.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="permissions"):
            SqliteLedger(path).append(purchase(999))
    finally:
        path.parent.chmod(0o700)


# ---- writing that fails ----------------------------------------------------------------------------------------------


def test_a_full_disk_is_an_error_and_nothing_is_recorded(ledger: SqliteLedger) -> None:
    ledger.append(purchase(1))
    pragma(ledger, f"max_page_count = {pragma(ledger, 'page_count')}")
    kept = 2
    with pytest.raises(StorageError, match="the disk is full; nothing was recorded"):
        for number in range(2, 100):
            ledger.append(purchase(number))
            kept += 1
    assert ledger.head().entries == kept
    assert ledger.verify().holds
    pragma(ledger, "max_page_count = 100000")
    assert ledger.append(purchase(999)).sequence == kept


def test_a_transaction_with_a_failed_write_is_undone_even_if_the_failure_is_ignored(ledger: SqliteLedger) -> None:
    pragma(ledger, f"max_page_count = {pragma(ledger, 'page_count')}")
    with pytest.raises(StorageError, match="the whole transaction was undone"), ledger.transaction():
        for number in range(1, 100):
            try:
                ledger.append(purchase(number))
            except StorageError:
                break
    assert ledger.head().entries == 1
    assert ledger.verify().holds


def test_a_writer_that_waits_lets_another_sell_for_a_while_and_then_looks_often_to_come_into_a_short_gap(
    ledger: SqliteLedger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as other:

        def let_in(seconds: float) -> None:
            looks.append(seconds)
            if len(looks) == 50:
                other.execute("COMMIT")

        monkeypatch.setattr("pacas.storage.sqlite.ledger.sleep", let_in)
        monkeypatch.setattr("pacas.storage.sqlite.ledger.monotonic", lambda: sum(looks))
        other.execute("BEGIN IMMEDIATE")
        ledger.append(purchase(1))
    assert looks == [0.0004] + [0.004] * 11 + [0.0002] * 38
    assert pragma(ledger, "busy_timeout") == PATIENCE * 1000, "readers wait as before"


def test_waiting_for_another_process_has_an_end(ledger: SqliteLedger, path: Path) -> None:
    with closing(SqliteLedger(path, patience=0.05)) as other, ledger.transaction():
        with pytest.raises(StorageError, match="is in use"):
            other.append(purchase(1))
        assert other.head().entries == 1  # reading waits for nobody
    assert ledger.append(purchase(1)).sequence == 1


def test_a_closed_ledger_is_an_error(path: Path) -> None:
    ledger = SqliteLedger(path)
    ledger.close()
    for use in (ledger.head, ledger.opening, lambda: ledger.append(purchase(1)), lambda: list(ledger.entries())):
        with pytest.raises(StorageError, match="is closed"):
            use()


def test_a_ledger_that_was_opened_before_a_fork_is_an_error(
    ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)
    for use in (ledger.head, lambda: ledger.append(purchase(1))):
        with pytest.raises(StorageError, match="open it again"):
            use()
