"""The seam between ways to spend a budget: what a cleaning is given, what it asks next, and what comes of it.

One loop serves them all (`spend`): ask what is next, buy it, tell what it was. Journals, resumed runs, dry runs and
marketplaces know nothing of strategies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pacas.client.buying.offers import Offered
from pacas.client.buying.panel import PanelPurchaser
from pacas.client.buying.purchaser import Purchaser
from pacas.client.buying.question import Question
from pacas.client.outcome.changes import Changes
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.panel_summary import PanelSummary
from pacas.client.outcome.steps import BoughtValue, Progress, Repair, Unrepaired
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints
from pacas.engine.contract import Engine, Hierarchies, Source, Table


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A relation to clean, and all that a strategy may use."""

    engine: Engine[Any]
    source: Source
    table: Table
    fds: Sequence[FunctionalDependency]
    named: Mapping[str, Ints]
    """Cells that another error detector has named, by attribute."""
    hierarchies: Hierarchies
    offers: Mapping[str, Offered]
    buyer: Purchaser

    @property
    def used(self) -> list[str]:
        """The columns that matter, in their order: all of them, while somebody may come who looks rows up by others."""
        if isinstance(self.buyer, PanelPurchaser) and self.buyer.late:
            return list(self.source.columns)
        named = {a for fd in self.fds for a in fd.attributes} | {*self.named} | self.buyer.columns
        return [column for column in self.source.columns if column in named]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a strategy has made of its task."""

    repairs: Sequence[Repair]
    unrepaired: Sequence[Unrepaired]
    violations_before: int
    violations_after: int
    rounds: int = 1
    weighing: Judgement | None = None
    panel: PanelSummary | None = None
    changes: Mapping[str, Changes] | None = None
    """What the repairs come to, where it is known by now."""


class Strategy(Protocol):
    """A way to clean."""

    def clean(self, task: Task) -> Outcome: ...


class Spending(Protocol):
    """A budget being spent."""

    def next(self) -> Question | None:
        """What to ask; None to stop."""
        ...

    def take(self, question: Question, outcome: BoughtValue | Unrepaired) -> Progress:
        """What came of it."""
        ...


@runtime_checkable
class PlansAhead(Spending, Protocol):
    """A budget being spent by who often knows what comes next whatever is answered."""

    def following(self, remaining: int) -> Question | None:
        """What to ask after what was asked and is not answered, if that costs what it was quoted, and so much remains.

        None, if it depends on the answers.
        """
        ...

    def withdraw(self, questions: int) -> None:
        """The last so many questions are not asked now."""
        ...


def spend(spending: Spending, buyer: Purchaser) -> None:
    """Ask and buy until there is nothing more to ask: in runs, where it is known what comes next."""
    ahead = spending if isinstance(spending, PlansAhead) else None
    while (question := spending.next()) is not None:
        run = buyer.run(question)
        while ahead is not None and run.goes_on and (question := ahead.following(run.remaining)) is not None:
            run.add(question)
        outcomes = buyer.pay(run)
        if ahead is not None and len(outcomes) < len(run.questions):
            ahead.withdraw(len(run.questions) - len(outcomes))
        for question, outcome in zip(run.questions, outcomes, strict=False):
            buyer.settle(run, outcome)
            buyer.observer.progressed(spending.take(question, outcome))
        buyer.end(run)
