"""The journal of a cleaning: what is bought is on disk before it is used, so that an interrupted run loses nothing.

An order is written and synced to disk before it is paid, and so are those that are paid in one go; a step's outcome is
written before it is applied, and not synced. That is enough:

- The order must not be lost. Once it is paid, the provider's quotes are others, and the request could not be worked out
  again. With the order, the continued run pays it again under the key it had: the provider charges once and gives the
  same answer, whether the first payment had arrived or not.
- The outcome may be lost, for the same reason. What comes to disk comes in order: a synced order brings all outcomes
  before it along. And a step that bought nothing, lost with no order after it, is quoted what it was quoted before.
- Quotes by which more than one purchase is chosen are written, too, for the same reason: the first of these purchases
  changes them. They need no sync, as they come to disk with the order that follows.
- What was done by hand, cells put back and values written, is on disk before anybody sees it; at any time, after the
  end, too. It is applied to the table when that is written. So are orders that somebody rejected, or approved, before
  they came up: whoever goes on with the run does not pay the ones, and need not ask about the others. An order says
  itself that it was paid from an amount that was approved, so that no crash makes that amount larger.

A last line that was cut off in the middle is left out, and cut off the file, when the journal is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import numpy as np

from pacas.client.outcome.approved_ahead import ApprovedAhead, PlannedOrder
from pacas.client.outcome.steps import (
    PINNED,
    REJECTED,
    BoughtValue,
    Edit,
    Observer,
    Order,
    PlannedStep,
    Unrepaired,
)
from pacas.core.histogram import NO_ROWS, Ints
from pacas.errors import FileError
from pacas.formats.journal.journal_file import JournalFile
from pacas.formats.journal.kept_catalogues import KeptCatalogues
from pacas.formats.journal.lines import (
    Approved,
    Chain,
    Done,
    Edited,
    Header,
    Joined,
    Ordered,
    Quoted,
    Rejected,
    Withdrawn,
    settled_line,
)
from pacas.formats.journal.recorded import Recorded, follow_unanswered, read_lines
from pacas.protocol.messages import Offer


class Journal(Observer):
    """A journal that is open for one run: it recalls what is recorded, and records what is new.

    `parts` is all that the outcome of a run follows from, by name; a journal with other parts is of another run.
    Without `resume`, a journal must not be there, unless it is of a run that was done: that one is replaced, with the
    first order or at the end. `catalogues` are kept in the journal of a new run: what is public of providers that may
    be away when it is continued. `accounts` are those at the providers that may come later: known by then.
    """

    def __init__(
        self,
        path: Path,
        parts: Mapping[str, Any],
        *,
        resume: bool = False,
        catalogues: Mapping[str, Mapping[str, Offer]] | None = None,
        accounts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._accounts = accounts
        self._file = JournalFile(path)
        try:
            recorded = read_lines(self._file.content(), path.name)
            replaces = recorded is not None and recorded.is_done and not resume
            if recorded is None or replaces:
                self._recorded = self._begun(parts, catalogues, hold=replaces)
            else:
                self._check(recorded, parts, resume)
                self._file.go_on(recorded.length, recorded.chain)
                self._recorded = recorded
        except BaseException:
            self.close()
            raise
        self._ordered = recorded is not None and not replaces
        self._pays = bool(self._recorded.pending)
        self._on_their_way = {one.step: one for one in self._recorded.pending if isinstance(one, Order)}
        self._has_paid = any(map(_costs, self._recorded.outcomes))

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def run(self) -> str:
        """The name of the run, from which its idempotency keys are made."""
        return self._recorded.header.run

    @property
    def is_done(self) -> bool:
        """Whether the run that is recorded has written its output."""
        return self._recorded.is_done

    @property
    def steps(self) -> int:
        """How many steps are recorded with their outcomes."""
        return len(self._recorded.outcomes)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What was done by hand, in order."""
        return tuple(self._recorded.edits)

    @property
    def ordered(self) -> bool:
        """Whether anything would be lost: an order or a steward's decision was written, or it is an earlier run's."""
        return self._ordered

    @property
    def may_have_paid(self) -> bool:
        """Whether the run has bought anything, or an order of it is on its way."""
        return self._pays or self._has_paid

    # ---- told of a cleaning -----------------------------------------------------------------------------------

    def recall(self, step: int) -> BoughtValue | Unrepaired | Order | None:
        recorded = self._recorded
        if step < len(recorded.outcomes):
            return recorded.outcomes[step]
        order = recorded.pending[0] if recorded.pending and step == len(recorded.outcomes) else None
        return order if isinstance(order, Order) else None

    def recall_ahead(self, step: int) -> Sequence[PlannedStep]:
        recorded = self._recorded
        return tuple(recorded.pending) if step == len(recorded.outcomes) else ()

    def approve(self, order: Order, rows: Ints) -> Order | str:
        placed = self.unanswered.get(order.key)
        if placed is not None:  # it may have been paid: it is asked about as it was
            return placed._replace(step=order.step, allowed=False)
        return self.declined(order, rows) or order

    def declined(self, order: Order, rows: Ints) -> str | None:
        """Why an order is not to be paid: somebody has said so, or has written by hand what one of several sells."""
        if self.ahead.buys_no_more or self.is_rejected(order.attribute, order.row, order.provider):
            return REJECTED
        return PINNED if order.provider is not None and self._is_pinned(order.attribute, rows) else None

    def _is_pinned(self, attribute: str, rows: Ints) -> bool:
        pinned = NO_ROWS
        for edit in self.edits:
            if edit.attribute == attribute:
                joined = np.setdiff1d if edit.value is None else np.union1d
                pinned = joined(pinned, edit.rows)
        return bool(len(pinned)) and bool(np.isin(rows, pinned).all())

    @property
    def unanswered(self) -> Mapping[str, Order]:
        """By key: orders of which it is not known whether they were paid, as one of several providers was away."""
        return self._recorded.unanswered

    def ordering(self, *steps: PlannedStep) -> None:
        self._pays, self._ordered = True, not self._file.is_held
        self._recorded.is_done = False
        first = next(step.step for step in steps if isinstance(step, Order))
        lines = [
            Ordered.of(step) if isinstance(step, Order) else settled_line(number, step)
            for number, step in enumerate(steps, first)
        ]
        try:
            with self._file.one_at_a_time:
                self._file.record(b"".join(line.encode() for line in lines))
                for step in steps:
                    if isinstance(step, Order):
                        self._on_their_way[step.step] = step
                        self.ahead.ordered(step)
        except BaseException:
            self._pays = self._ordered  # the earlier run's journal is there still, and none of this one: it won't pay
            raise
        self._ordered = True

    def recall_quotes(self, number: int) -> Ints | None:
        quotes = self._recorded.quotes
        return quotes[number] if number < len(quotes) else None

    def quoted(self, number: int, prices: Ints) -> None:
        self._file.add(Quoted(quoted=number, prices=prices.tolist()).encode())

    def recall_joined(self, provider: str) -> bool | None:
        known = self._recorded.joined.get(provider)
        return None if known is None else known.is_there

    def joined(self, provider: str, offers: Mapping[str, Offer] | None) -> None:
        buyer = self._accounts.get(provider)
        kept = KeptCatalogues.of({provider: offers}) if offers is not None and buyer is not None else None
        line = Joined(joined=provider, is_there=offers is not None, buyer=buyer, catalogues=kept)
        self._file.add(line.encode())
        self._recorded.joined[provider] = line

    def settled(self, step: int, outcome: BoughtValue | Unrepaired) -> None:
        self._file.add(settled_line(step, outcome).encode())
        follow_unanswered(self._recorded.unanswered, self._on_their_way.pop(step, None), outcome)
        self._has_paid |= _costs(outcome)
        self._pays = False

    def withdrawn(self, step: int) -> None:
        self._file.add(Withdrawn(withdrawn=step).encode())
        self._recorded.pending.clear()
        self._pays = False

    # ---- told by a steward ------------------------------------------------------------------------------------

    def edit(self, *edits: Edit) -> None:
        """Record what was done by hand, all of it or nothing that is seen."""
        with self._file.one_at_a_time:
            known = self._recorded.edits
            self._file.record(b"".join(Edited.of(n, edit).encode() for n, edit in enumerate(edits, len(known))))
            known.extend(edits)
            self._ordered = True

    def reject(self, attribute: str, row: int, provider: str | None = None) -> None:
        """Record that an order is not to be paid, whenever it comes up."""
        with self._file.one_at_a_time:
            known = self._recorded.rejections
            line = Rejected(rejected=len(known), attribute=attribute, row=row, provider=provider)
            if line.place not in known:
                self._file.record(line.encode())
                known.append(line.place)
                self._ordered = True
            self.ahead.take_back(*line.place)

    def is_rejected(self, attribute: str, row: int, provider: str | None = None) -> bool:
        return (attribute, row, provider) in self._recorded.rejections

    @property
    def ahead(self) -> ApprovedAhead:
        """What is approved and has not come up."""
        return self._recorded.ahead

    def approve_ahead(
        self,
        orders: Sequence[PlannedOrder] = (),
        allowance: int | None = None,
        *,
        withdrawn: bool = False,
        no_more: bool = False,
    ) -> None:
        """Record what may be paid when it comes up, or that nothing may; it counts once it is on disk."""
        with self._file.one_at_a_time:
            line = Approved(
                approved=self.ahead.decisions,
                orders=list(orders),
                allowance=allowance,
                withdrawn=withdrawn,
                no_more=no_more,
            )
            self._file.record(line.encode())
            line.apply(self.ahead)
            self._ordered = True

    def take_over(self, earlier: Journal) -> None:
        """Record what was done by hand, rejected and approved in another run on the same table."""
        if earlier.edits:
            self.edit(*earlier.edits)
        for rejected in earlier._recorded.rejections:
            self.reject(*rejected)
        if len(earlier.ahead) or earlier.ahead.allowance:
            self.approve_ahead(earlier.ahead.orders, earlier.ahead.allowance)

    # ---- the end ----------------------------------------------------------------------------------------------

    def finish(self, purchases: int, spent: int) -> None:
        """Record that the output is written and synced: the run is done."""
        self.end(purchases, spent)
        self.close()

    def end(self, purchases: int, spent: int) -> None:
        """Record the same, and stay open: edits may follow."""
        if not self.is_done:
            self._file.record(Done(purchases=purchases, spent=spent).encode(), os.fsync)

    def discard(self) -> None:
        """Take away a journal of a run that has paid nothing; an earlier run's stays."""
        if self.may_have_paid:
            raise FileError(f"{self.path} is the record of what was paid, and stays")
        self._file.remove()

    def close(self) -> None:
        self._file.close()

    def _begun(
        self, parts: Mapping[str, Any], catalogues: Mapping[str, Mapping[str, Offer]] | None, *, hold: bool
    ) -> Recorded:
        kept = KeptCatalogues.of(catalogues) if catalogues else None
        header = Header(run=uuid4().hex, parts=parts, chained=True, catalogues=kept)
        chain = Chain(header.encode().rstrip())
        self._file.begin(header.encode(), chain, hold=hold)
        return Recorded(header, chain)

    def _check(self, recorded: Recorded, parts: Mapping[str, Any], resume: bool) -> None:
        if not resume:
            raise FileError(
                f"{self.path} is of a run that was interrupted; continue it with --resume, or remove it to begin anew"
            )
        other = recorded.header.other_than(parts)
        if other:
            differ = "differs" if len(other) == 1 else "differ"
            raise FileError(
                f"{self.path} is of another run: {', '.join(other)} {differ}; continue with what it was begun with, "
                "or give another --output"
            )


def recorded_run(path: Path) -> Recorded | None:
    """What a journal tells of its run, for somebody who is about to go on with it; None if there is none."""
    return read_lines(path.read_bytes(), path.name) if path.exists() else None


def _costs(outcome: BoughtValue | Unrepaired) -> bool:
    return isinstance(outcome, BoughtValue) or outcome.price > 0
