"""A shop whose quotes are sealed: what is free comes from quoters; a private value is read when it is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import NamedTuple

from pacas.core.query import GeneralizedQuery
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.protocol.marketplace import Columns, check_request, offer_of
from pacas.protocol.messages import Ladders, Offer, Quote, Refusal, Request
from pacas.protocol.order_of_checks import REASON_OF, judged, judged_at
from pacas.provider.ledger.entry import AboutBuyer, Purchase
from pacas.provider.quoter.guard import Guard
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.quoter.quoters import FoundUnit, Quoters
from pacas.provider.quoter.sold_attribute import FoundUnits
from pacas.provider.sealed.private_cells import PrivateCells
from pacas.provider.sealed.sales import SealedSales
from pacas.provider.shop.contract import CountedGroups, CountedSales, CountedShop, KeptBack
from pacas.provider.shop.fingerprint import terms_digests
from pacas.provider.shop.x_groups import GroupsBehind, JudgedGroups
from pacas.provider.terms import Terms


class SealedSale(NamedTuple):
    """A request that may be answered: at which price, and about which unit."""

    price: int
    quoter: Quoter
    unit: int


class SealedShop:
    """Quoters, and the private cells. `purchase` alone reads these."""

    is_short = False

    def __init__(
        self, quoters: Quoters, private: PrivateCells, terms: Terms, digests: Mapping[str, str], state: Lock
    ) -> None:
        self.terms, self.quoters, self._private, self._state = terms, quoters, private, state
        self._digests = digests
        self.keeps_quotes = quoters.keeps_quotes
        self.price_lists = quoters.price_lists
        listed = {} if self.price_lists is None else self.price_lists.told
        view = quoters.view
        self.offers: Mapping[str, Offer] = {
            a: Offer(
                a,
                quoters.client_columns(a),
                view.hierarchies[a],
                private.may_be_absent,
                listed.get(a),
                is_sealed=True,
                floor=view.floor.get(a, 0),
            )
            for a in view.match
        }

    @cached_property
    def sales(self) -> SealedSales:
        """What has been sold; made ready when the ledger has been found to belong here."""
        return SealedSales(self.quoters)

    @property
    def rows(self) -> int:
        return self.quoters.view.index.in_all

    @property
    def neighbours(self) -> int:
        return 0

    @property
    def total(self) -> int:
        return self.quoters.view.total

    def fingerprint(self) -> dict[str, str]:
        return terms_digests(self.terms) | self.quoters.view.digests() | dict(self._digests)

    def ladders(self, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        offer_of(attribute, self.offers)

        def judge(quoter: Quoter, found: FoundUnits) -> Ints:
            with self._state:
                prices = quoter.prices(attribute, found.units, self.sales.bought(buyer))
                floors = quoter.floors(attribute, found.units, self.sales.opened)
            return judged(prices, found.matches, found.never_below, floors)

        return Ladders(self.quoters.find(attribute, tuples, judge))

    def ladder(self, attribute: str, values: Mapping[str, str | None], buyer: str) -> list[int]:
        height = offer_of(attribute, self.offers).hierarchy.height
        found = self.quoters.find_one(Request(values, attribute, height))
        return [self.price(found, attribute, level, buyer) for level in range(height + 1)]

    def judge(self, request: Request, buyer: str) -> SealedSale | Refusal:
        check_request(request, self.offers)
        found = self.quoters.find_one(request)
        price = self.price(found, request.attribute, request.level, buyer)
        return SealedSale(price, found[0], found[1]) if price >= 0 else Refusal(REASON_OF[price])

    def price(self, found: FoundUnit, attribute: str, level: int, buyer: str) -> int:
        """The price of what a request has found, or a refusal."""
        quoter, unit, matches, never_below = found
        with self._state:
            price = quoter.price(attribute, unit, level, self.sales.bought(buyer))
            floor = quoter.floor(attribute, unit, self.sales.opened)
        return judged_at(level, matches, never_below, floor, price)

    def purchase(self, sale: SealedSale, request: Request, buyer: str, key: str, time: int | None) -> Purchase:
        return Purchase(buyer, key, request, sale.price, self._answer(sale, request), None, time)

    def _answer(self, sale: SealedSale, request: Request) -> str:
        """The one place where a private value is read. At the root nothing is told, and nothing need be read."""
        offer, attribute = self.offers[request.attribute], request.attribute
        if request.level == offer.hierarchy.height and not offer.may_be_absent:
            return offer.hierarchy.root_label
        row = int(sale.quoter.sold[attribute].priced.units.rows.one(sale.unit)[0])
        return self._private.answer(attribute, request.level, sale.quoter.view.index, row)

    def add(self, sale: SealedSale, purchase: Purchase) -> None:
        self.sales.add(purchase, sale.quoter, sale.unit)

    def recount(self, told: Sequence[AboutBuyer]) -> None:
        sales = SealedSales(self.quoters)
        sales.take_in(told)
        self.sales = sales

    def quote_query(self, query: GeneralizedQuery, buyer: str) -> Quote | Refusal:
        raise InputError('a sealed provider quotes requests, not queries; price them with quotes = "paper"')

    def count_sales(self, purchases: Sequence[Purchase]) -> CountedShop:
        sales = SealedSales(self.quoters)
        due = {buyer: CountedSales() for buyer in sorted({purchase.buyer for purchase in purchases})}
        found = self.quoters.find_all([purchase.request for purchase in purchases])
        for purchase, (quoter, unit, _, _) in zip(purchases, found, strict=True):
            attribute, level = purchase.request.attribute, purchase.request.level
            bought = sales.bought(purchase.buyer)
            due[purchase.buyer].due += quoter.price(attribute, unit, level, bought)
            sales.add(purchase, quoter, unit)
        policies = range(1, len(self.terms.policies) + 1)
        return CountedShop([self._groups(number, sales) for number in policies], due)

    def _groups(self, policy: int, sales: SealedSales) -> CountedGroups:
        def parts() -> Iterator[JudgedGroups]:
            return (part for part, _ in self._judged(policy, sales))

        counted = CountedGroups(GroupsBehind(parts), unlinked_rows=self.quoters.unlinked(policy))
        last = 0
        for part, guard in self._judged(policy, sales):
            counted.groups += len(part.margin)
            counted.margins.update(part.margin.tolist())
            counted.short_together += int((part.margin < 0).sum())
            last += int(guard.needed(guard.group_sizes).sum())
        reserved, levels = self.quoters.reserved(policy), self.quoters.safe_levels(policy)
        if reserved is None:
            open_rows = self.rows - counted.unlinked_rows - sales.opened.closed(policy)
            counted.kept_back = KeptBack(last if levels else 0, levels, open_rows)
        else:
            counted.kept_back = KeptBack(reserved, levels)
        return counted

    def _judged(self, policy: int, sales: SealedSales) -> Iterator[tuple[JudgedGroups, Guard]]:
        """A policy's X-groups with their margins, and the guard that has judged them, part by part."""
        for quoter in self.quoters.by_group(policy, sales.touched):
            guard = quoter.guards[policy - 1]
            margin = guard.least_kept(sales.opened.pooled) - guard.enough
            yield JudgedGroups(guard.group, margin, [quoter.view.index.columns[a] for a in guard.policy.x]), guard
