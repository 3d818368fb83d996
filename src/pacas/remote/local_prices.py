"""Quotes that are worked out here: from a provider's price lists, and from what this account has bought.

The provider is told of purchases, and not of questions. Prices never rise, and what others buy does not count: so what
is quoted holds until the account itself buys, here or from elsewhere; then the price can only be lower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import NamedTuple

from pacas.core.rates.schedule import LIST, Schedule
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.core.sealed.unit_prices import Ints
from pacas.protocol.messages import Offer, Request
from pacas.protocol.order_of_checks import at_rates
from pacas.protocol.price_list import PriceList

MOST_KEYS = 5_000_000
"""A list of more keys is not fetched: the provider is asked instead."""


class BoughtBefore(NamedTuple):
    """What an account has bought, its list credits, and what list prices cost it."""

    requests: Iterable[Request]
    listed: int = 0
    schedule: Schedule = LIST


class LocalPrices:
    """The price lists of a provider, each fetched when it is needed, and what was bought."""

    def __init__(
        self,
        offers: Mapping[str, Offer],
        fetch: Callable[[str, int], PriceList],
        bought_before: Callable[[], BoughtBefore],
    ) -> None:
        listed = {a: offer.prices for a, offer in offers.items() if offer.prices and offer.prices.has_list}
        self._offered = {a: prices for a, prices in listed.items() if prices.keys <= MOST_KEYS}
        self._fetch, self._bought_before = fetch, bought_before
        self._lists: dict[str, PriceList] = {}
        self._requests: list[Request] | None = None
        """All purchases, if they have been asked for."""
        self._bought = BoughtLevels()
        self._schedule, self._listed = LIST, 0
        """List credits are at least so many: with more, nothing is dearer."""
        self._lock = Lock()

    def __contains__(self, attribute: str) -> bool:
        """Can an attribute be quoted here?"""
        prices = self._offered.get(attribute)
        return prices is not None and attribute in prices.linked and all(a in self._offered for a in prices.linked)

    def ladders(self, attribute: str, tuples: Mapping[str, Sequence[str | None]]) -> Ints:
        """Prices and refusals of many tuples at all levels."""
        with self._lock:
            ladders = self._list(attribute).ladders(tuples, self._bought)
            return at_rates(self._schedule, self._listed, ladders)

    def quote(self, request: Request) -> int:
        """One request's price, or a refusal."""
        with self._lock:
            price = self._list(request.attribute).quote(request, self._bought)
            return price if price < 0 else self._schedule.quote(self._listed, price)

    def learn(self, request: Request) -> None:
        """Take in a purchase of this account."""
        with self._lock:
            if self._requests is not None:
                self._requests.append(request)
            if request.attribute in self._lists:
                self._listed += max(0, self._lists[request.attribute].quote(request, self._bought))
                self._lists[request.attribute].learn(request, self._bought)

    def _list(self, attribute: str) -> PriceList:
        if attribute not in self._lists:
            linked = self._offered[attribute].linked
            most = sum(self._offered[a].keys for a in linked)  # each key finds one unit at most
            fetched = {a: self._fetch(a, most) for a in linked}
            if self._requests is None:
                before = self._bought_before()
                self._requests, self._listed, self._schedule = list(before.requests), before.listed, before.schedule
            for request in self._requests:
                if request.attribute in fetched:
                    fetched[request.attribute].learn(request, self._bought)
            self._lists |= fetched
        return self._lists[attribute]
