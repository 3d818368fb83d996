"""The client at the counter: ask, pay, and know what is left.

Paper: AskPrice and Pay in Alg. 3.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pacas.client.cleaning import NOT_SOLD, Observer, Order, Purchase, Unrepaired
from pacas.client.current import CurrentRelation
from pacas.client.offers import Offered
from pacas.client.requests import Choice, generate_request
from pacas.core.histogram import Ints
from pacas.errors import InputError, PacasError
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Refusal


class Buyer:
    """Buys a value per class, at most for its allowance, under keys made from the run's name and the step's number."""

    def __init__(
        self, marketplace: Marketplace, offers: Mapping[str, Offered], budget: int, run: str, observer: Observer
    ) -> None:
        self.offers = offers
        self.remaining = budget
        self.purchases: list[Purchase] = []
        self.observer = observer
        self._marketplace = marketplace
        self._run = run
        self._step = 0

    @property
    def columns(self) -> set[str]:
        """The columns that some offer needs."""
        return {column for offered in self.offers.values() for column in offered.offer.columns}

    def buy(self, attribute: str, rows: Ints, allowance: int, current: CurrentRelation) -> Purchase | Unrepaired:
        """What is bought for a class, or why nothing is. Nothing is written yet."""
        step, self._step = self._step, self._step + 1
        outcome = self.observer.recall(step)
        if outcome is None:
            outcome = self._bargain(step, attribute, rows, allowance, current)
            self.observer.settled(step, outcome)
        elif outcome.attribute != attribute or not np.array_equal(outcome.rows, rows):
            raise InputError(f"the record of step {step} is about another class; is it of the same table and run?")
        if isinstance(outcome, Purchase):
            self.remaining -= outcome.price
            self.purchases.append(outcome)
        return outcome

    def _bargain(
        self, step: int, attribute: str, rows: Ints, allowance: int, current: CurrentRelation
    ) -> Purchase | Unrepaired:
        offered = self.offers.get(attribute)
        if offered is None:
            return Unrepaired(attribute, rows, NOT_SOLD)
        choice = generate_request(rows, offered, allowance, current, self._marketplace)
        if isinstance(choice, str):
            return Unrepaired(attribute, rows, choice)
        return self._pay(step, rows, choice)

    def _pay(self, step: int, rows: Ints, choice: Choice) -> Purchase | Unrepaired:
        """Pay what was quoted, or less if it has become cheaper; never more."""
        request, key = choice.request, f"{self._run}:{step}"
        self.observer.ordering(Order(step, request.attribute, choice.row, request, choice.price, key))
        answer = self._marketplace.pay(request, choice.price, key)
        if isinstance(answer, Refusal):
            return Unrepaired(request.attribute, rows, answer.reason.value)
        if not 0 <= answer.price <= choice.price:
            raise PacasError(
                f"the provider charged another price than it had quoted, for step {step}; nothing is written"
            )
        return Purchase(request.attribute, rows, choice.row, answer.level, answer.value, answer.price, key)
