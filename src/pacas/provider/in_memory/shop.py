"""A shop over a relation that is held in memory: every quote is found among arrays, most of them by one look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np

from pacas.core.query import GeneralizedQuery
from pacas.engine.grouping import Ints
from pacas.protocol.marketplace import Columns, check_request, offer_of
from pacas.protocol.messages import Ladders, Offer, Quote, Reason, Refusal, Request
from pacas.protocol.order_of_checks import REASON_OF, UNSAFE, not_below
from pacas.provider.in_memory.audit import count_sales
from pacas.provider.in_memory.quote_cache import QuoteCache
from pacas.provider.in_memory.sales import Sales
from pacas.provider.in_memory.stock import Stock, stock_digests
from pacas.provider.ledger.entry import AboutBuyer, Purchase
from pacas.provider.matching import Matcher
from pacas.provider.pricing.conflicts import ConflictSets, MatchedRequests
from pacas.provider.shop.contract import CountedShop
from pacas.provider.shop.judging import ladders_of
from pacas.provider.terms import HistoryScope

FEW = 4
"""Tuples up to which quotes that are kept are looked up one by one."""


class InMemorySale(NamedTuple):
    """A request that may be answered: at which price, and what the answer rules out."""

    price: int
    row: int
    """The first that it is about."""
    slot: int = -1
    sets: ConflictSets | None = None
    """What it rules out, where no quotes are kept; else its slot says so."""


class InMemoryShop:
    """What is sold from, in memory, and what has been sold of it."""

    price_lists = None

    def __init__(self, stock: Stock, secret: bytes, state: Lock) -> None:
        self.stock, self.terms, self._secret, self._state = stock, stock.terms, secret, state
        self.offers: Mapping[str, Offer] = {
            a: replace(inquiry.offer, floor=self.terms.floor.get(a, 0), bounds=stock.bounds(a))
            for a, inquiry in stock.inquiries.items()
        }
        self.is_short = stock.untouched.short
        self.keeps_quotes = stock.terms.history is HistoryScope.POOLED and all(
            inquiry.matcher.by_slot is not None and not inquiry.has_edits for inquiry in stock.inquiries.values()
        )

    @cached_property
    def sales(self) -> Sales:
        """What has been sold; made ready when the ledger has been found to belong here."""
        return Sales(self.stock)

    @property
    def rows(self) -> int:
        return self.stock.rows

    @property
    def neighbours(self) -> int:
        return len(self.stock.support)

    @property
    def total(self) -> int:
        return self.stock.total

    def fingerprint(self) -> dict[str, str]:
        return stock_digests(self.stock, self._secret)

    def ladders(self, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        floor = offer_of(attribute, self.offers).floor
        inquiry, cache = self.stock.inquiries[attribute], self.sales.quote_caches.get(attribute)
        if cache is not None:
            return Ladders(not_below(floor, self._read(cache, inquiry.matcher, tuples, buyer)))
        asked = inquiry.ask(tuples)
        with self._state:
            return Ladders(not_below(floor, self._ladders(asked, buyer)))

    def ladder(self, attribute: str, values: Mapping[str, str | None], buyer: str) -> list[int]:
        floor, cache = offer_of(attribute, self.offers).floor, self.sales.quote_caches.get(attribute)
        if cache is None:
            by_column = {column: [value] for column, value in values.items()}
            found: list[int] = self.ladders(attribute, by_column, buyer).prices[0].tolist()
            return found
        slot = self.stock.inquiries[attribute].matcher.slot(values)
        with self._state:
            found = cache.ladder(slot, self.sales.known(buyer))
        return [UNSAFE if price >= 0 else price for price in found[:floor]] + found[floor:]

    def _read(self, cache: QuoteCache, matcher: Matcher, tuples: Columns, buyer: str) -> Ints:
        """Where quotes are kept: looked up one by one, or all at once if they are many."""
        slots = matcher.slots(tuples)
        with self._state:
            known = self.sales.known(buyer)
            if 0 < len(slots) <= FEW:
                return np.array([cache.ladder(slot, known) for slot in slots.tolist()])
            return cache.ladders(slots, known)

    def judge(self, request: Request, buyer: str) -> InMemorySale | Refusal:
        floor = check_request(request, self.offers).floor
        inquiry, cache = self.stock.inquiries[request.attribute], self.sales.quote_caches.get(request.attribute)
        if cache is not None:
            return self._look_up(cache, inquiry.matcher.slot(request.tuple), request.level, floor, buyer)
        asked = inquiry.ask({column: [value] for column, value in request.tuple.items()})
        with self._state:
            price = int(not_below(floor, self._ladders(asked, buyer))[0, request.level])
        return (
            InMemorySale(price, int(asked.sets.rows[0]), sets=asked.sets) if price >= 0 else Refusal(REASON_OF[price])
        )

    def _look_up(self, cache: QuoteCache, slot: int, level: int, floor: int, buyer: str) -> InMemorySale | Refusal:
        """A slot's quote, where quotes are kept."""
        with self._state:
            price = cache.quote(slot, level, self.sales.known(buyer))
        if price >= 0 and level < floor:
            return Refusal(Reason.UNSAFE)
        return InMemorySale(price, int(cache.rows(slot)[0]), slot=slot) if price >= 0 else Refusal(REASON_OF[price])

    def _ladders(self, asked: MatchedRequests, buyer: str) -> Ints:
        height = self.stock.inquiries[asked.sets.attribute].hierarchy.height
        known, judged = self.sales.known(buyer), self.sales.judged(buyer)
        return ladders_of(asked, self.stock.prices, known, judged, height, self.terms.max_matches)

    def purchase(self, sale: InMemorySale, request: Request, buyer: str, key: str, time: int | None) -> Purchase:
        rows = None if sale.sets is None else tuple(sale.sets.rows.tolist())  # a slot is found again at once
        answer = self.stock.inquiries[request.attribute].value(sale.row, request.level)
        return Purchase(buyer, key, request, sale.price, answer, rows, time)

    def add(self, sale: InMemorySale, purchase: Purchase) -> None:
        if sale.sets is None:
            self.sales.add_slot(purchase, sale.slot)
        else:
            self.sales.add(purchase, sale.sets)

    def recount(self, told: Sequence[AboutBuyer]) -> None:
        sales = Sales(self.stock)
        sales.take_in(told)
        self.sales = sales

    def quote_query(self, query: GeneralizedQuery, buyer: str) -> Quote | Refusal:
        if self._is_below_a_floor(query):
            return Refusal(Reason.UNSAFE)
        conflicts = self.stock.views.conflicts(query, self.sales.known(buyer))
        with self._state:
            if not self.sales.judged(buyer).safe_without(conflicts, self.stock.support):
                return Refusal(Reason.UNSAFE)
        return Quote(int(self.stock.weights[conflicts].sum()))

    def _is_below_a_floor(self, query: GeneralizedQuery) -> bool:
        """Does it tell more of an attribute than anybody may buy? A condition compares ground values."""
        floor = {a: level for a, level in self.terms.floor.items() if level}
        outputs = len(query.outputs)
        return any(output.level < floor.get(output.column.attribute, 0) for output in query.outputs) or any(
            column.attribute in floor for column in query.columns()[outputs:]
        )

    def count_sales(self, purchases: Sequence[Purchase]) -> CountedShop:
        return count_sales(self.stock, purchases)
