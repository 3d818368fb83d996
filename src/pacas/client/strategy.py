"""The seam between ways to spend a budget: what a cleaning is given, what it asks next, and what comes of it.

One loop serves them all (`spend`): ask what is next, buy it, tell what it was. Journals, resumed runs, dry runs and
marketplaces know nothing of strategies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pacas.client.buying.offers import Offered
from pacas.client.buying.purchaser import Purchaser
from pacas.client.buying.question import Question
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
        """The columns that matter, in their order."""
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


def spend(spending: Spending, buyer: Purchaser) -> None:
    """Ask and buy until there is nothing more to ask."""
    while (question := spending.next()) is not None:
        buyer.observer.progressed(spending.take(question, buyer.buy(question)))
