"""SafeClean as in the paper: the class with most errors first, one value for each, within its share of the budget.

Paper: Alg. 3. Differs from the paper: what is written may be the client's own evidence (D11, `repair`); a class whose
errors are gone is not bought for; and the loop may run again on what it has repaired (`rounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pacas.client.buying.purchaser import Purchaser
from pacas.client.buying.question import Choice, Question, Unbought
from pacas.client.buying.requests import classes_of_one_tuple, generate_request
from pacas.client.classes.error_counts import ErrorCounts
from pacas.client.classes.generate_eqs import generate_eqs
from pacas.client.outcome.changes import net_changes
from pacas.client.outcome.steps import BUDGET_SPENT, NOT_SOLD, BoughtValue, Progress, Repair, Unrepaired
from pacas.client.paper.allocation import Allocation, Turn
from pacas.client.paper.repair import Repairs, Rule, ground, refine
from pacas.client.paper.selection import Selection
from pacas.client.strategy import Outcome, Task, spend
from pacas.core.histogram import Ints
from pacas.engine.new_cells import NewCells
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Request


class PaperStrategy:
    """The choices that Alg. 3 leaves open."""

    def __init__(self, allocate: Allocation, rule: Rule, rounds: int) -> None:
        self.allocate, self.rule, self.rounds = allocate, rule, rounds

    def clean(self, task: Task) -> Outcome:
        """Repair in rounds, each on what the last one has left."""
        # What a dry run supposes rules nothing out: then each class gets its most frequent value.
        rule = refine if task.buyer.supposing else self.rule
        buyer, named, table = task.buyer, task.named, task.table
        repairs = Repairs(rule)
        violations: list[int] = []
        for number in range(1, self.rounds + 1):
            counts = generate_eqs(task.engine, table, task.used, task.fds, named, task.hierarchies, self.rule is ground)
            violations.append(counts.violations)
            done_before = len(repairs)
            loop = _Round(counts, buyer, repairs, self.allocate, number)
            spend(loop, buyer)
            counts.close()
            named = still_named(named, repairs[done_before:])
            if len(repairs) == done_before or not buyer.remaining or number == self.rounds:
                break
            changes = net_changes(repairs[done_before:], task.source.columns)
            table = task.engine.changed(table, {a: NewCells(c.rows, c.new) for a, c in changes.items()})
        return Outcome(repairs, loop.left(), violations[0], counts.violations, number)


class _Round:
    """The loop of Alg. 3, on the unresolved classes of one round."""

    def __init__(
        self, counts: ErrorCounts, buyer: Purchaser, repairs: Repairs, allocate: Allocation, number: int
    ) -> None:
        self._counts, self._buyer, self._repairs = counts, buyer, repairs
        self._allocate, self._number = allocate, number
        self._eqs = Selection(counts.errors)
        self._is_alike = classes_of_one_tuple(counts, buyer.offers)
        self._iteration = 0
        self._unrepaired: list[Unrepaired] = []

    def next(self) -> Question | None:
        """Select a class, and ask for what its share of the money can buy."""
        counts = self._counts
        if self._buyer.remaining <= 0 or (eq := self._eqs.most_errors()) is None or not counts.errors[eq]:
            return None  # if this class has no errors, nor has any other: all are dropped
        self._eq = eq
        self._iteration += 1
        turn = Turn(int(counts.errors[eq]), counts.total, len(self._eqs), self._iteration)
        allowance = self._allocate(self._buyer.remaining, turn)
        attribute, places = counts.attribute(eq), counts.rows(eq)
        offered, is_alike = self._buyer.offers.get(attribute), bool(self._is_alike[eq])

        def choose(marketplace: Marketplace) -> Choice | Unbought:
            if offered is None:
                return Unbought(NOT_SOLD)
            return generate_request(places, offered, allowance, counts.current, marketplace, is_alike)

        return Question(attribute, counts.current.rows(places), choose, self._root)

    def take(self, question: Question, outcome: BoughtValue | Unrepaired) -> Progress:
        """ApplyRepair, and drop the class."""
        counts, eq = self._counts, self._eq
        self._eqs.drop(eq)
        counts.drop(eq)
        if isinstance(outcome, BoughtValue):
            self._repairs.apply(eq, outcome, counts, self._number)
            if (altered := counts.take_altered()) is not None:
                self._eqs.changed(altered, counts.errors[altered])
        else:
            self._unrepaired.append(outcome)
        return Progress(self._number, self._iteration, len(counts), self._buyer.spent, counts.violations)

    def left(self) -> list[Unrepaired]:
        """The classes that stay as they are, with those whose turn never came, as the money was gone."""
        counts = self._counts
        return self._unrepaired + [
            Unrepaired(a, counts.current.rows(counts.rows(eq)), BUDGET_SPENT if a in self._buyer.offers else NOT_SOLD)
            for eq in self._eqs.left()
            if counts.errors[eq] and (a := counts.attribute(eq))
        ]

    def _root(self, request: Request) -> str:
        """A dry run supposes an answer that tells nothing."""
        hierarchy = self._buyer.offers[request.attribute].offer.hierarchy
        return str(hierarchy.label(hierarchy.root))


def still_named(named: Mapping[str, Ints], repairs: Iterable[Repair]) -> dict[str, Ints]:
    """The named cells that no repair has reached."""
    left = dict(named)
    for repair in repairs:
        if repair.attribute in left:
            left[repair.attribute] = np.setdiff1d(left[repair.attribute], repair.rows)
    return {a: rows for a, rows in left.items() if len(rows)}
