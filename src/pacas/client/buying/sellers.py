"""What several providers offer a client. Who cannot be asked, or finds nobody by the client's columns, costs a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from pacas.client.buying.offers import LacksColumn, MaxLevel, check_marketplace, find_offers
from pacas.client.buying.own_names import OwnColumns, in_own_names
from pacas.client.buying.panel import FAILURES, LateSeller, Seller, failure_line
from pacas.engine.contract import Source
from pacas.errors import InputError
from pacas.protocol.marketplace import Marketplace, why_away
from pacas.protocol.messages import Offer

Markets = Marketplace | Mapping[str, Marketplace]
"""Where a cleaning buys: of one provider, or of several by name."""


class FoundSellers(NamedTuple):
    """Those that can be bought from, a line for each that cannot, and those that may be there at the end."""

    sellers: Mapping[str | None, Seller]
    """By name; one alone has none."""
    lines: Mapping[str, str]
    late: Mapping[str, LateSeller] = MappingProxyType({})

    @property
    def catalogue(self) -> dict[str, Offer]:
        """What is for sale; of several offers of an attribute the first counts that tells its values."""
        offers = [offer for seller in self.sellers.values() for offer in seller.catalogue.values()]
        found: dict[str, Offer] = {}
        for offer in sorted(offers, key=lambda offer: not offer.tells_values):
            found.setdefault(offer.attribute, offer)
        return found


def find_sellers(
    markets: Mapping[str, Marketplace],
    columns: OwnColumns,
    wanted: Callable[[Mapping[str, Offer]], set[str]],
    source: Source,
    max_level: MaxLevel,
    away: Mapping[str, Marketplace],
) -> FoundSellers:
    """Ask each what it sells. The client's own names count for those who have the columns that are meant.

    Who does not say it now is asked at the end, and so are those who are known to be `away`.
    """
    sellers: dict[str | None, Seller] = {}
    lines: dict[str, str] = {}

    def seller(name: str, market: Marketplace) -> Seller:
        own = in_own_names(market, meant(columns, market.catalogue()))
        told = own.catalogue()
        catalogue = dict(told)
        for attribute in list(catalogue):
            try:
                find_offers({attribute: catalogue[attribute]}, {attribute}, source, None, "finest")
            except LacksColumn as lack:
                lines[name] = str(lack)
                del catalogue[attribute]
        known = (
            {a: level for a, level in max_level.items() if a in catalogue}
            if isinstance(max_level, Mapping)
            else max_level
        )
        return Seller(own, find_offers(catalogue, wanted(catalogue), source, known, "finest"), told)

    def late_seller(why: str, name: str, market: Marketplace) -> LateSeller:
        return LateSeller(why, market, partial(seller, name, market))

    late = {name: late_seller(why_away(market) or AWAY_AT_FIRST, name, market) for name, market in away.items()}
    for name, market in markets.items():
        check_marketplace(market)
        if not name:
            raise InputError("a provider among several needs a name; this one's is empty")
        try:
            sellers[name] = seller(name, market)
        except FAILURES as error:
            late[name] = late_seller(failure_line(error), name, market)
    if not sellers:
        why = "; ".join(f"{name}: {one.why}" for name, one in late.items())
        raise InputError(f"none of the {len(late)} providers can be bought from: {why}")
    return FoundSellers(sellers, lines, late)


AWAY_AT_FIRST = "it was away when this run was begun"


def meant(columns: OwnColumns, catalogue: Mapping[str, Offer]) -> OwnColumns:
    """The client's own names of those columns that a provider has."""
    known = {name for offer in catalogue.values() for name in (offer.attribute, *offer.columns)}
    return {own: theirs for own, theirs in columns.items() if theirs is None or theirs in known}
