"""What may be bought: a run asks here before each order, and waits until somebody has said so.

An order is approved when it comes up; or beforehand, by its line of the plan at no more than was planned, or by an
allowance that whatever comes is paid from; the journal keeps that. Nothing here pays: what is answered goes back to the
run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Condition
from typing import Any, NamedTuple

from pacas.client.outcome.approved_ahead import ApprovedAhead, PlannedOrder
from pacas.client.outcome.steps import REJECTED, Order
from pacas.core.histogram import Ints
from pacas.formats.journal.journal import Journal


class Stopped(Exception):
    """The review ends, and nobody will answer."""


class Waiting(NamedTuple):
    """An order that somebody has to decide on, and the cells that its answer is about."""

    order: Order
    rows: Ints


class Approvals:
    """The decisions on one run. The run asks in its thread; pages answer in theirs.

    Whoever is told of a change may ask here again, so that it is told outside of the lock.
    """

    def __init__(self, journal: Journal, changed: Callable[[], None] = lambda: None) -> None:
        self._condition = Condition()
        self._journal = journal
        self._tell = changed
        self._closed = False
        self._waiting: Waiting | None = None
        self._answer: Order | str | None = None

    @property
    def waiting(self) -> Waiting | None:
        """The order that somebody has to decide on now."""
        with self._condition:
            return self._waiting if self._answer is None else None

    @property
    def ahead(self) -> ApprovedAhead:
        """What is approved and has not come up."""
        return self._journal.ahead

    # ---- the run's side ---------------------------------------------------------------------------------------

    def ask(self, order: Order, rows: Ints) -> Order | str:
        """The order to pay, or why nothing is bought; it waits for somebody, if nothing was said beforehand."""
        with self._condition:
            if self._closed:
                raise Stopped
            self._answer = order if order.key in self._journal.unanswered else self.ahead.answer(order)
            if self._answer is not None:
                return self._answer
            self._waiting = Waiting(order, rows)
        self._tell()
        with self._condition:
            while self._answer is None and not self._closed:
                self._condition.wait()
            self._waiting = None
            if self._answer is None:
                raise Stopped
            return self._answer

    # ---- somebody's side --------------------------------------------------------------------------------------

    def answer(self, key: str, answer: Order | str, first: Callable[[], None] = lambda: None) -> bool:
        """Decide on the order that waits; False if it is another one by now, decided on in another window.

        `first` is done before the run hears of it, and not at all if the order is another one.
        """
        with self._condition:
            if self._waiting is None or self._waiting.order.key != key or self._answer is not None or self._closed:
                return False
            first()
            self._settle(answer)
            return True

    def approve_planned(self, lines: Sequence[PlannedOrder]) -> None:
        """These, whenever they come up, at no more than this."""
        self._decide(orders=lines)

    def allow(self, amount: int) -> None:
        """Whatever comes, until it has cost so much; a further allowance takes the place of the one before."""
        self._decide(allowance=amount)

    def withdraw(self) -> None:
        """Take back all that was approved beforehand and has not come up."""
        self._decide(withdrawn=True)

    def buy_no_more(self) -> None:
        """Reject whatever comes: the run goes to its end with what is bought."""
        self._decide(no_more=True)

    def _decide(self, **what: Any) -> None:
        with self._condition:
            self._journal.approve_ahead(**what)
            self._look_again()
        self._tell()

    def reject(self, attribute: str, row: int, provider: str | None = None) -> None:
        """Not this one, whenever it comes up; if it waits, it is decided on."""
        with self._condition:
            self._journal.reject(attribute, row, provider)
            order = None if self._waiting is None else self._waiting.order
            rejected = (attribute, row, provider)
            if order is not None and (order.attribute, order.row, order.provider) == rejected and self._answer is None:
                self._settle(REJECTED)
        self._tell()

    def close(self) -> None:
        """Nobody answers any more."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _look_again(self) -> None:
        if self._waiting is not None and self._answer is None:
            answer = self.ahead.answer(self._waiting.order)
            if answer is not None:
                self._settle(answer)

    def _settle(self, answer: Order | str) -> None:
        self._answer = answer
        self._condition.notify_all()
