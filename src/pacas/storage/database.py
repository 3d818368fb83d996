"""What ledgers in databases share: transactions of one thread at a time, those inside one joining it."""

from __future__ import annotations

import os
from abc import abstractmethod
from contextlib import AbstractContextManager
from threading import RLock

from pacas.provider.ledger.ledger import Ledger

PATIENCE = 30.0
"""Seconds to wait for another process's transaction."""
UNDONE = "could not be written, and the whole transaction was undone"
FORKED = "was opened before this process was forked; open it again"


class DatabaseLedger(Ledger):
    """A ledger over one connection, which belongs to the process that opened it."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._depth = 0
        self._process = os.getpid()

    def transaction(self) -> AbstractContextManager[None]:
        return _Transaction(self)

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
