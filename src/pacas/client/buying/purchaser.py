"""The client at the counter: ask, pay, and know what is left.

Paper: AskPrice and Pay in Alg. 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from pacas.client.buying.offers import Offered
from pacas.client.buying.planned_run import Pace, PlannedRun
from pacas.client.buying.question import AskedTuples, Question, Unbought
from pacas.client.buying.quotes_ahead import QuotesAhead
from pacas.client.outcome.steps import (
    CREDIT_USED_UP,
    TOO_EXPENSIVE,
    BoughtValue,
    Observer,
    Order,
    PlannedStep,
    Unrepaired,
)
from pacas.core.histogram import Ints
from pacas.core.money import credits_words
from pacas.errors import OverchargedError, ReplayError
from pacas.protocol.marketplace import Columns, Marketplace, SellingMany, most_at_once, pay_in_order
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
        self.quotes = QuotesAhead(marketplace)
        self._pace = Pace(most_at_once(marketplace))

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

    def admit(self, attribute: str, values: Iterable[str]) -> None:
        """Values that an attribute may have, which its sellers need not have told."""

    @property
    def spent(self) -> int:
        return self._budget - self.remaining

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

    @property
    def most_ahead(self) -> int:
        """How many steps are planned and paid in one go."""
        if self.supposing or not self.observer.asks_ahead:
            return 1
        return self._pace.ahead

    def run(self, question: Question) -> PlannedRun:
        """A run that begins with a question: as an earlier run had it, or planned now."""
        recalled = self.observer.recall(self._step)
        ordered = self.observer.recall_ahead(self._step) or ([recalled] if isinstance(recalled, Order) else ())
        run = PlannedRun(self._step, self.remaining, self._planned, self.most_ahead, ordered)
        if recalled is not None and not isinstance(recalled, Order):
            _check_recalled(recalled, self._step, question)
            run.questions.append(question)
            run.outcome = recalled
        else:
            run.add(question)
        return run

    def pay(self, run: PlannedRun) -> list[BoughtValue | Unrepaired]:
        """What came of the steps of a run, up to the first surprise. Nothing is settled yet, and nothing written."""
        if run.outcome is not None:
            return [run.outcome]
        run.close()
        orders = run.orders()
        if run.is_recalled:
            for number, (step, question) in enumerate(zip(run.steps, run.questions, strict=True)):
                _check_recalled(step, run.first + number, question)
        elif orders:
            self.observer.ordering(*run.steps)
        if not orders:
            return [step for step in run.steps if isinstance(step, Unrepaired)]
        self.quotes.clear()
        is_one = len(orders) == 1 and not orders[0][0].quoted
        told = [self._pay(*orders[0])] if is_one else self._pay_many(orders)
        self._pace.paid(len(told), len(orders))
        return run.outcomes(told)

    def settle(self, run: PlannedRun, outcome: BoughtValue | Unrepaired) -> None:
        """A step has its outcome: it is recorded, and its price is paid."""
        step, self._step = self._step, self._step + 1
        if outcome is not run.outcome:
            self.observer.settled(step, outcome)
        self.remaining -= outcome.price
        if isinstance(outcome, BoughtValue):
            self.purchases.append(outcome)

    def end(self, run: PlannedRun) -> None:
        """What was ordered and not sold is withdrawn."""
        if self._step < run.first + len(run.steps):
            self.observer.withdrawn(self._step)

    def _planned(self, step: int, question: Question, remaining: int) -> tuple[PlannedStep, AskedTuples | None]:
        choice = question.choose(self.quotes)
        if isinstance(choice, Unbought):
            return Unrepaired(question.attribute, question.rows, choice.reason, cheapest=choice.cheapest), choice.quoted
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
            return Unrepaired(question.attribute, question.rows, approved), choice.quoted
        if approved.ceiling > remaining:  # whoever approves cannot spend what is not there
            found = Unrepaired(question.attribute, question.rows, TOO_EXPENSIVE, cheapest=approved.ceiling)
            return found, choice.quoted
        return approved, choice.quoted

    def _pay_many(self, orders: Sequence[tuple[Order, Question]]) -> list[BoughtValue | Unrepaired]:
        """Pay in one go, up to the first surprise; whoever sells on after one has sold what was not asked for."""
        payments = [order.payment() for order, _ in orders]
        if most_at_once(self.marketplace) > 1:
            answers = cast(SellingMany, self.marketplace).pay_many(payments)
        else:
            answers = pay_in_order(self.marketplace, payments)
        told: list[BoughtValue | Unrepaired] = []
        for (order, question), answer in zip(orders, answers, strict=False):
            if told and not orders[len(told) - 1][0].is_as_planned(told[-1]):
                raise ReplayError(
                    f"the provider sold more than was asked for, at step {order.step}; nothing is written"
                )
            told.append(self._outcome(order, question, answer))
        return told

    def _pay(self, order: Order, question: Question) -> BoughtValue | Unrepaired:
        """Pay what was quoted, or less if it has become cheaper; never more."""
        if self.supposing:
            answer: Answer | Refusal = Answer(question.supposed(order.request), order.request.level, order.ceiling)
        else:
            answer = self.seller(order.provider).pay(order.request, order.ceiling, order.key)
        return self._outcome(order, question, answer)

    def _outcome(self, order: Order, question: Question, answer: Answer | Refusal) -> BoughtValue | Unrepaired:
        """What an answer makes of an order."""
        if isinstance(answer, Refusal):
            reason = CREDIT_USED_UP if answer.reason is Reason.CREDIT else answer.reason.value
            return Unrepaired(order.attribute, question.rows, reason)
        if answer.price < 0:
            raise ReplayError(f"the provider named a price below 0 for step {order.step}; nothing is written")
        if answer.price > order.ceiling:
            raise OverchargedError(
                f"the provider charged {credits_words(answer.price)} for step {order.step}, and no more than "
                f"{credits_words(order.ceiling)} was agreed to",
                answer.price,
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


def _check_recalled(recalled: BoughtValue | PlannedStep, step: int, question: Question) -> None:
    """What an earlier run recorded must be about the class whose turn it is."""
    rows = question.rows
    same = recalled.row in rows if isinstance(recalled, Order) else np.array_equal(recalled.rows, rows)
    if not isinstance(recalled, Unrepaired):
        same = same and recalled.provider == question.provider
    if recalled.attribute != question.attribute or not same:
        raise ReplayError(f"the record of step {step} is about another class; is it of the same table and run?")
