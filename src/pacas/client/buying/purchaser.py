"""The client at the counter: ask, pay, and know what is left.

Paper: AskPrice and Pay in Alg. 3.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pacas.client.buying.offers import Offered
from pacas.client.buying.requests import generate_request
from pacas.client.classes.current_relation import CurrentRelation
from pacas.client.outcome.steps import NOT_SOLD, BoughtValue, Observer, Order, Unrepaired
from pacas.core.histogram import Ints
from pacas.errors import ReplayError
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import ABSENT, Refusal


class Purchaser:
    """Buys a value per class, at most for its allowance, under keys made from the run's name and the step's number."""

    def __init__(
        self, marketplace: Marketplace, offers: Mapping[str, Offered], budget: int, run: str, observer: Observer
    ) -> None:
        self.offers = offers
        self.remaining = budget
        self.purchases: list[BoughtValue] = []
        self.observer = observer
        self._marketplace = marketplace
        self._run = run
        self._step = 0

    @property
    def columns(self) -> set[str]:
        """The columns that some offer needs."""
        return {column for offered in self.offers.values() for column in offered.offer.columns}

    def buy(
        self, attribute: str, places: Ints, allowance: int, current: CurrentRelation, is_alike: bool
    ) -> BoughtValue | Unrepaired:
        """What is bought for a class, or why nothing is. Nothing is written yet."""
        step, self._step = self._step, self._step + 1
        rows = current.rows(places)
        recalled = self.observer.recall(step)
        if recalled is None:
            outcome = self._bargain(step, attribute, places, allowance, current, is_alike)
        else:
            _check_recalled(recalled, step, attribute, rows)
            outcome = self._pay(recalled, rows) if isinstance(recalled, Order) else recalled
        if outcome is not recalled:
            self.observer.settled(step, outcome)
        self.remaining -= outcome.price
        if isinstance(outcome, BoughtValue):
            self.purchases.append(outcome)
        return outcome

    def _bargain(
        self, step: int, attribute: str, places: Ints, allowance: int, current: CurrentRelation, is_alike: bool
    ) -> BoughtValue | Unrepaired:
        offered, rows = self.offers.get(attribute), current.rows(places)
        if offered is None:
            return Unrepaired(attribute, rows, NOT_SOLD)
        choice = generate_request(places, offered, allowance, current, self._marketplace, is_alike)
        if isinstance(choice, str):
            return Unrepaired(attribute, rows, choice)
        key, row, differing = f"{self._run}:{step}", current.row(choice.place), current.rows(choice.differing)
        order = Order(step, attribute, row, choice.request, choice.price, key, differing)
        self.observer.ordering(order)
        return self._pay(order, rows)

    def _pay(self, order: Order, rows: Ints) -> BoughtValue | Unrepaired:
        """Pay what was quoted, or less if it has become cheaper; never more."""
        answer = self._marketplace.pay(order.request, order.ceiling, order.key)
        if isinstance(answer, Refusal):
            return Unrepaired(order.attribute, rows, answer.reason.value)
        if not 0 <= answer.price <= order.ceiling:
            raise ReplayError(
                f"the provider charged another price than it had quoted, for step {order.step}; nothing is written"
            )
        if answer.value == ABSENT and self.offers[order.attribute].offer.may_be_absent:
            return Unrepaired(order.attribute, rows, ABSENT, answer.price)
        return BoughtValue(
            order.attribute, rows, order.row, answer.level, answer.value, answer.price, order.key, order.differing
        )


def _check_recalled(recalled: BoughtValue | Unrepaired | Order, step: int, attribute: str, rows: Ints) -> None:
    """What an earlier run recorded must be about the class whose turn it is."""
    same = recalled.row in rows if isinstance(recalled, Order) else np.array_equal(recalled.rows, rows)
    if recalled.attribute != attribute or not same:
        raise ReplayError(f"the record of step {step} is about another class; is it of the same table and run?")
