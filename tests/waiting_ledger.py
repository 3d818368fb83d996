"""When a sale waits: a ledger that tells when it is about to begin a transaction."""

from __future__ import annotations

from threading import Event

import pytest

from pacas.provider.ledger.ledger import Ledger


def told_of_waiting(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Event:
    """An event for the moment when a transaction has the ledger's lock, and asks its store for its own."""
    begun, begin = Event(), ledger._begin  # type: ignore[attr-defined]

    def announced() -> None:
        begun.set()
        begin()

    monkeypatch.setattr(ledger, "_begin", announced)
    return begun
