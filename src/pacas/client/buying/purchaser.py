"""The client at the counter: ask, pay, and know what is left.

Paper: AskPrice and Pay in Alg. 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pacas.client.buying.offers import Offered
from pacas.client.buying.question import Question, Unbought
from pacas.client.outcome.steps import CREDIT_USED_UP, TOO_EXPENSIVE, BoughtValue, Observer, Order, Unrepaired
from pacas.core.histogram import Ints
from pacas.errors import ReplayError
from pacas.protocol.marketplace import Columns, Marketplace
from pacas.protocol.messages import ABSENT, Answer, Reason, Refusal


class Purchaser:
    """Buys a value per question, within a budget, under keys made from the run's name and the step's number.

    If it is only `supposing`, nothing is paid: answers are what the questions suppose, at the prices of now.
    """

    def __init__(
        self,
        marketplace: Marketplace,
        offers: Mapping[str, Offered],
        budget: int,
        run: str,
        observer: Observer,
        *,
        supposing: bool = False,
    ) -> None:
        self.offers = offers
        self.remaining = budget
        self.purchases: list[BoughtValue] = []
        self.observer = observer
        self.marketplace = marketplace
        self.supposing = supposing
        self._budget = budget
        self._run = run
        self._step = 0
        self._quoted = 0

    @property
    def columns(self) -> set[str]:
        """The columns that some offer needs."""
        return {column for offered in self.offers.values() for column in offered.offer.columns}

    def seller(self, provider: str | None) -> Marketplace:
        """Where an order goes; here there is one provider, and no order names it."""
        return self.marketplace

    def selling(self, attribute: str) -> Sequence[str | None]:
        """Who sells an attribute, in the order in which they were named; one provider has no name."""
        return [None] if attribute in self.offers else []

    def is_there(self, provider: str | None) -> bool:
        """Whether a provider can be asked now."""
        return True

    def offered(self, provider: str | None, attribute: str) -> Offered:
        """What a provider offers of an attribute."""
        return self.offers[attribute]

    @property
    def spent(self) -> int:
        return self._budget - self.remaining

    def recalled(self) -> BoughtValue | Unrepaired | Order | None:
        """What an earlier, interrupted run has recorded of the next step."""
        return self.observer.recall(self._step)

    def quote(self, provider: str | None, attribute: str, tuples: Columns) -> Ints | None:
        """Prices by which it is decided what to buy, for a while: an interrupted run that is continued has the same.

        None, if one of several providers does not answer.
        """
        number, self._quoted = self._quoted, self._quoted + 1
        prices = self.observer.recall_quotes(number)
        if prices is None:
            prices = self._ladders(provider, attribute, tuples)
            self.observer.quoted(number, prices)
        return prices

    def _ladders(self, provider: str | None, attribute: str, tuples: Columns) -> Ints:
        return self.seller(provider).quote_batch(attribute, tuples).prices

    def buy(self, question: Question) -> BoughtValue | Unrepaired:
        """What is bought, or why nothing is. Nothing is written yet."""
        recalled = self.recalled()
        step, self._step = self._step, self._step + 1
        if recalled is None:
            outcome = self._bargain(step, question)
        else:
            _check_recalled(recalled, step, question)
            outcome = self._pay(recalled, question) if isinstance(recalled, Order) else recalled
        if outcome is not recalled:
            self.observer.settled(step, outcome)
        self.remaining -= outcome.price
        if isinstance(outcome, BoughtValue):
            self.purchases.append(outcome)
        return outcome

    def _bargain(self, step: int, question: Question) -> BoughtValue | Unrepaired:
        choice = question.choose(self.marketplace)
        if isinstance(choice, Unbought):
            return Unrepaired(question.attribute, question.rows, choice.reason, cheapest=choice.cheapest)
        key = question.key or f"{self._run}:{step}"
        order = Order(
            step,
            question.attribute,
            choice.row,
            choice.request,
            choice.price,
            key,
            choice.differing,
            provider=question.provider,
        )
        approved = self.observer.approve(order, question.rows)
        if isinstance(approved, str):
            return Unrepaired(question.attribute, question.rows, approved)
        if approved.ceiling > self.remaining:  # whoever approves cannot spend what is not there
            return Unrepaired(question.attribute, question.rows, TOO_EXPENSIVE, cheapest=approved.ceiling)
        self.observer.ordering(approved)
        return self._pay(approved, question)

    def _pay(self, order: Order, question: Question) -> BoughtValue | Unrepaired:
        """Pay what was quoted, or less if it has become cheaper; never more."""
        answer: Answer | Refusal
        if self.supposing:
            answer = Answer(question.supposed(order.request), order.request.level, order.ceiling)
        else:
            answer = self.seller(order.provider).pay(order.request, order.ceiling, order.key)
        if isinstance(answer, Refusal):
            reason = CREDIT_USED_UP if answer.reason is Reason.CREDIT else answer.reason.value
            return Unrepaired(order.attribute, question.rows, reason)
        if not 0 <= answer.price <= order.ceiling:
            raise ReplayError(
                f"the provider charged another price than it had quoted, for step {order.step}; nothing is written"
            )
        if answer.value == ABSENT and self.offered(order.provider, order.attribute).offer.may_be_absent:
            return Unrepaired(order.attribute, question.rows, ABSENT, answer.price)
        return BoughtValue(
            order.attribute,
            question.rows,
            order.row,
            answer.level,
            answer.value,
            answer.price,
            order.key,
            order.differing,
            order.provider,
        )


def _check_recalled(recalled: BoughtValue | Unrepaired | Order, step: int, question: Question) -> None:
    """What an earlier run recorded must be about the class whose turn it is."""
    rows = question.rows
    same = recalled.row in rows if isinstance(recalled, Order) else np.array_equal(recalled.rows, rows)
    if not isinstance(recalled, Unrepaired):
        same = same and recalled.provider == question.provider
    if recalled.attribute != question.attribute or not same:
        raise ReplayError(f"the record of step {step} is about another class; is it of the same table and run?")
