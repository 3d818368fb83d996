"""What a cleaning did: what was bought, what was written and why, and what stays as it is.

Money is in nanocredits, as everywhere behind the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.protocol.messages import Request

NOT_SOLD = "not_sold"
"""Nobody offers the attribute."""
TOO_EXPENSIVE = "too_expensive"
"""There are quotes, and none is within the class's allowance."""
BUDGET_SPENT = "budget_spent"
"""The money was gone before it was the class's turn."""


class Why(Enum):
    """Where the value that was written comes from (D11)."""

    BOUGHT = "bought"
    """It is the one that was bought."""
    EVIDENCE = "evidence"
    """It stood in the class, most often of those at or below the bought one."""
    COLUMN = "column"
    """It is the ground value below the bought one that is most frequent in the client's column."""


@dataclass(frozen=True, slots=True, eq=False)
class Purchase:
    """A value that was bought for the cells of a class, by asking about one of its rows."""

    attribute: str
    rows: Ints
    row: int
    level: int
    value: str
    price: int
    key: str
    """The idempotency key under which it was paid."""


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """What a purchase made of its class: `old[i]` stood in `rows[i]`, `new` stands there now."""

    attribute: str
    rows: Ints
    old: tuple[str | None, ...]
    new: str
    why: Why


@dataclass(frozen=True, slots=True, eq=False)
class Unrepaired:
    """A class that stays as it is.

    The reason is a provider's `Reason`, or not_sold, too_expensive, budget_spent.
    """

    attribute: str
    rows: Ints
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Cleaning:
    """The repaired relation, and how it came about."""

    relation: Relation
    purchases: tuple[Purchase, ...]
    repairs: tuple[Repair, ...]
    """One per purchase, in the same order."""
    unrepaired: tuple[Unrepaired, ...]
    """The classes that the last round left as they were."""
    budget: int
    spent: int
    violations_before: int
    violations_after: int
    rounds: int
    """How many rounds were run."""

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many classes were left, by reason."""
        counts: dict[str, int] = {}
        for left in self.unrepaired:
            counts[left.reason] = counts.get(left.reason, 0) + 1
        return counts

    def __repr__(self) -> str:
        return (
            f"Cleaning({len(self.purchases):,} purchases, {len(self.unrepaired):,} classes unrepaired, "
            f"{self.violations_before:,} violations before and {self.violations_after:,} after)"
        )


@dataclass(frozen=True, slots=True)
class Order:
    """What is about to be bought: nothing is paid yet."""

    step: int
    attribute: str
    row: int
    request: Request
    ceiling: int
    key: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a cleaning has come."""

    round: int
    done: int
    """Classes of this round that were looked at."""
    classes: int
    """Classes of this round."""
    spent: int
    violations: int
    """Violating pairs that are left."""


class Observer:
    """Told of each step of a cleaning as it happens; this one listens to nothing.

    Each class that is looked at is one step, numbered from 0 over all rounds; its outcome is told before it is
    applied. An observer that gives an outcome back when it is asked to recall a step replays that step: nothing is
    quoted, and nothing is paid.
    """

    def recall(self, step: int) -> Purchase | Unrepaired | None:
        """What an earlier, interrupted run of the same cleaning had as the outcome of this step."""

    def ordering(self, order: Order) -> None:
        """A purchase is about to be paid."""

    def settled(self, step: int, outcome: Purchase | Unrepaired) -> None:
        """A step has its outcome, and nothing is written yet."""

    def progressed(self, progress: Progress) -> None:
        """A step is done."""
