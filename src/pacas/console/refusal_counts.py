"""Refusals by reason, account and hour: counted as they come, kept beside the ledger, and never with a tuple."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from threading import Lock

from pacas.provider.ledger.refusals import HOUR, RefusalCount, Refusals

TURNED_AWAY = {401: "unauthorized", 429: "rate_limited"}
"""What calls that were not answered are counted as, by their status."""

Key = tuple[int, str, str]


class RefusalCounts:
    """What a service refuses while it runs: counted in memory, and now and then handed to the store."""

    def __init__(self, store: Refusals, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._lock = Lock()
        self._new = Counter[Key]()

    def refused(self, account: str, reason: str, count: int) -> None:
        key = (int(self._clock()) // HOUR, account, reason)
        with self._lock:
            self._new[key] += count

    def turned_away(self, account: str, status: int) -> None:
        self.refused(account, TURNED_AWAY[status], 1)

    def keep(self) -> None:
        """Hand over what has come since; if the store is away, it stays here until the next time."""
        with self._lock:
            taken, self._new = self._new, Counter()
        try:
            self._store.add([RefusalCount(*key, count) for key, count in sorted(taken.items())])
        except BaseException:
            with self._lock:
                self._new.update(taken)
            raise

    def since(self, hour: int) -> list[RefusalCount]:
        """All that were counted from an hour on, by every process, this one's latest among them."""
        self.keep()
        return self._store.since(hour)


def by_reason(counts: Iterable[RefusalCount]) -> Counter[str]:
    """How often each reason was given."""
    found = Counter[str]()
    for count in counts:
        found[count.reason] += count.refused
    return found


def by_account(counts: Iterable[RefusalCount]) -> dict[str, Counter[str]]:
    """How often each account was given each reason."""
    found: dict[str, Counter[str]] = {}
    for count in counts:
        found.setdefault(count.account, Counter())[count.reason] += count.refused
    return found
