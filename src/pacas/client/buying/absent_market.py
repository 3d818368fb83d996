"""A provider that is away: when a run is continued, it offers what it offered; it is called once it is asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock

from pacas.protocol.marketplace import Columns, Marketplace
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Refusal, Request


class AbsentMarket:
    """Sells nothing until it can be opened; whoever asks or pays tries that.

    `offers` are those that the run knows it by: `opened` raises where the provider that is there offers others. None,
    where it was never there: who asks what it offers calls it.
    """

    def __init__(self, offers: Mapping[str, Offer] | None, why: str, opened: Callable[[], Marketplace]) -> None:
        self._offers, self._opened = offers, opened
        self.away: str | None = why
        """Why it could not be opened; None once it is."""
        self._market: Marketplace | None = None
        self._one_at_a_time = Lock()  # a review plans in one thread and pays in another

    def catalogue(self) -> Mapping[str, Offer]:
        return self._there().catalogue() if self._offers is None else self._offers

    def quote(self, request: Request) -> Quote | Refusal:
        return self._there().quote(request)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return self._there().quote_batch(attribute, tuples)

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        return self._there().pay(request, ceiling, key)

    def _there(self) -> Marketplace:
        with self._one_at_a_time:
            if self._market is None:
                self._market = self._opened()
                self.away = None
            return self._market
