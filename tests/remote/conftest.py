"""What tests of the client's side of the wire share."""

from __future__ import annotations

import pytest
from remote_shop import SECRET
from running_service import with_account

from pacas.provider.ledger.accounts import MemoryAccounts


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.remote.connection.SHORTEST_WAIT", 0.001)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited; it does not."""
    waited: list[float] = []
    monkeypatch.setattr("pacas.remote.connection.sleep", waited.append)
    return waited


@pytest.fixture
def accounts() -> MemoryAccounts:
    found = MemoryAccounts()
    with_account(found, "ann", token=SECRET)
    return found
