"""What has been sold at which levels, as it bears on the next sealed quote. No answer enters it."""

from __future__ import annotations

from collections.abc import Iterable

from pacas.provider.ledger.entry import Purchase
from pacas.provider.quoter.bought_levels import BoughtLevels
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.shop.contract import RecordedSales


class SealedSales(RecordedSales):
    """Per buyer the levels bought, and what was paid. Private to one provider, under its lock."""

    def __init__(self, quoter: Quoter) -> None:
        super().__init__()
        self._quoter = quoter
        self._bought: dict[str, BoughtLevels] = {}
        self._nothing = BoughtLevels()
        self.opened = quoter.all_open()
        """The rows that purchases have left open, where a policy asks."""
        self.pooled = BoughtLevels()
        """What all buyers have bought together."""

    def bought(self, buyer: str) -> BoughtLevels:
        """What a buyer has bought: its prices count what that has left."""
        return self._bought.get(buyer, self._nothing)

    def add(self, purchase: Purchase, unit: int) -> None:
        """Take in one purchase of a unit; at the root, where several are found, it tells nothing."""
        request = purchase.request
        sold = self._quoter.sold[request.attribute]
        if unit >= 0:
            for bought in (self.pooled, self._bought.setdefault(purchase.buyer, BoughtLevels())):
                bought.learn(sold.priced, sold.place, unit, request.level)
            self.opened.learn(request.attribute, unit, request.level)
        self._count(purchase)

    def replay(self, purchases: Iterable[Purchase]) -> None:
        for purchase in purchases:
            unit, _, _ = self._quoter.sold[purchase.request.attribute].find_one(purchase.request)
            self.add(purchase, unit)
