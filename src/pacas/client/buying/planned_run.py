"""Steps that are planned one after the other and paid in one go, as long as all comes as it was planned.

What is bought is what would be bought one by one: a step is planned only where its class, its share of the money and
its request follow from the prices before it alone, and it is paid only if those were paid, and quoted what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pacas.client.buying.question import AskedTuples, Question
from pacas.client.outcome.steps import BoughtValue, Order, PlannedStep, Unrepaired
from pacas.protocol.messages import MOST_QUOTED, QuotedLadder

Plan = Callable[[int, Question, int], tuple[PlannedStep, AskedTuples | None]]
"""From a step's number, its question and the money that remains: what to do, and the quotes that say so."""


class PlannedRun:
    """Steps from `first` on; an interrupted run's are recalled. It begins with an order, or is one step."""

    def __init__(self, first: int, remaining: int, plan: Plan, most: int, recalled: Sequence[PlannedStep] = ()) -> None:
        self.first, self.remaining = first, remaining
        """The number of its first step, and the money that remains if all costs what it is planned to."""
        self.questions: list[Question] = []
        self.steps: list[PlannedStep] = []
        self.is_recalled = bool(recalled)
        self._plan, self._recalled = plan, recalled
        self._most = len(recalled) or most
        self.outcome: BoughtValue | Unrepaired | None = None
        """What the one step came to, where an earlier run has recorded that."""
        self._waiting: list[QuotedLadder] = []
        """What was quoted since the last order."""

    @property
    def goes_on(self) -> bool:
        """Whether another step may be added."""
        is_open = len(self.steps) == len(self.questions) < self._most
        return is_open and (self.is_recalled or isinstance(self.steps[0], Order))

    def add(self, question: Question) -> None:
        """Plan what to do about a question. One that depends on too many quotes is left for the next run."""
        number = len(self.questions)
        self.questions.append(question)
        if self._recalled:
            step: PlannedStep = self._recalled[number]
        else:
            step, quoted = self._plan(self.first + number, question, self.remaining)
            if number:
                self._waiting += () if quoted is None else quoted.each()
                if len(self._waiting) > MOST_QUOTED:
                    return
                if isinstance(step, Order):
                    step, self._waiting = step._replace(quoted=tuple(self._waiting)), []
        self.steps.append(step)
        self.remaining -= step.ceiling if isinstance(step, Order) else 0

    def close(self) -> None:
        """Leave the steps after the last order for the next run: what they are quoted may be another by then."""
        while len(self.steps) > 1 and isinstance(self.steps[-1], Unrepaired):
            self.steps.pop()

    def orders(self) -> list[tuple[Order, Question]]:
        pairs = zip(self.steps, self.questions, strict=False)
        return [(step, question) for step, question in pairs if isinstance(step, Order)]

    def outcomes(self, told: Sequence[BoughtValue | Unrepaired]) -> list[BoughtValue | Unrepaired]:
        """What came of the steps up to the last order that was answered; `told` is what came of the first orders."""
        found: list[BoughtValue | Unrepaired] = []
        passed: list[Unrepaired] = []
        answers: Any = iter(told)
        for step in self.steps:
            if isinstance(step, Unrepaired):
                passed.append(step)
                continue
            outcome = next(answers, None)
            if outcome is None:
                break
            found += [*passed, outcome]
            passed = []
        return found


class Pace:
    """How many steps are planned ahead: twice as many while all are sold, and as many as were where they are not.

    Where each purchase changes what comes next, planning is in vain, and is tried again ever more seldom.
    """

    def __init__(self, most: int) -> None:
        self._most, self._length = most, min(most, BEGIN)
        self._pause, self._rest = 1, 0

    @property
    def ahead(self) -> int:
        return 1 if self._rest else self._length

    def paid(self, sold: int, ordered: int) -> None:
        if ordered == 1:
            self._rest = max(self._rest - 1, 0)
        elif sold == ordered:
            self._length, self._pause = min(2 * self._length, self._most), 1
        elif sold > 1:
            self._length = sold
        else:
            self._length, self._rest, self._pause = min(2, self._most), self._pause, min(2 * self._pause, self._most)


BEGIN = 8
