"""Checkpoints: a start reads what came after, and trusts none that its key has not signed for this ledger."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from checkpoint_shops import KEY, KINDS, ROWS, KeptInMemory, said, shop

from pacas.errors import LedgerWentBackError, StorageError
from pacas.protocol.messages import Payment, Quote, Request
from pacas.provider.ledger import checkpoint
from pacas.provider.ledger.chain import Head
from pacas.provider.ledger.checkpoint import Checkpoints
from pacas.provider.ledger.entry import Entry
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.server.signing_key import SigningKey

pytestmark = pytest.mark.attack
CEILING = 10**18


def of(row: int) -> Request:
    return Request({"W": ROWS[row][0], "BED": ROWS[row][1]}, "M", 1)


def sell(provider: Provider, *rows: int) -> None:
    for row in rows:
        provider.sell(of(row), CEILING, f"k{row}")


def beside(store: KeptInMemory, key: SigningKey | None = KEY) -> Checkpoints:
    return Checkpoints(lambda: store, lambda: key, least=1)


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def store(ledger: MemoryLedger) -> KeptInMemory:
    """With the checkpoint of a shop that has sold three values, and then one more."""
    kept = KeptInMemory()
    with shop("paper", ledger, beside(kept)) as provider:
        sell(provider, 0, 1, 2)
        provider.refresh()
        provider.till._checkpoints = None
        sell(provider, 3)
    return kept


def reads(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From which entry on a ledger is read, each time that something was found."""
    found, after = list[int](), ledger.after

    def told(known: Head) -> list[Entry]:
        if entries := after(known):
            found.append(known.entries)
        return entries

    monkeypatch.setattr(ledger, "after", told)
    return found


def test_a_start_reads_only_what_came_after_the_checkpoint(
    ledger: MemoryLedger, store: KeptInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = reads(ledger, monkeypatch)
    again, whole = shop("paper", ledger, beside(store)), shop("paper", ledger)
    assert seen == [4, 1] and said(again) == said(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_holds_no_answer(kind: str) -> None:
    store = KeptInMemory()
    with shop(kind, MemoryLedger(), beside(store)) as provider:
        for row in range(3):
            sold = provider.pay(of(row), CEILING, f"k{row}")
            provider.refresh()
            assert store.kept is not None
            assert f'"{getattr(sold, "value", "?")}"' not in store.kept[0]


def _forged(kept: tuple[str, str]) -> tuple[str, str]:
    return kept[0].replace('"count":3', '"count":2'), kept[1]


def _unsigned(kept: tuple[str, str]) -> tuple[str, str]:
    return kept[0], "nothing: é"


def _resigned(kept: tuple[str, str]) -> tuple[str, str]:
    return kept[0], SigningKey.generate().sign_checkpoint(kept[0].encode())


def _cut(kept: tuple[str, str]) -> tuple[str, str]:
    return kept[0][:-9], KEY.sign_checkpoint(kept[0][:-9].encode())


def _of_another_release(kept: tuple[str, str]) -> tuple[str, str]:
    text = kept[0].replace("pacas checkpoint 1", "pacas checkpoint 0")
    return text, KEY.sign_checkpoint(text.encode())


def _of_another_ledger(kept: tuple[str, str]) -> tuple[str, str]:
    store = KeptInMemory()
    with shop("edits", MemoryLedger(), beside(store)) as other:
        sell(other, 5, 6)
        other.refresh()
    assert store.kept is not None
    return store.kept


@pytest.mark.parametrize("spoil", [_forged, _unsigned, _resigned, _cut, _of_another_release, _of_another_ledger])
def test_one_that_cannot_be_relied_on_is_not_there(
    ledger: MemoryLedger,
    store: KeptInMemory,
    spoil: Callable[[tuple[str, str]], tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert store.kept is not None
    store.kept = spoil(store.kept)
    seen = reads(ledger, monkeypatch)
    again, whole = shop("paper", ledger, beside(store)), shop("paper", ledger)
    assert seen == [1, 1] and said(again) == said(whole)
    assert KEY.has_signed_checkpoint(store.kept[0].encode(), store.kept[1])  # the next start finds a true one


def test_without_a_key_none_is_read_and_none_is_kept(ledger: MemoryLedger, store: KeptInMemory) -> None:
    before = store.times
    provider = shop("paper", ledger, beside(store, None))
    sell(provider, 4)
    provider.refresh()
    assert store.times == before


def test_a_ledger_without_what_the_checkpoint_counts_has_gone_back(ledger: MemoryLedger, store: KeptInMemory) -> None:
    del ledger._kept.records[3:]
    last = ledger._kept.records[-1]
    ledger._kept._head = Head(3, last.hash)
    with pytest.raises(LedgerWentBackError, match="it counts 3 entries, and 4 were known"):
        shop("paper", ledger, beside(store))


def test_a_history_that_parted_before_the_checkpoint_is_not_sold_from(
    ledger: MemoryLedger, store: KeptInMemory
) -> None:
    opening = ledger._kept.records[0]
    other = MemoryLedger()
    other._kept.write(opening, None)
    sell(shop("paper", other), 7, 8, 9, 10)
    with pytest.raises(LedgerWentBackError, match="entry 3 is not the one that was known"):
        shop("paper", other, beside(store))


def test_what_is_not_durable_is_not_kept(ledger: MemoryLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit fails after its sales were taken in: a checkpoint of that moment would say that they were sold."""
    store = KeptInMemory()
    provider = shop("paper", ledger, checkpoints := beside(store))
    checkpoints._kept, store.kept = 0, None  # another is due
    write = ledger._kept.write

    def fail_at_the_third(*given: object) -> None:
        if len(ledger._kept.records) == 3:
            raise StorageError("no room")
        write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(ledger._kept, "write", fail_at_the_third)
    quotes = [provider.quote(of(row)) for row in range(3)]
    payments = [
        Payment(of(row), quote.price, f"k{row}") for row, quote in enumerate(quotes) if isinstance(quote, Quote)
    ]
    with pytest.raises(StorageError, match="no room"):
        provider.pay_many(payments)
    assert provider.shop.sales.count > 0  # more than was sold
    provider.till.keep_checkpoint()
    assert store.kept is None
    monkeypatch.undo()
    sell(provider, 4)
    provider.refresh()
    assert store.kept is not None
    assert said(shop("paper", ledger, beside(store))) == said(shop("paper", ledger))


def test_a_store_that_fails_costs_time_and_nothing_else(ledger: MemoryLedger, store: KeptInMemory) -> None:
    def away() -> KeptInMemory:
        raise StorageError("away")

    with shop("paper", ledger, Checkpoints(away, lambda: KEY, least=1)) as provider:
        sell(provider, 4)
        assert said(provider) == said(shop("paper", ledger))


def test_one_is_kept_when_a_sixteenth_came_since() -> None:
    checkpoints, kept = beside(KeptInMemory()), list[int]()
    for entries in range(1, 400):
        if checkpoints.is_due(Head(entries, "")):
            checkpoints._kept = entries
            kept.append(entries)
    assert kept[:3] == [1, 2, 3] and len(kept) < 100
    assert all(after - before <= max(1, after // checkpoint.SHARE) for before, after in pairwise(kept))
