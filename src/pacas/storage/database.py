"""What ledgers in databases share: transactions, and statements for SQLite and PostgreSQL alike."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Lock, RLock
from time import time

from pacas.provider.ledger.ledger import Ledger, Store

PATIENCE = 10.0
"""Seconds to wait for another process's transaction."""
UNDONE = "could not be written, and the whole transaction was undone"
FORKED = "was opened before this process was forked; open it again"

LINKS = "SELECT sequence, previous, hash FROM entry WHERE sequence >= ? ORDER BY sequence LIMIT ?"
OF_ONE_BUYER = {
    True: "buyer = ? AND sequence > ? ORDER BY sequence + 0 LIMIT ?",
    False: "buyer || '' = ? AND sequence > ? ORDER BY sequence LIMIT ?",
}
"""A buyer's entries: by the index of buyers and keys if they are few, else by that of sequence numbers. What is not a
plain column is looked up in no index."""


def utc_seconds() -> int:
    """The time of the machine's clock, in seconds since 1970."""
    return int(time())


class DatabaseLedger(Ledger):
    """A ledger over one connection, which belongs to the process that opened it, and a second one that only reads."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._lock = RLock()
        self._reading = Lock()
        self._depth = 0
        self._process = os.getpid()

    def transaction(self) -> AbstractContextManager[None]:
        return _Transaction(self)

    def _store(self) -> AbstractContextManager[Store]:
        return _TableAccess(self)

    @abstractmethod
    def _open_tables(self, is_first: bool) -> Store:
        """The tables, over the first connection or over the second."""

    @abstractmethod
    def _fault_of(self, error: BaseException | None, is_first: bool) -> Exception | None:
        """Ours for an error of the database's, after undoing what was begun; None for any other.

        Without an error, what was read may be told when this returns: it outlasts a crash.
        """

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction, or join the one that goes on."""

    @abstractmethod
    def _commit(self) -> None:
        """Make what was appended durable."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Take back what was appended."""


class _Transaction:
    """A ledger's transaction; one inside another joins it. A class, as it is on the way of every sale."""

    __slots__ = ("_ledger",)

    def __init__(self, ledger: DatabaseLedger) -> None:
        self._ledger = ledger

    def __enter__(self) -> None:
        ledger = self._ledger
        ledger._lock.acquire()
        try:
            ledger._begin()
        except BaseException:
            ledger._lock.release()
            raise
        ledger._depth += 1

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        ledger = self._ledger
        try:
            ledger._depth -= 1
            if ledger._depth == 0:
                if error is None:
                    ledger._commit()
                else:
                    ledger._roll_back()
        finally:
            ledger._lock.release()


class _TableAccess:
    """A ledger's tables, for one thread at a time; the database's errors as ours.

    While another thread has a transaction, or waits for one, what it has not committed is read past by the second
    connection.
    """

    __slots__ = ("_is_first", "_ledger")

    def __init__(self, ledger: DatabaseLedger) -> None:
        self._ledger = ledger

    def __enter__(self) -> Store:
        ledger = self._ledger
        self._is_first = ledger._lock.acquire(blocking=False)
        if not self._is_first:
            ledger._reading.acquire()
        try:
            return ledger._open_tables(self._is_first)
        except BaseException:
            self._release()
            raise

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if (fault := self._ledger._fault_of(error, self._is_first)) is not None:
                raise fault from None
        finally:
            self._release()

    def _release(self) -> None:
        (self._ledger._lock if self._is_first else self._ledger._reading).release()
