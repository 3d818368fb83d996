"""`ledger.url`, as it stands in a provider's file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pacas.errors import ConfigError
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.storage.side_tables import AccountTable
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.url import ledger_path, open_accounts, open_ledger, sqlite_path

NO_NAME = "takes one name of at most 63 small letters"


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
        ("mysql://ann:hunter2@host/db", "sqlite, postgresql and memory are known"),
        ("postgresq://ann:hunter2@host/db", "did you mean 'postgresql'"),
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
    for opening in (open_ledger, open_accounts):
        with pytest.raises(ConfigError, match=r"^ledger\.url: ") as caught:
            opening(url, tmp_path)
        assert message in str(caught.value)
        assert "hunter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("?ledger=", NO_NAME),
        ("?ledger=Shop", NO_NAME),
        ("?ledger=a;drop", NO_NAME),
        ("?ledger=a%22b", NO_NAME),
        ("?ledger=pg_shop", NO_NAME),
        ("?ledger=public", NO_NAME),
        (f"?ledger={'x' * 64}", NO_NAME),
        ("?ledger=a&ledger=b", NO_NAME),
        ("?colour=hunter2", "PostgreSQL can't read this URL; it is written postgresql://"),
        ("%zz", "PostgreSQL can't read this URL"),
    ],
)
def test_a_postgresql_url_that_is_none_is_an_error_before_anything_is_asked(options: str, message: str) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    for opening in (open_ledger, open_accounts):
        with pytest.raises(ConfigError, match=r"^ledger\.url: ") as caught:
            opening(f"postgresql://ann:hunter2@nowhere.invalid/db{options}", Path())
        assert message in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "password", ["sec@ret", "sec/ret", "sec@r/et", "s/ec@ret", "@secret", "secret@", "/secret", "sec?ret", "sec?r@et"]
)
def test_no_part_of_a_password_that_is_not_encoded_is_shown(password: str) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    for opening in (open_ledger, open_accounts):
        with pytest.raises(ConfigError, match=r"^ledger\.url: ") as caught:
            opening(f"postgresql://ann:{password}@127.0.0.1:1/db", Path())
        assert not any(part in str(caught.value) for part in ("sec", "ret", "127.0.0.1", "ann"))
        if "?" not in password:
            assert "percent-encode @ and / in the password" in str(caught.value)


def test_a_password_that_is_encoded_is_taken() -> None:
    place = pytest.importorskip("pacas.storage.postgres.address", exc_type=ImportError).PostgresAddress
    taken = place.parse("postgresql://ann:s%40c%2Fr%3Ft@host/db")
    assert taken.parameters["password"] == "s@c/r?t" and str(taken) == "pacas in the database db at host"


def test_options_reach_libpq_as_they_were_written() -> None:
    place = pytest.importorskip("pacas.storage.postgres.address", exc_type=ImportError).PostgresAddress
    taken = place.parse("postgresql://host/db?ledger=hosp&options=-c%20work_mem%3D8MB&application_name=a+b%2B")
    assert taken.ledger == "hosp"
    assert taken.parameters["options"] == "-c work_mem=8MB"
    assert taken.parameters["application_name"] == "a+b+"


@pytest.mark.parametrize("url", ["postgresql://ann:hunter2@host/db", "postgres://ann:hunter2@host/db"])
def test_without_psycopg_it_is_said_what_to_install(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("pacas.storage.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for opening in (open_ledger, open_accounts):
        with pytest.raises(ConfigError, match=r"needs psycopg; pip install 'pacas\[postgres\]'$"):
            opening(url, Path())


def test_accounts_are_kept_where_the_ledger_is(tmp_path: Path) -> None:
    assert isinstance(open_accounts("memory:", tmp_path), MemoryAccounts)
    kept = open_accounts("sqlite:///l.db", tmp_path)
    assert isinstance(kept, AccountTable)
    kept.close()
    assert [file.name for file in tmp_path.iterdir()] == ["l.db"]


def test_where_a_ledger_is_kept() -> None:
    assert ledger_path("sqlite:///x.db", Path("shop")) == Path("shop/x.db")
    assert ledger_path("SQLite:////x.db", Path("shop")) == Path("/x.db")
    assert ledger_path("memory:", Path("shop")) is None
    assert ledger_path("postgresql://host/db", Path("shop")) is None
