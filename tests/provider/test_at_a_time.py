"""What is worked out for some rows at a time, so that little memory is needed on the way, is what all together give."""

from __future__ import annotations

import pytest
from checkpoint_shops import ROWS, said, shop

from pacas.protocol.messages import Request
from pacas.provider.audit import audit
from pacas.provider.in_memory import quote_cache
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.pricing import prices
from pacas.provider.safety import surviving


@pytest.mark.parametrize("kind", ["paper", "per buyer", "edits"])
def test_few_rows_at_a_time_give_what_all_together_give(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = MemoryLedger()
    whole = shop(kind, ledger)
    for row in (0, 4, 7, 14):
        whole.pay(Request({"W": ROWS[row][0], "BED": ROWS[row][1]}, "M", 1), 10**18, f"k{row}", buyer="ann")
    for module in (quote_cache, prices, surviving):
        monkeypatch.setattr(module, "AT_A_TIME", 4)
    parts = shop(kind, ledger)
    assert said(parts) == said(whole) and audit(parts) == audit(whole)
