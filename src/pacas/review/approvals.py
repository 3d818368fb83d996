"""What may be bought: a run asks here before each order, and waits until somebody has said so.

An order is approved when it comes up; or beforehand, by its line of the plan at no more than was planned, or by an
allowance that whatever comes is paid from. Nothing here pays: what is answered goes back to the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Condition
from typing import NamedTuple

from pacas.client.outcome.steps import REJECTED, Order
from pacas.core.histogram import Ints


class Stopped(Exception):
    """The review ends, and nobody will answer."""


class Waiting(NamedTuple):
    """An order that somebody has to decide on, and the cells that its answer is about."""

    order: Order
    rows: Ints


class PlannedOrder(NamedTuple):
    """A line of the plan: whom to ask about what, at which level, for at most how much."""

    attribute: str
    row: int
    level: int
    most: int

    @classmethod
    def of(cls, order: Order) -> PlannedOrder:
        return cls(order.attribute, order.row, order.request.level, order.ceiling)


class Approvals:
    """The decisions of one review. The run asks in its thread; pages answer in theirs.

    Whoever is told of a change may ask here again, so that it is told outside of the lock.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._condition = Condition()
        self._tell = changed
        self._planned: dict[tuple[str, int], PlannedOrder] = {}
        self._allowance = 0
        self._no_more = False
        self._closed = False
        self._waiting: Waiting | None = None
        self._answer: Order | str | None = None

    @property
    def waiting(self) -> Waiting | None:
        """The order that somebody has to decide on now."""
        with self._condition:
            return self._waiting if self._answer is None else None

    @property
    def allowance(self) -> int:
        """What whatever comes may still cost without a further question."""
        return self._allowance

    @property
    def buys_no_more(self) -> bool:
        return self._no_more

    @property
    def planned(self) -> int:
        """How many lines of a plan are approved and have not come up."""
        return len(self._planned)

    def is_planned(self, order: PlannedOrder) -> bool:
        known = self._planned.get((order.attribute, order.row))
        return known is not None and _fits(order, known)

    # ---- the run's side ---------------------------------------------------------------------------------------

    def ask(self, order: Order, rows: Ints) -> Order | str:
        """The order to pay, or why nothing is bought; it waits for somebody, if nothing was said beforehand."""
        with self._condition:
            if self._closed:
                raise Stopped
            self._answer = self._beforehand(order)
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

    def _beforehand(self, order: Order) -> Order | str | None:
        at, line = (order.attribute, order.row), PlannedOrder.of(order)
        if self._no_more:
            return REJECTED
        if self.is_planned(line):
            del self._planned[at]
            return order
        if 0 < order.ceiling <= self._allowance or (order.ceiling == 0 and self._allowance):
            self._allowance -= order.ceiling
            return order
        return None

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

    def approve_planned(self, lines: Iterable[PlannedOrder]) -> None:
        """These, whenever they come up, at no more than this."""
        with self._condition:
            self._planned |= {(line.attribute, line.row): line for line in lines}
            self._look_again()
        self._tell()

    def allow(self, amount: int) -> None:
        """Whatever comes, until it has cost so much; a further allowance takes the place of the one before."""
        with self._condition:
            self._allowance = amount
            self._look_again()
        self._tell()

    def reject(self, attribute: str, row: int) -> None:
        """Not this one: what was approved of it is taken back, and if it waits, it is decided on.

        The journal has it, and answers for whenever it comes up.
        """
        with self._condition:
            self._planned.pop((attribute, row), None)
            order = None if self._waiting is None else self._waiting.order
            if order is not None and (order.attribute, order.row) == (attribute, row) and self._answer is None:
                self._settle(REJECTED)
        self._tell()

    def withdraw(self) -> None:
        """Take back all that was approved beforehand and has not come up."""
        with self._condition:
            self._planned.clear()
            self._allowance = 0
        self._tell()

    def buy_no_more(self) -> None:
        """Reject whatever comes: the run goes to its end with what is bought."""
        with self._condition:
            self._no_more = True
            self._look_again()
        self._tell()

    def close(self) -> None:
        """Nobody answers any more."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def reopen(self, *, buying: bool) -> None:
        """A run begins again; what was decided beforehand stays decided. `buying`, even if nothing more was bought."""
        with self._condition:
            self._closed = False
            self._no_more = self._no_more and not buying

    def _look_again(self) -> None:
        if self._waiting is not None and self._answer is None:
            answer = self._beforehand(self._waiting.order)
            if answer is not None:
                self._settle(answer)

    def _settle(self, answer: Order | str) -> None:
        self._answer = answer
        self._condition.notify_all()


def _fits(order: PlannedOrder, planned: PlannedOrder) -> bool:
    return order.level == planned.level and order.most <= planned.most
