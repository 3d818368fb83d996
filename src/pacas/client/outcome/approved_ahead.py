"""What a steward approved before it came up: orders of a plan, each for no more than was seen there, or an amount.

The journal keeps it, so that what was approved is paid, and nothing else, whoever goes on after a crash.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pacas.client.outcome.steps import REJECTED, Order


class PlannedOrder(NamedTuple):
    """A line of the plan: whom to ask about what, at which level, for at most how much."""

    attribute: str
    row: int
    level: int
    most: int
    provider: str | None = None
    """Who is asked, where there are several."""

    @classmethod
    def of(cls, order: Order) -> PlannedOrder:
        return cls(order.attribute, order.row, order.request.level, order.ceiling, order.provider)

    @property
    def place(self) -> Place:
        """All but the money."""
        return self.attribute, self.row, self.level, self.provider


Place = tuple[str, int, int, str | None]


class ApprovedAhead:
    """What is approved and has not come up."""

    def __init__(self) -> None:
        self._orders: dict[Place, PlannedOrder] = {}
        self.allowance = 0
        """What whatever comes may still cost without a further question."""
        self.buys_no_more = False
        self.decisions = 0
        """How often somebody approved something ahead, or took it back."""

    @property
    def orders(self) -> list[PlannedOrder]:
        return list(self._orders.values())

    def __len__(self) -> int:
        """How many lines of a plan are approved."""
        return len(self._orders)

    def __contains__(self, order: PlannedOrder) -> bool:
        """Whether an order may be paid by its line of the plan: at this level, and for no more."""
        known = self._orders.get(order.place)
        return known is not None and order.most <= known.most

    def answer(self, order: Order) -> Order | str | None:
        """The order to pay, or why nothing is bought; None if nothing was said of it."""
        if self.buys_no_more:
            return REJECTED
        if PlannedOrder.of(order) in self:
            return order
        if self.allowance and order.ceiling <= self.allowance:
            return order._replace(allowed=True)
        return None

    def ordered(self, order: Order) -> None:
        """An order is about to be paid: what was said of it has come up."""
        self.take_back(order.attribute, order.row, order.provider, order.request.level)
        if order.allowed:
            self.allowance = max(self.allowance - order.ceiling, 0)

    def take_back(self, attribute: str, row: int, provider: str | None = None, finest: int = 0) -> None:
        """All lines of a row, or those from a level up: a plan may ask about a row again, at a finer level."""
        for line in self.orders:
            if (line.attribute, line.row, line.provider) == (attribute, row, provider) and line.level >= finest:
                del self._orders[line.place]

    def decide(
        self,
        orders: Iterable[PlannedOrder] = (),
        allowance: int | None = None,
        *,
        withdrawn: bool = False,
        no_more: bool = False,
    ) -> None:
        """More orders, another amount; `withdrawn`: nothing of what was approved; `no_more`: nothing is bought."""
        self.decisions += 1
        if withdrawn:
            self._orders.clear()
            self.allowance = 0
        self._orders |= {line.place: line for line in orders}
        if allowance is not None:
            self.allowance = allowance
        self.buys_no_more |= no_more
