"""From a file to a provider: which ledger it gets, and what is left on the disk if it cannot start."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, LedgerChangedError
from pacas.formats.provider.provider_file import read_provider_file
from pacas.opening.described_provider import open_described
from pacas.protocol.messages import Quote, Request
from pacas.provider.ledger.checkpoint import LEAST
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.server.signing_key import SigningKey

REQUEST = Request({"GEN": "male", "AGE": "51"}, "MED", 1)


def ledgers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if ".ledger.db" in path.name)


def opened(folder: Path, tell: Callable[[str], None] = lambda what: None) -> Provider:
    return open_described(read_provider_file(folder / "provider.toml"), DuckEngine(threads=1), tell)


def test_a_ledger_in_memory_makes_no_file(folder: Path) -> None:
    with (folder / "provider.toml").open("a") as file:
        file.write('\n[ledger]\nurl = "memory:"\n')
    provider = opened(folder)
    assert isinstance(provider.ledger, MemoryLedger)
    assert provider.quote(REQUEST) == Quote(700_000_000)
    assert ledgers(folder) == []


def test_it_says_what_it_is_at(folder: Path) -> None:
    told: list[str] = []
    opened(folder, told.append).ledger.close()
    assert told[:2] == ["reading the hierarchies", "reading the relation"]


def test_a_mistake_in_the_data_leaves_no_ledger_where_there_was_none(folder: Path) -> None:
    with (folder / "sp.csv").open("a") as table:
        table.write("m7,male,33,P0T2T0,ulcer,aspirin\n")
    with pytest.raises(InputError, match="'MED' has 1 unknown"):
        opened(folder)
    assert ledgers(folder) == []


def test_an_interrupted_start_keeps_a_ledger_that_another_process_may_be_using(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("pacas.provider.opened_shop.take_stock", interrupt)
    with pytest.raises(KeyboardInterrupt):
        opened(folder)
    assert ledgers(folder) == ["provider.ledger.db"]


def test_a_ledger_with_an_opening_is_never_removed(folder: Path) -> None:
    provider = opened(folder)
    provider.pay(REQUEST, 10**9, "a")
    provider.ledger.close()
    text = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(text.replace("k = 3", "k = 2"))
    with pytest.raises(LedgerChangedError):
        opened(folder)
    (folder / "provider.toml").write_text(text.replace("k = 3", "k = 30"))
    with pytest.raises(InputError, match="can never hold"):
        opened(folder)
    (folder / "provider.toml").write_text(text)
    provider = opened(folder)
    assert provider.ledger.head().entries == 2
    provider.ledger.close()


def test_a_start_over_many_entries_begins_at_a_checkpoint_and_an_audit_does_not(
    folder: Path, pacas: Callable[..., Any]
) -> None:
    """An entry before the checkpoint is altered: nobody need read it to sell, and an audit finds it."""
    provider = opened(folder)
    SigningKey.load_or_create(folder / "provider.key.pem")
    with provider.ledger.transaction():
        for number in range(LEAST):
            provider.pay(REQUEST, 10**9, f"k{number}")
    provider.close()
    assert pacas("audit", "provider.toml").code == 0
    with closing(sqlite3.connect(folder / "provider.ledger.db")) as database, database:
        assert database.execute("SELECT count(*) FROM checkpoint").fetchone() == (1,)
        database.execute("UPDATE entry SET price = 1 WHERE sequence = 5")
    with opened(folder) as again:
        assert again.quote(REQUEST) == Quote(0) and again.till.known.entries == LEAST + 1
    found = pacas("audit", "provider.toml")
    assert found.code != 0 and "entry 5 is altered or moved" in found.out + found.err
