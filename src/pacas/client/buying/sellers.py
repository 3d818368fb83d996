"""What several providers offer a client. Who cannot be asked, or finds nobody by the client's columns, costs a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pacas.client.buying.offers import LacksColumn, MaxLevel, check_marketplace, find_offers
from pacas.client.buying.own_names import OwnColumns, in_own_names
from pacas.client.buying.panel import FAILURES, Seller, failure_line
from pacas.engine.contract import Source
from pacas.errors import InputError
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer

Markets = Marketplace | Mapping[str, Marketplace]
"""Where a cleaning buys: of one provider, or of several by name."""


class FoundSellers(NamedTuple):
    """Those that can be bought from, and a line for each that cannot."""

    sellers: Mapping[str | None, Seller]
    """By name; one alone has none."""
    lines: Mapping[str, str]

    @property
    def catalogue(self) -> dict[str, Offer]:
        """What is for sale; of several offers of an attribute the first counts."""
        offers = [offer for seller in self.sellers.values() for offer in seller.marketplace.catalogue().values()]
        found: dict[str, Offer] = {}
        for offer in offers:
            found.setdefault(offer.attribute, offer)
        return found


def find_sellers(
    markets: Mapping[str, Marketplace],
    columns: OwnColumns,
    wanted: Callable[[Mapping[str, Offer]], set[str]],
    source: Source,
    max_level: MaxLevel,
) -> FoundSellers:
    """Ask each what it sells. The client's own names count for those who have the columns that are meant."""
    sellers: dict[str | None, Seller] = {}
    lines: dict[str, str] = {}
    for name, market in markets.items():
        check_marketplace(market)
        if not name:
            raise InputError("a provider among several needs a name; this one's is empty")
        try:
            own = in_own_names(market, meant(columns, market.catalogue()))
            catalogue = dict(own.catalogue())
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
            sellers[name] = Seller(own, find_offers(catalogue, wanted(catalogue), source, known, "finest"))
        except FAILURES as error:
            lines[name] = failure_line(error)
    if not sellers:
        why = "; ".join(f"{name}: {line}" for name, line in lines.items())
        raise InputError(f"none of the {len(markets)} providers can be bought from: {why}")
    return FoundSellers(sellers, lines)


def meant(columns: OwnColumns, catalogue: Mapping[str, Offer]) -> OwnColumns:
    """The client's own names of those columns that a provider has."""
    known = {name for offer in catalogue.values() for name in (offer.attribute, *offer.columns)}
    return {own: theirs for own, theirs in columns.items() if theirs is None or theirs in known}
