"""What a journal tells, read line by line: which line can follow which, and what is known after it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from pacas.client.outcome.approved_ahead import ApprovedAhead
from pacas.client.outcome.steps import AWAY, Edit, Order, PlannedStep, Unrepaired
from pacas.core.histogram import Ints
from pacas.errors import FileError
from pacas.formats.journal.lines import (
    LAYOUT,
    Approved,
    Chain,
    Done,
    Edited,
    Header,
    Joined,
    Line,
    Ordered,
    Outcome,
    Quoted,
    Rejected,
    RejectedPlace,
    SettledPurchase,
    SettledUnrepaired,
    Withdrawn,
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
