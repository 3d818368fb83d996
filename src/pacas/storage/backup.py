"""`pacas backup` and `pacas restore`: a ledger as one file, whatever store it is in, and what going back forgets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from pacas.core.words import counted
from pacas.errors import LedgerBrokenError, LedgerWentBackError, StorageError
from pacas.provider.ledger.chain import EMPTY, Head
from pacas.provider.ledger.entry import Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.storage import url as stores
from pacas.storage.sqlite.copying import copy_of, put_in_place, write_copy
from pacas.storage.sqlite.ledger import SqliteLedger, open_file


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a restore forgets: the entries after the copy's, and what was sold in them; money in nanocredits."""

    entries: int
    purchases: int = 0
    buyers: int = 0
    spent: int = 0
    is_known: bool = True
    """Whether the entries could be read; else only how many there were is known."""

    def words(self) -> str:
        """In one line."""
        what = counted(self.entries, "entry", "entries")
        if not self.is_known:
            return f"{what} that are known to have been there, and cannot be read"
        return f"{what}: {counted(self.purchases, 'purchase')} of {counted(self.buyers, 'buyer')}"


def backup(ledger_url: str, folder: Path, target: Path) -> Head:
    """Copy a ledger, and all that is kept beside it, to a new file as of one moment; its head, if the copy holds."""
    if stores.ledger_kind(ledger_url) == "postgresql":
        write_copy(target, stores.with_psycopg("pacas.storage.postgres.copying").copy_of(ledger_url))
    else:
        if not (path := stores.sqlite_path(ledger_url, folder)).exists():
            raise StorageError(f"there is no ledger {path.name} yet; nothing was copied")
        write_copy(target, copy_of(path))
    return _held(target)


def forgotten(ledger_url: str, folder: Path, source: Path) -> Forgotten | None:
    """What would be forgotten by going back to a copy: by the ledger that is there, and by what its state file says.

    None if it is nothing. A LedgerWentBackError says that the copy is of another history.
    """
    head, noted = _held(source), stores.noted_head_of(ledger_url, folder)
    with _present(ledger_url, folder) as present:
        if present is not None and (now := present.head()).entries >= head.entries:
            try:
                present.check_holds(head)
            except LedgerWentBackError:
                raise LedgerWentBackError("the copy is of another history than the ledger that is there") from None
            return _after(present, head) if now.entries > head.entries else None
    if noted is not None and noted.entries > head.entries:
        return Forgotten(noted.entries - head.entries, is_known=False)
    with closing(SqliteLedger(source, read_only=True)) as copy:
        copy.check_holds(noted or EMPTY)
    return None


def restore(ledger_url: str, folder: Path, source: Path, wait: float = 0.0) -> Path | None:
    """Put a copy in the ledger's place, and note its head in the state file; where the ledger was moved, if it was.

    Who serves it notes there what was known once it notices; after a `wait` the state file is of the copy again.
    """
    head = _held(source)
    if stores.ledger_kind(ledger_url) == "postgresql":
        copying = stores.with_psycopg("pacas.storage.postgres.copying")
        with closing(open_file(source)) as connection:
            copying.put_in_place(connection, ledger_url)
        away = None
    else:
        away = put_in_place(source, stores.sqlite_path(ledger_url, folder))
    state = stores.state_file(ledger_url, folder)
    assert state is not None  # a ledger in memory has no copies
    state.write(head)
    if wait:
        sleep(wait)
        state.write(head)
    return away


def _held(path: Path) -> Head:
    """The head of a copy whose whole chain holds."""
    if not path.exists():
        raise StorageError(f"{path} is not there; give a file that pacas backup has made")
    with closing(SqliteLedger(path, read_only=True)) as copy:
        found = copy.verify()
    if found.problem is not None:
        raise LedgerBrokenError(found.problem, found.first_bad)
    return found.head


@contextmanager
def _present(ledger_url: str, folder: Path) -> Iterator[Ledger | None]:
    """The ledger that is there now, to be read; None if there is none, or none that can be."""
    found: Ledger | None = None
    try:
        found = stores.read_ledger(ledger_url, folder)
        if found is not None:
            found.head()
    except StorageError:  # it is why somebody restores
        if found is not None:
            found.close()
        found = None
    if found is None:
        yield None
        return
    with closing(found):
        yield found


def _after(present: Ledger, head: Head) -> Forgotten:
    try:
        sold = [entry.payload for entry in present.entries(head.entries)]
    except LedgerBrokenError:
        return Forgotten(present.head().entries - head.entries, is_known=False)
    purchases = [one for one in sold if isinstance(one, Purchase)]
    spent = sum(one.price for one in purchases)
    return Forgotten(len(sold), len(purchases), len({one.buyer for one in purchases}), spent)
