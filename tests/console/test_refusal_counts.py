"""Refusals are counted by reason, account and hour, and handed to the store once each."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread

import pytest

from pacas.console.refusal_counts import RefusalCounts, by_account, by_reason
from pacas.errors import StorageError
from pacas.provider.ledger.refusals import HOUR, RefusalCount


class Store:
    def __init__(self) -> None:
        self.kept: list[RefusalCount] = []
        self.is_away = False

    def add(self, counts: Sequence[RefusalCount]) -> None:
        if self.is_away:
            raise StorageError("the store is away")
        self.kept += counts

    def since(self, hour: int) -> list[RefusalCount]:
        return [count for count in self.kept if count.hour >= hour]

    def close(self) -> None:
        pass


def test_they_are_counted_by_the_hour_and_handed_over_once() -> None:
    store, now = Store(), [10 * HOUR + 5.0]
    counts = RefusalCounts(store, lambda: now[0])
    counts.refused("ann", "unsafe", 3)
    counts.refused("ann", "unsafe", 2)
    counts.turned_away("", 401)
    now[0] += HOUR
    counts.turned_away("bob", 429)
    assert store.kept == []
    counts.keep()
    expected = [(10, "", "unauthorized", 1), (10, "ann", "unsafe", 5), (11, "bob", "rate_limited", 1)]
    assert store.kept == expected
    counts.keep()
    assert counts.since(11) == expected[2:]
    assert store.kept == expected


def test_what_a_store_does_not_take_is_handed_over_later() -> None:
    store = Store()
    counts = RefusalCounts(store, lambda: 0.0)
    counts.refused("ann", "unsafe", 1)
    store.is_away = True
    with pytest.raises(StorageError):
        counts.keep()
    counts.refused("ann", "unsafe", 1)
    store.is_away = False
    assert counts.since(0) == [(0, "ann", "unsafe", 2)]


def test_threads_lose_none() -> None:
    store = Store()
    counts = RefusalCounts(store, lambda: 0.0)

    def refuse() -> None:
        for _ in range(500):
            counts.refused("ann", "unsafe", 1)
            if _ % 100 == 0:
                counts.keep()

    threads = [Thread(target=refuse) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert by_reason(counts.since(0)) == {"unsafe": 2000}
    assert by_account(counts.since(0)) == {"ann": {"unsafe": 2000}}
