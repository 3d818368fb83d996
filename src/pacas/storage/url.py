"""`ledger.url`: where a ledger and its accounts are kept."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from pacas.errors import ConfigError, did_you_mean
from pacas.provider.ledger.accounts import Accounts, MemoryAccounts
from pacas.provider.ledger.ledger import Ledger, MemoryLedger
from pacas.provider.ledger.refusals import Refusals
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.sqlite.side_tables import SqliteAccounts, SqliteRefusals

SCHEMES = ("sqlite", "postgresql", "memory")
_SAME = {"postgres": "postgresql"}
_SQLITE = "sqlite:///"


def open_ledger(url: str, folder: Path) -> Ledger:
    """The ledger that a URL names; a relative path starts at `folder`.

    `sqlite:///file.db` is a file, and is made if it is not there; `sqlite:////var/lib/file.db` is an absolute path;
    `postgresql://user:password@host/database?ledger=NAME` is a schema of a database, and is made, too; `memory:` keeps
    nothing.
    """
    match ledger_kind(url):
        case "memory":
            return MemoryLedger()
        case "postgresql":
            ledger: Ledger = _with_psycopg("pacas.storage.postgres.ledger").PostgresLedger(url)
            return ledger
        case _:
            return SqliteLedger(sqlite_path(url, folder))


def open_accounts(url: str, folder: Path) -> Accounts:
    """The accounts that are kept with the ledger that a URL names."""
    match ledger_kind(url):
        case "memory":
            return MemoryAccounts()
        case "postgresql":
            accounts: Accounts = _with_psycopg("pacas.storage.postgres.side_tables").PostgresAccounts(url)
            return accounts
        case _:
            return SqliteAccounts(sqlite_path(url, folder))


def open_refusals(url: str, folder: Path) -> Refusals:
    """The refusals that are counted beside the ledger that a URL names, which is no ledger in memory."""
    if ledger_kind(url) == "postgresql":
        refusals: Refusals = _with_psycopg("pacas.storage.postgres.side_tables").PostgresRefusals(url)
        return refusals
    return SqliteRefusals(sqlite_path(url, folder))


def ledger_kind(url: str) -> str:
    """One of SCHEMES.

    >>> ledger_kind("postgres://host/database"), ledger_kind("memory:")
    ('postgresql', 'memory')
    """
    scheme, colon, rest = url.partition(":")
    kind = _SAME.get(scheme.lower(), scheme.lower())
    if not colon or kind not in SCHEMES:
        known = f"{', '.join(SCHEMES[:-1])} and {SCHEMES[-1]} are known"
        near = f", {did_you_mean(scheme, SCHEMES)}" if colon else ""
        raise ConfigError(f"ledger.url: no such kind of ledger; {known}, such as {_SQLITE}provider.ledger.db{near}")
    if kind == "memory" and rest.strip("/"):
        raise ConfigError("ledger.url: a ledger in memory is written memory: and has no name")
    return kind


def sqlite_path(url: str, folder: Path) -> Path:
    """The file that a `sqlite:///` URL names.

    >>> sqlite_path("sqlite:///provider.ledger.db", Path("shop")).as_posix()
    'shop/provider.ledger.db'
    >>> sqlite_path("sqlite:////var/ledger.db", Path("shop")).as_posix()
    '/var/ledger.db'
    """
    path = url[len(_SQLITE) :]
    if url[: len(_SQLITE)].lower() != _SQLITE or not path.strip("/"):
        raise ConfigError(f"ledger.url: a SQLite ledger is written {_SQLITE}file.db, or {_SQLITE}/folder/file.db")
    if path == ":memory:":
        raise ConfigError("ledger.url: a ledger in memory is written memory:")
    if "?" in path or "\0" in path:
        raise ConfigError("ledger.url: a SQLite ledger takes a path and no options")
    return folder / path


def ledger_path(url: str, folder: Path) -> Path | None:
    """The file that a ledger is kept in, or None if it is in memory or in a server."""
    return sqlite_path(url, folder) if url.partition(":")[0].lower() == "sqlite" else None


def _with_psycopg(module: str) -> ModuleType:
    """A module of this room that needs psycopg, which not everybody has, and which takes a moment to load."""
    try:
        return import_module(module)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "psycopg" and "libpq" not in str(error):
            raise
        raise ConfigError("ledger.url: a ledger in PostgreSQL needs psycopg; pip install 'pacas[postgres]'") from None
