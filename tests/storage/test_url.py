"""`ledger.url`, as it stands in a provider's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacas.errors import ConfigError
from pacas.provider.ledger import MemoryLedger
from pacas.storage.sqlite import SqliteLedger
from pacas.storage.url import ledger_path, open_ledger, sqlite_path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///provider.ledger.db", "shop/provider.ledger.db"),
        ("sqlite:///sub/l.db", "shop/sub/l.db"),
        ("sqlite:///../l.db", "shop/../l.db"),
        ("SQLite:///a b%20#é.db", "shop/a b%20#é.db"),
        ("sqlite:////var/l.db", "/var/l.db"),
    ],
)
def test_a_path_is_absolute_or_starts_at_the_folder(url: str, path: str) -> None:
    assert sqlite_path(url, Path("shop")) == Path(path)


def test_a_file_is_made_in_the_folder(tmp_path: Path) -> None:
    name = "a b%20#é.db"
    ledger = open_ledger(f"sqlite:///{name}", tmp_path)
    assert isinstance(ledger, SqliteLedger)
    ledger.open({}, b"")
    ledger.close()
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("url", ["memory:", "memory://", "MEMORY:"])
def test_a_ledger_in_memory(url: str, tmp_path: Path) -> None:
    assert isinstance(open_ledger(url, tmp_path), MemoryLedger)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://ann:hunter2@host/db", "sqlite and memory are known"),
        ("sqlit:///x.db", "did you mean 'sqlite'"),
        ("provider.ledger.db", "such as sqlite:///provider.ledger.db"),
        ("", "such as sqlite:///provider.ledger.db"),
        ("sqlite://x.db", "is written sqlite:///file.db"),
        ("sqlite:x.db", "is written sqlite:///file.db"),
        ("sqlite:///", "is written sqlite:///file.db"),
        ("sqlite:////", "is written sqlite:///file.db"),
        ("sqlite:///:memory:", "is written memory:"),
        ("sqlite:///x.db?mode=ro", "no options"),
        ("memory:shop", "has no name"),
    ],
)
def test_another_url_is_an_error_that_says_what_to_write(url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^ledger\.url: ") as caught:
        open_ledger(url, tmp_path)
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_where_a_ledger_is_kept() -> None:
    assert ledger_path("sqlite:///x.db", Path("shop")) == Path("shop/x.db")
    assert ledger_path("SQLite:////x.db", Path("shop")) == Path("/x.db")
    assert ledger_path("memory:", Path("shop")) is None
