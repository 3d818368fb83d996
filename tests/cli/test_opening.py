"""From a file to a provider: which ledger it gets, and what is left on the disk if it cannot start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pacas.cli.opening import open_provider
from pacas.errors import InputError, LedgerChangedError
from pacas.protocol.messages import Quote, Request
from pacas.provider.ledger import MemoryLedger

REQUEST = Request({"GEN": "male", "AGE": "51"}, "MED", 1)


def ledgers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if ".ledger.db" in path.name)


def test_a_ledger_that_is_given_is_used_and_none_is_made(folder: Path) -> None:
    ledger = MemoryLedger()
    provider = open_provider(folder / "provider.toml", ledger=ledger)
    assert provider.ledger is ledger
    assert provider.quote(REQUEST) == Quote(700_000_000)
    assert ledgers(folder) == []


def test_it_says_what_it_is_at(folder: Path) -> None:
    told: list[str] = []
    open_provider(folder / "provider.toml", tell=told.append, ledger=MemoryLedger())
    assert told[:3] == ["reading provider.toml", "reading the hierarchies", "reading the relation"]


def test_a_mistake_in_the_data_leaves_no_ledger_where_there_was_none(folder: Path) -> None:
    with (folder / "sp.csv").open("a") as table:
        table.write("m7,male,33,P0T2T0,ulcer,aspirin\n")
    with pytest.raises(InputError, match="'MED' has 1 unknown"):
        open_provider(folder / "provider.toml")
    assert ledgers(folder) == []


def test_an_interrupted_start_keeps_a_ledger_that_another_process_may_be_using(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("pacas.provider.provider.take_stock", interrupt)
    with pytest.raises(KeyboardInterrupt):
        open_provider(folder / "provider.toml")
    assert ledgers(folder) == ["provider.ledger.db"]


def test_a_ledger_with_an_opening_is_never_removed(folder: Path) -> None:
    open_provider(folder / "provider.toml").ledger.close()
    text = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(text.replace("k = 3", "k = 2"))
    with pytest.raises(LedgerChangedError):
        open_provider(folder / "provider.toml")
    (folder / "provider.toml").write_text(text.replace("k = 3", "k = 30"))
    with pytest.raises(InputError, match="can never hold"):
        open_provider(folder / "provider.toml")
    (folder / "provider.toml").write_text(text)
    provider = open_provider(folder / "provider.toml")
    assert provider.ledger.head().entries == 1
    provider.ledger.close()
