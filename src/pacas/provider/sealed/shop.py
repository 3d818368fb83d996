"""A shop whose quotes are sealed: what is free comes from the quoter; a private value is read when it is paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np

from pacas.core.query import GeneralizedQuery
from pacas.errors import InputError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Ladders, Offer, Quote, Refusal, Request
from pacas.provider.column import Column
from pacas.provider.ledger.entry import Purchase
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.sealed.sales import SealedSales
from pacas.provider.shop.contract import CountedGroups, CountedSales, CountedShop, check_request, offer_of
from pacas.provider.shop.fingerprint import terms_digests
from pacas.provider.shop.judging import REASONS, judged, judged_at
from pacas.provider.terms import Terms


class SealedSale(NamedTuple):
    """A request that may be answered: at which price, and about which unit."""

    price: int
    unit: int


class SealedShop:
    """A quoter, and the private columns. `purchase` alone reads these."""

    keeps_quotes = True
    is_short = False

    def __init__(self, quoter: Quoter, private: Mapping[str, Column], terms: Terms, state: Lock) -> None:
        self.terms, self._quoter, self._state = terms, quoter, state
        self._private = private
        self.offers: Mapping[str, Offer] = {
            a: Offer(a, sold.matcher.client_columns, quoter.view.hierarchies[a]) for a, sold in quoter.sold.items()
        }

    @cached_property
    def sales(self) -> SealedSales:
        """What has been sold; made ready when the ledger has been found to belong here."""
        return SealedSales(self._quoter)

    @property
    def rows(self) -> int:
        return self._quoter.view.index.rows

    @property
    def neighbours(self) -> int:
        return 0

    @property
    def total(self) -> int:
        return self._quoter.view.total

    def fingerprint(self) -> dict[str, str]:
        return terms_digests(self.terms) | self._quoter.view.digests()

    def ladders(self, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        offer_of(attribute, self.offers)
        found = self._quoter.sold[attribute].find(tuples)
        with self._state:
            prices = self._quoter.prices(attribute, found.units, self.sales.bought(buyer))
            floors = self._quoter.floors(attribute, found.units, self.sales.opened)
        return Ladders(judged(prices, found.matches, found.never_below, floors))

    def judge(self, request: Request, buyer: str) -> SealedSale | Refusal:
        check_request(request, self.offers)
        attribute, level = request.attribute, request.level
        unit, matches, never_below = self._quoter.sold[attribute].find_one(request)
        with self._state:
            price = self._quoter.price(attribute, unit, level, self.sales.bought(buyer))
            floor = self._quoter.floor(attribute, unit, self.sales.opened)
        price = judged_at(level, matches, never_below, floor, price)
        return SealedSale(price, unit) if price >= 0 else Refusal(REASONS[price])

    def purchase(self, sale: SealedSale, request: Request, buyer: str, key: str) -> Purchase:
        return Purchase(buyer, key, request, sale.price, self._answer(sale.unit, request), None)

    def _answer(self, unit: int, request: Request) -> str:
        """The one place where a private value is read. At the root nothing is told, and nothing need be read."""
        column = self._private[request.attribute]
        if request.level == column.domain.height:
            return column.domain.root_label
        row = int(self._quoter.sold[request.attribute].priced.units.rows.one(unit)[0])
        return str(column.hierarchy.label(column.hierarchy.ancestors[request.level, column.cells[row]]))

    def add(self, sale: SealedSale, purchase: Purchase) -> None:
        self.sales.add(purchase, sale.unit)

    def quote_query(self, query: GeneralizedQuery, buyer: str) -> Quote | Refusal:
        raise InputError('a sealed provider quotes requests, not queries; price them with quotes = "paper"')

    def count_sales(self, purchases: Sequence[Purchase]) -> CountedShop:
        sales = SealedSales(self._quoter)
        sales.replay(purchases)
        due = {buyer: CountedSales(0, sales.bought(buyer).worth()) for buyer in sales.totals()}
        groups = []
        for guard in self._quoter.guards:
            left, group = guard.values_left(sales.pooled), guard.group
            most = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
            np.maximum.at(most, group[group >= 0], left[group >= 0])
            margins = Counter((most - guard.policy.k).tolist())
            groups.append(CountedGroups(len(most), int((group < 0).sum()), margins, int((most < guard.policy.k).sum())))
        return CountedShop(groups, due)
