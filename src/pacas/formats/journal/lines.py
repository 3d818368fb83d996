"""The lines of a journal: a header, per step its order and outcome, quotes, edits, rejections, approvals, the end.

Each line is a JSON object. Money is in nanocredits.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from pacas.client.outcome.approved_ahead import ApprovedAhead, PlannedOrder
from pacas.client.outcome.steps import BoughtValue, Edit, Order, Unrepaired
from pacas.core.histogram import Ints
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


Line = Ordered | Quoted | Joined | SettledPurchase | SettledUnrepaired | Withdrawn | Edited | Rejected | Approved | Done
