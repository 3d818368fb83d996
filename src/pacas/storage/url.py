"""`ledger.url`: where a ledger is kept."""

from __future__ import annotations

from pathlib import Path

from pacas.errors import ConfigError, did_you_mean
from pacas.provider.ledger import Ledger, MemoryLedger

from .sqlite import SqliteLedger

SCHEMES = ("sqlite", "memory")
_SQLITE = "sqlite:///"


def open_ledger(url: str, folder: Path) -> Ledger:
    """The ledger that a URL names; a relative path starts at `folder`.

    `sqlite:///file.db` is a file, and is made if it is not there; `sqlite:////var/lib/file.db` is an absolute path;
    `memory:` keeps nothing.
    """
    scheme, colon, rest = url.partition(":")
    if not colon or scheme.lower() not in SCHEMES:
        known = f"{' and '.join(SCHEMES)} are known"
        near = f", {did_you_mean(scheme, SCHEMES)}" if colon else ""
        raise ConfigError(f"ledger.url: no such kind of ledger; {known}, such as {_SQLITE}provider.ledger.db{near}")
    if scheme.lower() == "memory":
        if rest.strip("/"):
            raise ConfigError("ledger.url: a ledger in memory is written memory: and has no name")
        return MemoryLedger()
    return SqliteLedger(sqlite_path(url, folder))


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
    """The file that a ledger is kept in, or None if it is in memory."""
    return sqlite_path(url, folder) if url.partition(":")[0].lower() == "sqlite" else None
