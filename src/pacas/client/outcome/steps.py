"""The steps of a cleaning: what is ordered, bought and written for a class, or why it stays as it is; and who is told.

Prices are in nanocredits, as everywhere behind the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple

from pacas.core.histogram import NO_ROWS, Ints
from pacas.core.money import credits_words
from pacas.core.words import counted
from pacas.engine.codes import CodedColumn
from pacas.protocol.messages import ABSENT, Offer, Payment, QuotedLadder, Request

NOT_SOLD = "not_sold"
"""Nobody offers the attribute."""
TOO_EXPENSIVE = "too_expensive"
"""There are quotes, and none is within the class's allowance."""
CREDIT_USED_UP = "credit_used_up"
"""The account at the provider may not spend as much any more, whatever the budget."""
BUDGET_SPENT = "budget_spent"
"""The money was gone before it was the class's turn."""
IN_DOUBT = "in_doubt"
"""What was bought did not settle it: its rows may not belong together."""
NOT_WORTH_IT = "not_worth_it"
"""There are quotes, and no answer was expected to remove enough error."""
NOT_YET = "not bought yet"
"""Nobody has decided on what would be bought for it: a review shows the table as it is until then."""
REJECTED = "rejected"
"""Somebody was asked whether to buy it, and said no."""
PINNED = "pinned"
"""Somebody wrote a value by hand instead of buying one."""
AWAY = "away"
"""The provider of an order could not be reached, or did not answer in time: it is not known yet whether it was paid."""
BROKE_ITS_WORD = "broke_its_word"
"""A provider of several charged another price than it had quoted, or answered with what it does not sell."""
SOLD_BEFORE = "sold_before"
"""A provider of several has sold something else under the order's key, and so nothing now: the journal is an older copy
of one that knew of it."""
UNDONE = "undone"
"""It was repaired, and somebody put back what had stood there."""


class Why(Enum):
    """Where the value that was written comes from (D11)."""

    BOUGHT = "bought"
    """It is the one that was bought."""
    EVIDENCE = "evidence"
    """It stood in the class, most often of those at or below the bought one."""
    COLUMN = "column"
    """It is the ground value below the bought one that is most frequent in the client's column."""
    WEIGHED = "weighed"
    """It has the least expected error, by the client's own evidence and what was bought."""
    OWN = "own_evidence"
    """The client's own evidence sufficed, and nothing was bought for it."""
    PINNED = "pinned"
    """Somebody wrote it by hand."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoughtValue:
    """A value that was bought for the cells of a class, by asking about one of its rows."""

    attribute: str
    rows: Ints
    row: int
    level: int
    value: str
    price: int
    """In nanocredits."""
    key: str
    """The idempotency key under which it was paid."""
    differing: Ints = field(default_factory=lambda: NO_ROWS)
    """The rows whose own quotes were others than those of the row asked about: they may not belong to the class."""
    provider: str | None = None
    """Who sold it, where there are several."""

    def __repr__(self) -> str:
        bought = f"{self.value!r} at level {self.level} for {credits_words(self.price)}"
        return f"BoughtValue({self.attribute} of {counted(len(self.rows), 'row')}: {bought})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Repair:
    """What became of a class, or of a part of it: `old[i]` stood in `rows[i]`, `new` stands there now."""

    attribute: str
    rows: Ints
    before: CodedColumn
    """The attribute's column as it was when the round began; a cell is repaired once in a round."""
    places: Ints
    """Where the rows stand in it."""
    new: str
    why: Why
    written: Ints
    """The rows among them that held another value; `old` may also be another spelling of the new one."""
    round: int
    purchases: tuple[BoughtValue, ...] = ()
    """What was bought for it; nothing, if the client's own evidence sufficed."""
    violations: int | None = None
    """The violating pairs that were left after it, in the whole relation, where repairs are made one by one."""

    def __repr__(self) -> str:
        cells = f"{len(self.written):,} of {counted(len(self.rows), 'cell')} written"
        return f"Repair({self.attribute}: {self.new!r}, {self.why.value}, {cells})"

    @property
    def old(self) -> tuple[str | None, ...]:
        return tuple(self.before.values[code] for code in self.before.codes[self.places].tolist())


class Look(IntEnum):
    """Whether somebody should look at a cell that was written, and why."""

    NOT_NEEDED = 0
    OWN_QUOTES = 1
    """Its row had other quotes than the row that was asked about: it may not belong to the class."""
    EVIDENCE = 2
    """It was given a value that only such rows had."""
    UNSURE = 3
    """The client weighed, and what was written is not as sure as it was told to be."""


def looks(repair: Repair) -> list[Look]:
    """Per cell that was written: should somebody look at it?"""
    differing = differing_rows(repair)
    otherwise = Look.EVIDENCE if is_doubtful(repair) else Look.NOT_NEEDED
    return [Look.OWN_QUOTES if row in differing else otherwise for row in repair.written.tolist()]


def is_doubtful(repair: Repair) -> bool:
    """Is the value that was written the client's own, and only that of rows that may not belong to the class?"""
    differing = differing_rows(repair)
    if repair.why is not Why.EVIDENCE or not differing:
        return False
    return {*repair.rows.tolist()} - {*repair.written.tolist()} <= differing


def differing_rows(repair: Repair) -> set[int]:
    """The rows whose own quotes were others than those of the row asked about."""
    return {row for purchase in repair.purchases for row in purchase.differing.tolist()}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unrepaired:
    """A class that stays as it is.

    The reason is a provider's `Reason`, or not_sold, too_expensive, max_matches, credit_used_up, budget_spent,
    in_doubt, not_worth_it, away, broke_its_word, sold_before, rejected, pinned, undone; or absent: that was paid for.
    """

    attribute: str
    rows: Ints
    reason: str
    price: int = 0
    """In nanocredits."""
    cheapest: int | None = None
    """What the cheapest answer would have cost, where each was too expensive."""
    charged: int | None = None
    """What one of several providers says it took, where `price` was all that it was allowed to."""

    @property
    def is_unsent(self) -> bool:
        """Whether one of several providers was known to be away, so that nothing was ordered there."""
        return self.reason == AWAY and self.cheapest is None

    def __repr__(self) -> str:
        price = "" if self.cheapest is None else f", the cheapest answer {credits_words(self.cheapest)}"
        return f"Unrepaired({self.attribute}, {counted(len(self.rows), 'row')}: {self.reason}{price})"


class Order(NamedTuple):
    """What is about to be bought: nothing is paid yet."""

    step: int
    attribute: str
    row: int
    request: Request
    ceiling: int
    key: str
    differing: Ints = NO_ROWS
    """As of the purchase."""
    allowed: bool = False
    """Whether it is paid from what a steward said may be spent without a further question."""
    provider: str | None = None
    """Who is to sell it, where there are several."""
    quoted: tuple[QuotedLadder, ...] = ()
    """What was quoted for it and for classes before it, where orders before it were not paid yet."""

    def payment(self) -> Payment:
        return Payment(self.request, self.ceiling, self.key, self.quoted)

    def is_as_planned(self, outcome: BoughtValue | Unrepaired) -> bool:
        """Whether it came to what it was expected to cost; if not, what was planned after it was not paid."""
        is_told = isinstance(outcome, BoughtValue) or outcome.reason == ABSENT
        return is_told and outcome.price == self.ceiling


PlannedStep = Order | Unrepaired
"""What is planned for a step: an order, or that nothing is bought."""


class Edit(NamedTuple):
    """What was done by hand to cells of one attribute: the value that they get; None puts back what was given."""

    attribute: str
    rows: Ints
    """Ascending."""
    value: str | None


class Progress(NamedTuple):
    """How far a cleaning has come."""

    round: int
    done: int
    """Classes of this round that were looked at."""
    classes: int
    """Classes of this round."""
    spent: int
    violations: int
    """Violating pairs that are left, or were there at first where repairs are made at the end."""
    expected: float | None = None
    """The δ that is expected to be left, where that is weighed."""


class Observer:
    """Told of each step of a cleaning as it happens; this one listens to nothing.

    Each class that is looked at is one step, numbered from 0 over all rounds; its outcome is told before it is
    applied. An observer that gives an outcome back when it is asked to recall a step replays that step: nothing is
    quoted, and nothing is paid. If it gives an order back, that order is paid again, under the key it had.
    """

    @property
    def asks_ahead(self) -> bool:
        """Whether it may be asked to approve an order while others before it are not paid yet."""
        return True

    def recall(self, step: int) -> BoughtValue | Unrepaired | Order | None:
        """What an earlier, interrupted run of the same cleaning had as the outcome of this step, or had ordered."""

    def recall_ahead(self, step: int) -> Sequence[PlannedStep]:
        """What was ordered in one go, from this step on, and has no outcome."""
        return ()

    def approve(self, order: Order, rows: Ints) -> Order | str:
        """Whether to buy a value for the cells of a class: the order to pay, maybe another, or why nothing is bought.

        It is asked about each new order, before `ordering`; one that is recalled had been approved.
        """
        return order

    def ordering(self, *steps: PlannedStep) -> None:
        """Purchases are about to be paid: an order, or several in one go with the classes that are passed over."""

    def withdrawn(self, step: int) -> None:
        """What was ordered from this step on was not bought: something before it came otherwise."""

    def recall_quotes(self, number: int) -> Ints | None:
        """What an earlier run was quoted when it asked for many quotes for the n-th time: [tuples, levels]."""

    def quoted(self, number: int, prices: Ints) -> None:
        """Many quotes have come by which it is decided what to buy, now or later."""

    def recall_joined(self, provider: str) -> bool | None:
        """Whether one of several that was away at first was there when an earlier run called it; None: not called."""

    def joined(self, provider: str, offers: Mapping[str, Offer] | None) -> None:
        """One of several that was away at first was called: what it offers, or that it is not there."""

    def settled(self, step: int, outcome: BoughtValue | Unrepaired) -> None:
        """A step has its outcome, and nothing is written yet."""

    def progressed(self, progress: Progress) -> None:
        """A step is done."""


class Relaying(Observer):
    """Passes everything on to another observer; a subclass says what it does besides."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def recall(self, step: int) -> BoughtValue | Unrepaired | Order | None:
        return self._observer.recall(step)

    def approve(self, order: Order, rows: Ints) -> Order | str:
        return self._observer.approve(order, rows)

    @property
    def asks_ahead(self) -> bool:
        return self._observer.asks_ahead

    def recall_ahead(self, step: int) -> Sequence[PlannedStep]:
        return self._observer.recall_ahead(step)

    def ordering(self, *steps: PlannedStep) -> None:
        self._observer.ordering(*steps)

    def withdrawn(self, step: int) -> None:
        self._observer.withdrawn(step)

    def recall_quotes(self, number: int) -> Ints | None:
        return self._observer.recall_quotes(number)

    def quoted(self, number: int, prices: Ints) -> None:
        self._observer.quoted(number, prices)

    def recall_joined(self, provider: str) -> bool | None:
        return self._observer.recall_joined(provider)

    def joined(self, provider: str, offers: Mapping[str, Offer] | None) -> None:
        self._observer.joined(provider, offers)

    def settled(self, step: int, outcome: BoughtValue | Unrepaired) -> None:
        self._observer.settled(step, outcome)

    def progressed(self, progress: Progress) -> None:
        self._observer.progressed(progress)
