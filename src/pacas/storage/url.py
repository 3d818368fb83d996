"""`ledger.url`: where a ledger and its accounts are kept."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from pacas.errors import ConfigError, LedgerWentBackError, StorageError, did_you_mean
from pacas.protocol.circle import House
from pacas.provider.ledger.accounts import Accounts, MemoryAccounts
from pacas.provider.ledger.chain import EMPTY, Head
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.ledger.offers import PrivateOffers
from pacas.provider.ledger.refusals import Refusals
from pacas.storage.side_tables import (
    AccountTable,
    CheckpointTable,
    CircleTable,
    OfferTable,
    RefusalTable,
    ServingTable,
    SideDatabase,
    SideTable,
)
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.sqlite.side_tables import SqliteSideDatabase
from pacas.storage.state_file import StateFile

SCHEMES = ("sqlite", "postgresql", "memory")
_SAME = {"postgres": "postgresql"}
_SQLITE = "sqlite:///"


def open_ledger(url: str, folder: Path) -> Ledger:
    """The ledger that a URL names; a relative path starts at `folder`.

    `sqlite:///file.db` is a file, and is made if it is not there; `sqlite:////var/lib/file.db` is an absolute path;
    `postgresql://user:password@host/database?ledger=NAME` is a schema of a database, and is made, too; `memory:` keeps
    nothing. None is made where its state file says that there was one, and none is opened that no longer holds what
    its state file says.
    """
    kind, noted = ledger_kind(url), noted_head_of(url, folder)
    ledger: Ledger
    match kind:
        case "memory":
            return MemoryLedger()
        case "postgresql":
            ledger = with_psycopg("pacas.storage.postgres.ledger").PostgresLedger(url, make=noted is None)
        case _:
            _check_is_there(path := sqlite_path(url, folder), noted)
            ledger = SqliteLedger(path)
    try:
        ledger.check_holds(noted or EMPTY)
    except BaseException:
        ledger.close()
        raise
    return ledger


def read_ledger(url: str, folder: Path) -> Ledger | None:
    """The ledger that a URL names, only to be read: it may be where nothing can be written. None if there is none yet.

    Whether it holds what its state file says is for who reads it to find out.
    """
    kind, noted = ledger_kind(url), noted_head_of(url, folder)
    if kind == "memory":
        return None
    if kind == "postgresql":
        address = with_psycopg("pacas.storage.postgres.address").PostgresAddress.parse(url)
        if noted is None and not with_psycopg("pacas.storage.postgres.session").is_there(address):
            return None
        ledger: Ledger = with_psycopg("pacas.storage.postgres.ledger").PostgresLedger(url, make=False)
        ledger.is_read_only = True
        return ledger
    _check_is_there(path := sqlite_path(url, folder), noted)
    if not path.parent.is_dir():
        raise StorageError(f"the ledger {path.name} cannot be made in its folder, which is not there")
    return SqliteLedger(path, read_only=True) if path.exists() else None


def noted_head_of(url: str, folder: Path) -> Head | None:
    """The head that the ledger's state file says, if it says one."""
    state = state_file(url, folder)
    return None if state is None else state.head()


def open_accounts(url: str, folder: Path) -> Accounts:
    """The accounts that are kept with the ledger that a URL names."""
    if ledger_kind(url) == "memory":
        return MemoryAccounts()
    return AccountTable(_beside(url, folder, AccountTable))


def state_file(url: str, folder: Path) -> StateFile | None:
    """The file that says what a ledger held when it was last seen; for one in memory there is none.

    It is beside a ledger's own file; for one in a server, it is in `folder`.
    """
    match ledger_kind(url):
        case "memory":
            return None
        case "postgresql":
            address = with_psycopg("pacas.storage.postgres.address").PostgresAddress.parse(url)
            return StateFile(folder / f"{address.ledger}-{address.digest}.ledger.state")
        case _:
            path = sqlite_path(url, folder)
            return StateFile(path.with_name(f"{path.name}.state"))


def _check_is_there(path: Path, noted: Head | None) -> None:
    if noted is not None and not path.exists():
        raise LedgerWentBackError(
            f"{path.name} is missing, and {path.name}.state beside it says that it held {noted.entries} entries "
            "(to begin a new one, remove that, too)"
        )


def _beside(url: str, folder: Path, table: type[SideTable], *, make: bool = True) -> SideDatabase:
    """Where a table is kept beside the ledger that a URL names, which is no ledger in memory; none is made where its
    state file says that there was one."""
    kind, noted = ledger_kind(url), noted_head_of(url, folder)
    if kind == "postgresql":
        tables = with_psycopg("pacas.storage.postgres.side_tables")
        database: SideDatabase = tables.PostgresSideDatabase(url, table, make=make and noted is None)
        return database
    _check_is_there(path := sqlite_path(url, folder), noted)
    return SqliteSideDatabase(path, table)


def open_refusals(url: str, folder: Path) -> Refusals:
    """The refusals that are counted beside a ledger."""
    return RefusalTable(_beside(url, folder, RefusalTable))


def open_offers(url: str, folder: Path) -> PrivateOffers:
    """The private offers that are kept with a ledger."""
    return OfferTable(_beside(url, folder, OfferTable))


def open_checkpoints(url: str, folder: Path) -> CheckpointTable:
    """The checkpoint that is kept with a ledger."""
    return CheckpointTable(_beside(url, folder, CheckpointTable, make=False))


def open_serving(url: str, folder: Path) -> ServingTable:
    """The processes that serve a ledger."""
    return ServingTable(_beside(url, folder, ServingTable))


def open_house(url: str) -> House:
    """The clearing house in PostgreSQL that a URL names: a schema of its own, as a ledger has."""
    return CircleTable(with_psycopg("pacas.storage.postgres.side_tables").PostgresSideDatabase(url, CircleTable))


def open_kept_house(url: str, folder: Path) -> House:
    """The clearing house that a service keeps beside the ledger that a URL names, which is no ledger in memory.

    It is no part of the ledger's own file or schema: a member that sells from it holds off writers there meanwhile.
    """
    if ledger_kind(url) == "postgresql":
        address = with_psycopg("pacas.storage.postgres.address").PostgresAddress
        return open_house(address.beside(url, "circle"))
    path = sqlite_path(url, folder)
    return CircleTable(SqliteSideDatabase(path.with_name(f"{path.name}.circle"), CircleTable))


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


def with_psycopg(module: str) -> ModuleType:
    """A module of this room that needs psycopg, which not everybody has, and which takes a moment to load."""
    try:
        return import_module(module)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "psycopg" and "libpq" not in str(error):
            raise
        raise ConfigError("ledger.url: a ledger in PostgreSQL needs psycopg; pip install 'pacas[postgres]'") from None
