"""SafeClean as in the paper: the class with most errors first, one value for each, within its share of the budget.

Paper: Alg. 3. Differs from the paper: what is written may be the client's own evidence (D11, `repair`); a class whose
errors are gone is not bought for; and the loop may run again on what it has repaired (`rounds`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice

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
        self._upcoming: deque[int] = deque()
        """The classes whose turn comes next, as far as they were looked up; they are dropped from the selection."""
        self._asked: deque[int] = deque()
        """Those that were asked for and are not answered."""
        self._asked_errors = 0
        """Their errors, together."""
        self._tuples: dict[int, dict[str, str | None]] = {}
        """What classes are asked about by, as far as they were looked up and are not answered."""
        self._is_alike = classes_of_one_tuple(counts, buyer.offers)
        found_by = {column for offered in buyer.offers.values() for column in offered.offer.columns}
        self._bears = {a: a in found_by or counts.bears_on_others(a) for a in counts.classes.cells}
        """Per attribute: may a repair of it change what is asked next?"""
        self._iteration = 0
        self._unrepaired: list[Unrepaired] = []

    def next(self) -> Question | None:
        """Select a class, and ask for what its share of the money can buy."""
        return self._question(self._buyer.remaining)

    def following(self, remaining: int) -> Question | None:
        """The same for the class after it, if no repair before it can make a difference."""
        last = self._counts.attribute(self._asked[-1])
        if self._bears[last] and last in self._buyer.offers:
            return None
        return self._question(remaining)

    def withdraw(self, questions: int) -> None:
        self._upcoming.extendleft(self._asked.pop() for _ in range(questions))

    def _question(self, remaining: int) -> Question | None:
        counts = self._counts
        if remaining <= 0 or (eq := self._select()) is None:
            return None
        if not self._asked:
            self._asked_errors = 0
        iteration = self._iteration + len(self._asked) + 1
        classes = len(self._eqs) + len(self._upcoming) + 1
        errors = int(counts.errors[eq])
        allowance = self._allocate(remaining, Turn(errors, counts.total - self._asked_errors, classes, iteration))
        self._asked.append(eq)
        self._asked_errors += errors
        attribute, places = counts.attribute(eq), counts.rows(eq)
        offered, is_alike = self._buyer.offers.get(attribute), bool(self._is_alike[eq])

        def choose(marketplace: Marketplace) -> Choice | Unbought:
            if offered is None:
                return Unbought(NOT_SOLD)
            if is_alike and self._buyer.most_ahead > 1:
                self._look_ahead(eq)
            values = self._tuple(eq) if is_alike else None
            return generate_request(places, offered, allowance, counts.current, marketplace, values)

        return Question(attribute, counts.current.rows(places), choose, self._root)

    def _select(self) -> int | None:
        """The class with most errors, taken off those that are left; None if nothing is wrong with any."""
        if not self._upcoming:
            while len(self._upcoming) < self._buyer.most_ahead and (eq := self._eqs.most_errors()) is not None:
                self._eqs.drop(eq)
                self._upcoming.append(eq)
        if not self._upcoming or not self._counts.errors[self._upcoming[0]]:
            return None  # if this class has no errors, nor has any other: all are dropped
        return self._upcoming.popleft()

    def _look_ahead(self, eq: int) -> None:
        """Have a class quoted, and in the same call those of its attribute that may be paid with it."""
        quotes, attribute = self._buyer.quotes, self._counts.attribute(eq)
        if quotes.knows(attribute, self._tuple(eq)):
            return
        following = islice(self._upcoming, self._buyer.most_ahead - len(self._asked))
        alike = [n for n in following if self._counts.attribute(n) == attribute and self._is_alike[n]]
        quotes.fetch(attribute, [self._tuple(n) for n in (eq, *alike)])

    def _tuple(self, eq: int) -> dict[str, str | None]:
        """What a class is asked about by, where all its rows look alike to the provider."""
        if (found := self._tuples.get(eq)) is None:
            row, counts = int(self._counts.rows(eq)[-1]), self._counts
            columns = self._buyer.offers[counts.attribute(eq)].offer.columns
            found = self._tuples[eq] = {name: counts.current[name].text(row) for name in columns}
        return found

    def take(self, question: Question, outcome: BoughtValue | Unrepaired) -> Progress:
        """ApplyRepair, and drop the class."""
        counts, eq = self._counts, self._asked.popleft()
        self._iteration += 1
        counts.drop(eq)
        self._tuples.pop(eq, None)
        if isinstance(outcome, BoughtValue):
            self._repairs.apply(eq, outcome, counts, self._number)
            if (altered := counts.take_altered()) is not None:
                self._put_back()
                self._eqs.changed(altered, counts.errors[altered])
        else:
            self._unrepaired.append(outcome)
        return Progress(self._number, self._iteration, len(counts), self._buyer.spent, counts.violations)

    def _put_back(self) -> None:
        """Whose turn comes next is another question now."""
        for eq in self._upcoming:
            self._eqs.put_back(eq, int(self._counts.errors[eq]))
        self._upcoming.clear()

    def left(self) -> list[Unrepaired]:
        """The classes that stay as they are, with those whose turn never came, as the money was gone."""
        counts = self._counts
        self._put_back()
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
