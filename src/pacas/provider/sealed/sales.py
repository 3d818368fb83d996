"""What has been sold at which levels, as it bears on the next sealed quote. No answer enters it."""

from __future__ import annotations

from collections.abc import Iterable

from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.provider.ledger.entry import Purchase
from pacas.provider.quoter.open_rows import OpenRows
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.quoter.quoters import Quoters
from pacas.provider.shop.contract import Kept, RecordedSales


class SealedSales(RecordedSales):
    """Per buyer the levels bought, and what was paid. Private to one provider, under its lock."""

    def __init__(self, quoters: Quoters) -> None:
        super().__init__()
        self._quoters = quoters
        self._bought: dict[str, BoughtLevels] = {}
        self._nothing = BoughtLevels()
        self.opened = OpenRows()
        """What all buyers have bought together, and the rows that it has left open, where a policy asks."""
        self.touched = 0
        """Of how many rows something was bought, at the most."""
        for quoter, (buyer, attribute, unit, level) in quoters.sold_before:
            self._learn(buyer, quoter, attribute, unit, level)

    def bought(self, buyer: str) -> BoughtLevels:
        """What a buyer has bought: its prices count what that has left."""
        return self._bought.get(buyer, self._nothing)

    def add(self, purchase: Purchase, quoter: Quoter, unit: int) -> None:
        """Take in one purchase of a unit; at the root, where several are found, it tells nothing."""
        if unit >= 0:
            self._learn(purchase.buyer, quoter, purchase.request.attribute, unit, purchase.request.level)
        self._count(purchase)

    def _learn(self, buyer: str, quoter: Quoter, attribute: str, unit: int, level: int) -> None:
        sold = quoter.sold[attribute]
        self.touched += int(sold.priced.units.sizes[unit])
        self._bought.setdefault(buyer, BoughtLevels()).learn(sold.priced, sold.place, unit, level)
        self.opened.learn(quoter.watched, sold, unit, level)

    def learn_elsewhere(self, purchase: Purchase) -> bool:
        ((quoter, unit, _, _),) = self._quoters.find_all([purchase.request])
        if unit >= 0:
            self._learn(purchase.buyer, quoter, purchase.request.attribute, unit, purchase.request.level)
        return unit >= 0

    def replay(self, purchases: Iterable[Purchase]) -> None:
        taken = list(purchases)
        found = self._quoters.find_all([purchase.request for purchase in taken])
        for purchase, (quoter, unit, _, _) in zip(taken, found, strict=True):
            self.add(purchase, quoter, unit)

    @property
    def kind(self) -> str:
        return f"{super().kind} of {type(self._quoters).__name__}"

    def _kept(self) -> Kept:
        bought = {buyer: levels.plain() for buyer, levels in self._bought.items()}
        return {"bought": bought, "opened": self.opened.plain(), "touched": self.touched}

    def _take_back(self, kept: Kept) -> None:
        self._bought = {buyer: BoughtLevels.of_plain(levels) for buyer, levels in kept["bought"].items()}
        self.opened, self.touched = OpenRows.of_plain(kept["opened"]), kept["touched"]
