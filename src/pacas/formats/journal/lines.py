"""The lines of a journal: a header, per step its order and outcome, quotes, edits, rejections, approvals, the end.

Each line is a JSON object. Money is in nanocredits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pacas.client.outcome.approved_ahead import ApprovedAhead, PlannedOrder
from pacas.client.outcome.steps import AWAY, BoughtValue, Edit, Order, PlannedStep, Unrepaired
from pacas.core.histogram import Ints
from pacas.errors import FileError
from pacas.formats.journal.kept_catalogues import KeptCatalogues
from pacas.protocol.messages import QuotedLadder, Request

LAYOUT = 1

Outcome = BoughtValue | Unrepaired


class JournalLine(BaseModel):
    """A line of the journal: JSON, no member but those that are known."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    def encode(self) -> bytes:
        return self.model_dump_json().encode() + b"\n"


class Header(JournalLine):
    """Which run the journal is of; `parts` is all that the outcome follows from."""

    journal: int = LAYOUT
    run: str
    parts: Mapping[str, Any]
    chained: bool = False
    """Whether each line after it tells the chain up to it; those of earlier releases do not."""
    catalogues: KeptCatalogues | None = None
    """What those of several providers offer that may be away when the run is continued."""

    def encode(self) -> bytes:
        unsaid = {name for name, said in (("chained", self.chained), ("catalogues", self.catalogues)) if not said}
        return self.model_dump_json(exclude=unsaid).encode() + b"\n"

    def other_than(self, parts: Mapping[str, Any]) -> list[str]:
        """The parts in which another run differs."""
        return [part for part in dict.fromkeys([*self.parts, *parts]) if self.parts.get(part) != parts.get(part)]


class Chain:
    """The lines so far, as one digest: a line that is changed, left out or moved is noticed by those after it."""

    def __init__(self, header: bytes) -> None:
        self._digest = _digest(b"", header)

    def linked(self, lines: bytes) -> bytes:
        """Some lines, each with the chain up to it; they count once they are followed."""
        digest, found = self._digest, []
        for line in lines.splitlines():
            digest = _digest(digest, line)
            found.append(b'%b,"chain":"%b"}\n' % (line[:-1], digest))
        return b"".join(found)

    def follow(self, line: bytes) -> bytes | None:
        """A line as it was before it was linked, if it follows."""
        body, _, digest = line.rpartition(b',"chain":"')
        plain = body + b"}"
        expected = _digest(self._digest, plain)
        if digest != expected + b'"}':
            return None
        self._digest = expected
        return plain


def _digest(before: bytes, line: bytes) -> bytes:
    return sha256(before + b"\n" + line).hexdigest()[:32].encode()


class QuotedLine(JournalLine):
    """What a tuple was quoted, by which a purchase was planned."""

    attribute: str
    tuple: dict[str, str | None]
    prices: list[int]


class Ordered(JournalLine):
    """A purchase that is about to be paid; with those of the steps after it, if their lines follow at once."""

    ordering: int
    attribute: str
    row: int
    tuple: dict[str, str | None]
    level: int
    ceiling: int = Field(ge=0)
    key: str
    differing: list[int]
    """The rows of the class whose quotes were others."""
    allowed: bool = False
    """Whether it comes off what may be spent without a further question."""
    provider: str | None = None
    """Who sells it, where there are several."""
    quoted: list[QuotedLine] = []
    """The quotes that it was planned by, where orders before it were not paid yet."""

    def encode(self) -> bytes:
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"  # as it was, where there is no more to say

    @classmethod
    def of(cls, order: Order) -> Ordered:
        return cls(
            ordering=order.step,
            attribute=order.attribute,
            row=order.row,
            tuple=dict(order.request.tuple),
            level=order.request.level,
            ceiling=order.ceiling,
            key=order.key,
            differing=order.differing.tolist(),
            allowed=order.allowed,
            provider=order.provider,
            quoted=[
                QuotedLine(attribute=q.attribute, tuple=dict(q.tuple), prices=list(q.prices)) for q in order.quoted
            ],
        )

    def order(self) -> Order:
        request = Request(self.tuple, self.attribute, self.level)
        differing = np.array(self.differing, dtype=np.int64)
        return Order(
            self.ordering,
            self.attribute,
            self.row,
            request,
            self.ceiling,
            self.key,
            differing,
            self.allowed,
            self.provider,
            tuple(QuotedLadder(q.attribute, q.tuple, tuple(q.prices)) for q in self.quoted),
        )


class Quoted(JournalLine):
    """Prices by which it is decided what to buy, for a while; a refusal is below 0; none: nobody answered."""

    quoted: int
    prices: list[list[int]]

    def array(self) -> Ints:
        if not self.prices:
            return np.empty((0, 0), dtype=np.int64)
        return np.array(self.prices, dtype=np.int64).reshape(len(self.prices), -1)


class SettledPurchase(JournalLine):
    """A step that ended with a purchase: what its order bought."""

    settled: int
    rows: list[int]
    level: int
    value: str
    price: int = Field(ge=0)

    def purchase(self, order: Order) -> BoughtValue:
        rows = np.array(self.rows, dtype=np.int64)
        return BoughtValue(
            order.attribute,
            rows,
            order.row,
            self.level,
            self.value,
            self.price,
            order.key,
            order.differing,
            order.provider,
        )


class SettledUnrepaired(JournalLine):
    """A step that left its class as it is; among orders that are about to be paid together: one that is to."""

    settled: int
    attribute: str
    rows: list[int]
    reason: str
    price: int = Field(default=0, ge=0)
    cheapest: int | None = Field(default=None, ge=0)
    charged: int | None = Field(default=None, ge=0)

    def encode(self) -> bytes:
        unsaid = {"charged"} if self.charged is None else set()
        return self.model_dump_json(exclude=unsaid).encode() + b"\n"  # as it was, where there is no more to say

    def unrepaired(self) -> Unrepaired:
        rows = np.array(self.rows, dtype=np.int64)
        return Unrepaired(self.attribute, rows, self.reason, self.price, self.cheapest, self.charged)


class Withdrawn(JournalLine):
    """What was ordered from a step on was not bought."""

    withdrawn: int


class Joined(JournalLine):
    """One of several providers that was away at first was called: whether it was there, and what it offers."""

    joined: str
    is_there: bool
    buyer: str | None = None
    """The account there, where it is at a URL."""
    catalogues: KeptCatalogues | None = None
    """What it offers, if it may be away when the run is continued."""


class Edited(JournalLine):
    """What was done by hand: cells that get a value, or, without one, what was given."""

    edited: int
    attribute: str
    rows: list[int] = Field(min_length=1)
    value: str | None

    @classmethod
    def of(cls, number: int, edit: Edit) -> Edited:
        return cls(edited=number, attribute=edit.attribute, rows=edit.rows.tolist(), value=edit.value)

    def edit(self) -> Edit:
        return Edit(self.attribute, np.array(self.rows, dtype=np.int64), self.value)


class Rejected(JournalLine):
    """An order that is not to be paid, whenever it comes up: whom it would ask about what."""

    rejected: int
    attribute: str
    row: int
    provider: str | None = None
    """Who is not to be asked, where there are several: another may be."""

    def encode(self) -> bytes:
        return self.model_dump_json(exclude_defaults=True).encode() + b"\n"

    @property
    def place(self) -> RejectedPlace:
        return self.attribute, self.row, self.provider


RejectedPlace = tuple[str, int, str | None]


class Approved(JournalLine):
    """What may be paid when it comes up, beside what was approved before; or that nothing of it may be."""

    approved: int
    orders: list[PlannedOrder] = []
    allowance: int | None = Field(default=None, ge=0)
    withdrawn: bool = False
    no_more: bool = False

    def apply(self, ahead: ApprovedAhead) -> None:
        ahead.decide(self.orders, self.allowance, withdrawn=self.withdrawn, no_more=self.no_more)


class Done(JournalLine):
    """The output is written: nothing is to be continued."""

    done: Literal[True] = True
    purchases: int
    spent: int


def settled_line(step: int, outcome: Outcome) -> SettledPurchase | SettledUnrepaired:
    """A step's outcome as it is recorded."""
    rows = outcome.rows.tolist()
    if isinstance(outcome, BoughtValue):
        return SettledPurchase(settled=step, rows=rows, level=outcome.level, value=outcome.value, price=outcome.price)
    return SettledUnrepaired(
        settled=step,
        attribute=outcome.attribute,
        rows=rows,
        reason=outcome.reason,
        price=outcome.price,
        cheapest=outcome.cheapest,
        charged=outcome.charged,
    )


@dataclass(slots=True)
class Recorded:
    """All that a journal tells, up to its last whole line."""

    header: Header
    chain: Chain | None
    """What the next line is linked to; none in journals of earlier releases."""
    outcomes: list[Outcome] = field(default_factory=list)
    """Of the steps from 0 on."""
    quotes: list[Ints] = field(default_factory=list)
    pending: list[PlannedStep] = field(default_factory=list)
    """Orders without an outcome, and what is planned between them: they may have been paid, or not."""
    is_done: bool = False
    edits: list[Edit] = field(default_factory=list)
    """At any time, after the end, too."""
    rejections: list[RejectedPlace] = field(default_factory=list)
    """The attributes, rows and providers of orders that are not to be paid."""
    joined: dict[str, Joined] = field(default_factory=dict)
    """By name: those of several that were away at first, and have been called."""
    unanswered: dict[str, Order] = field(default_factory=dict)
    """By key: orders that were approved and of which it is not known whether they were paid."""
    ahead: ApprovedAhead = field(default_factory=ApprovedAhead)
    """What is approved and has not come up."""
    length: int = 0
    """The bytes of the whole lines."""

    def take_in(self, line: Line) -> bool:
        """Know what the next line tells; False if it is not one that can follow."""
        steps, planned = len(self.outcomes), len(self.outcomes) + len(self.pending)
        match line:
            case Ordered() if line.ordering in (steps, planned) and (not self.is_done or line.key in self.unanswered):
                order = line.order()
                self.is_done = False  # what nobody had answered is asked about again
                self.pending = [order] if line.ordering == steps else [*self.pending, order]
                self.ahead.ordered(order)
            case Quoted() if not self.is_done and line.quoted == len(self.quotes):
                self.quotes.append(line.array())
            case Joined() if not self.is_done and line.joined not in self.joined:
                self.joined[line.joined] = line
            case SettledUnrepaired() if self.pending and line.settled == planned:
                self.pending.append(line.unrepaired())
            case SettledPurchase() | SettledUnrepaired() if not self.is_done and line.settled == steps:
                return self._settle(line)
            case Withdrawn() if line.withdrawn == steps:
                self.pending = []
            case Edited() if line.edited == len(self.edits):
                self.edits.append(line.edit())
            case Rejected() if line.rejected == len(self.rejections):
                self.rejections.append(line.place)
                self.ahead.take_back(*line.place)
            case Approved() if line.approved == self.ahead.decisions:
                line.apply(self.ahead)
            case Done() if not self.pending and not self.is_done:
                self.is_done = True
            case _:
                return False
        return True

    def _settle(self, line: SettledPurchase | SettledUnrepaired) -> bool:
        """What came of a step; after a surprise, nothing of what was planned with it was paid."""
        order = self.pending[0] if self.pending else None
        if isinstance(line, SettledUnrepaired):
            outcome: Outcome = line.unrepaired()
        elif isinstance(order, Order):
            outcome = line.purchase(order)
        else:
            return False
        goes_on = not isinstance(order, Order) or order.is_as_planned(outcome)
        self.pending = self.pending[1:] if goes_on else []
        follow_unanswered(self.unanswered, order, outcome)
        self.outcomes.append(outcome)
        return True


Line = Ordered | Quoted | Joined | SettledPurchase | SettledUnrepaired | Withdrawn | Edited | Rejected | Approved | Done
_LINE: TypeAdapter[Line] = TypeAdapter(Line)


def read_lines(content: bytes, name: str) -> Recorded | None:
    """A journal's content; None if not even its first line was written. A last line without its end is left out."""
    *lines, torn = content.split(b"\n")
    if not lines:
        if not _BEGINS.startswith(torn[: len(_BEGINS)]):
            raise _no_journal(name)
        return None
    header = _header(lines[0], name)
    recorded = Recorded(header, Chain(lines[0]) if header.chained else None, length=len(content) - len(torn))
    for number, text in enumerate(lines[1:], start=2):
        plain = text if recorded.chain is None else recorded.chain.follow(text)
        if plain is None:
            raise _damaged(name, number, "does not follow from those before it")
        if not recorded.take_in(_parsed(plain, name, number)):
            raise _damaged(name, number, "is not the one that should follow")
    return recorded


def follow_unanswered(unanswered: dict[str, Order], order: PlannedStep | None, outcome: Outcome) -> None:
    """An order has its outcome: who was away has not answered it."""
    if isinstance(order, Order):
        if isinstance(outcome, Unrepaired) and outcome.reason == AWAY:
            unanswered[order.key] = order
        else:
            unanswered.pop(order.key, None)


_BEGINS = Header(run="", parts={}).encode()[:11]


def _header(text: bytes, name: str) -> Header:
    try:
        header = Header.model_validate_json(text)
    except ValidationError:
        raise _no_journal(name) from None
    if header.journal != LAYOUT:
        raise FileError(f"{name} has the layout {header.journal}, and this release reads layout {LAYOUT}")
    return header


def _parsed(text: bytes, name: str, number: int) -> Line:
    try:
        return _LINE.validate_json(text)
    except ValidationError:
        raise _damaged(name, number, "cannot be read") from None


def _no_journal(name: str) -> FileError:
    return FileError(f"{name} is there and is not a journal of pacas clean; move it away, or give another --output")


def _damaged(name: str, number: int, problem: str) -> FileError:
    return FileError(f"{name}, line {number} {problem}: the journal is damaged; restore it, or remove it to begin anew")
