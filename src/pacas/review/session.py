"""A review that is under way: its run, what is known ahead of it, and all that somebody may do to it.

The session is the journal: what is kept here is made again from it, so that whoever goes on, here or on the command
line, finds all that was decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from threading import RLock

import numpy as np

from pacas.client.outcome.approved_ahead import PlannedOrder
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.edits import check_edit
from pacas.client.outcome.steps import PINNED, Edit, Order
from pacas.core.histogram import Ints
from pacas.core.money import credits_words
from pacas.core.words import counted
from pacas.errors import InputError
from pacas.formats.journal.journal import Journal
from pacas.protocol.messages import Quote, Refusal, Request
from pacas.review.approvals import Approvals, Waiting
from pacas.review.job import ReviewJob
from pacas.review.outlook import Outlook, PlannedPurchase, View
from pacas.review.run import DONE, FAILED, Run
from pacas.review.written import Written

STALE = "that order was decided on already, in another window or beforehand"
PAID = "something was paid in this run already: its budget is what it is"


class ReviewSession:
    """One review, for as many windows as look at it."""

    def __init__(self, job: ReviewJob, *, anew: bool = False) -> None:
        self.job = job
        self.version = 0
        """Of all that pages show; another one with every change."""
        self._lock = RLock()
        self._written: tuple[View, int, Written] | None = None
        self.run = Run(job, self.changed, anew=anew)
        self.outlook = Outlook(lambda: self.job, lambda: self.run, self._uncounted, self.changed)

    def start(self) -> None:
        self.run.start()
        self.outlook.start()

    def close(self) -> None:
        """End, and lose nothing: an order that is being paid is paid, an output that lacks edits is written."""
        self.outlook.close()
        self.run.stop(write=True)

    def changed(self) -> None:
        self.version += 1
        self.outlook.wake()

    # ---- what there is to see ---------------------------------------------------------------------------------

    @property
    def approvals(self) -> Approvals:
        return self.run.approvals

    @property
    def waiting(self) -> Waiting | None:
        return self.approvals.waiting

    @property
    def spent(self) -> int:
        return self.run.recalled.spent

    @property
    def kept_aside(self) -> int:
        """What orders may have cost that one of several providers has not answered."""
        return sum(order.ceiling for order in self.run.journal.unanswered.values())

    @property
    def remaining(self) -> int:
        return self.job.cleaner.budget - self.spent - self.kept_aside

    def written(self) -> Written | None:
        """What would be written now, with edits; None until that is known."""
        view = self.outlook.view
        if view is None:
            return None
        with self._lock:
            edits = self.run.journal.edits
            if self._written is None or self._written[:2] != (view, len(edits)):
                self._written = (view, len(edits), Written(view.now, edits, view.by_itself))
                self.outlook.wake()
            return self._written[2]

    def known(self) -> Written:
        """What would be written now; a problem until that is known."""
        if (written := self.written()) is None:
            raise InputError("the table is still being looked at; try again in a moment")
        return written

    def _uncounted(self) -> Cleaning | None:
        """What would be written now, if nobody has counted yet what violations that leaves. It waits for no lock."""
        known = self._written
        return None if known is None or known[2].cleaning.is_counted else known[2].cleaning

    def plan(self) -> tuple[PlannedPurchase, ...]:
        """What would be bought beyond the order that waits."""
        view, waiting = self.outlook.view, self.waiting
        if view is None or view.run is not self.run:
            return ()
        done = len(self.run.recalled.outcomes) + (waiting is not None)
        return tuple(one for one in view.orders if one.order.step >= done)

    def worth_of(self, order: Order) -> float | None:
        """What an order's answer is expected to remove."""
        view = self.outlook.view
        known = () if view is None else view.orders
        return next((one.worth for one in known if one.order.key.rpartition(":")[2] == str(order.step)), None)

    def ladder(self, attribute: str, row: int, provider: str | None = None) -> list[Quote | Refusal] | None:
        """A row's quotes by level, which are free; None where the provider does not sell the attribute."""
        seller = self.job.sellers[provider]
        offered = seller.offers.get(attribute)
        if offered is None:
            return None
        columns = offered.offer.columns
        given = self.job.engine.rows(self.job.table, np.array([row]), columns).to_pydict()
        return seller.marketplace.quote_batch(attribute, given)[0]

    # ---- orders -----------------------------------------------------------------------------------------------

    def approve(self, key: str, level: int | None = None, most: int | None = None) -> str:
        """Pay the order that waits, at the level it has or at another one, for no more than somebody saw there."""
        waiting = self._waiting(key)
        order = waiting.order
        if level is not None and level != order.request.level:
            order = self._at_level(order, level)
            _check_seen(f"level {level}", order.ceiling, most)
        elif most is not None:
            _check_seen("it", order.ceiling, most)
        with self._lock:
            on_disk = partial(self.run.journal.approve_ahead, [PlannedOrder.of(order)])
            if not self.approvals.answer(key, order, first=on_disk):
                raise InputError(STALE)
        what = f"{_what(order.attribute, order.row, order.provider)}, level {order.request.level}"
        return f"approved: {what}, at most {credits_words(order.ceiling)}"

    def _at_level(self, order: Order, level: int) -> Order:
        seller = self.job.sellers[order.provider]
        if level not in seller.offers[order.attribute].levels:
            raise InputError(f"{order.attribute} is not bought at level {level}")
        request = Request(order.request.tuple, order.attribute, level)
        quoted = seller.marketplace.quote(request)
        if isinstance(quoted, Refusal):
            raise InputError(f"level {level} is refused: {quoted.reason.value}")
        if quoted.price > self.remaining:
            left = credits_words(self.remaining)
            raise InputError(f"level {level} costs {credits_words(quoted.price)}, and {left} of the budget are left")
        return order._replace(request=request, ceiling=quoted.price)

    def reject(self, key: str) -> str:
        order = self._waiting(key).order
        return self.reject_ahead(order.attribute, order.row, order.provider)

    def reject_ahead(self, attribute: str, row: int, provider: str | None = None) -> str:
        """Not this one, whenever it comes up, in this review or when somebody else goes on with the run."""
        with self._lock:
            self.approvals.reject(attribute, row, provider)
        told = f"rejected: nothing is bought for {_what(attribute, row, provider)}"
        return told if provider is None else f"{told}; another provider may still be asked"

    def pin_instead(self, key: str, value: str, *, whole_class: bool) -> str:
        """Write a value by hand, for the row that would be asked about or its class, and buy nothing."""
        waiting = self._waiting(key)
        rows = waiting.rows if whole_class else np.array([waiting.order.row])
        edit = self._checked(waiting.order.attribute, rows, value)
        with self._lock:
            if not self.approvals.answer(key, PINNED, first=lambda: self.run.journal.edit(edit)):
                raise InputError(STALE)
        self.changed()
        return _told(edit)

    def whole_plan(self) -> list[Order]:
        """The order that waits and those of the plan."""
        waiting = self.waiting
        return ([] if waiting is None else [waiting.order]) + [one.order for one in self.plan()]

    def approve_plan(self, most: int | None) -> str:
        """The order that waits and those of the plan, each at no more than is planned, in all no more than was seen."""
        orders = self.whole_plan()
        if not orders:
            raise InputError("there is no plan to approve yet, or nothing in it")
        cost = sum(order.ceiling for order in orders)
        _check_seen("the plan", cost, most)
        with self._lock:
            self.approvals.approve_planned([PlannedOrder.of(order) for order in orders])
        told = f"approved: {len(orders):,} of the plan, for at most {credits_words(cost)} in all"
        return f"{told}; what comes otherwise is asked about"

    def approve_ahead(self, attribute: str, row: int, level: int, most: int | None, provider: str | None = None) -> str:
        """One of the plan, at the level that was seen there and for no more."""
        asked = (attribute, row, level, provider)
        order = next((one.order for one in self.plan() if PlannedOrder.of(one.order).place == asked), None)
        if order is None:
            raise InputError("that order is not in the plan any more")
        what = _what(attribute, row, provider)
        _check_seen(what, order.ceiling, most)
        with self._lock:
            self.approvals.approve_planned([PlannedOrder.of(order)])
        return f"approved: {what}, when it comes up, for no more than is planned"

    def allow(self, amount: int) -> str:
        if amount <= 0:
            raise InputError("say how much may be spent without a further question, such as 0.5")
        with self._lock:
            amount = min(amount, self.remaining)
            self.approvals.allow(amount)
        return f"approved: whatever comes, up to {credits_words(amount)}"

    def withdraw(self) -> str:
        with self._lock:
            self.approvals.withdraw()
        return "taken back: what was approved ahead and has not come up; each order is asked about again"

    def buy_no_more(self) -> str:
        with self._lock:
            self.approvals.buy_no_more()
        return "nothing more is bought; the run goes to its end, and the table is written"

    def _waiting(self, key: str) -> Waiting:
        waiting = self.waiting
        if waiting is None or waiting.order.key != key:
            raise InputError(STALE)
        return waiting

    # ---- edits ------------------------------------------------------------------------------------------------

    def edit(self, attribute: str, rows: Ints, value: str | None) -> str:
        """Write a value into cells, or put back what was given; it is in the journal before anybody sees it."""
        edit = self._checked(attribute, rows, value)
        self._record([edit])
        return _told(edit)

    def edit_each(self, attribute: str, values: Iterable[tuple[Ints, str | None]]) -> None:
        """Write a value each into several sets of cells, in one go."""
        self._record([self._checked(attribute, rows, value) for rows, value in values])

    def _record(self, edits: Sequence[Edit]) -> None:
        with self._lock:
            self.run.journal.edit(*edits)
        self.changed()

    def _checked(self, attribute: str, rows: Ints, value: str | None) -> Edit:
        written = self.written()
        if written is None:
            raise InputError("the table is still being looked at; try again in a moment")
        edit = Edit(attribute, np.unique(rows), value)
        check_edit(edit, written.cleaning)
        return edit

    # ---- the run ----------------------------------------------------------------------------------------------

    def set_budget(self, budget: int) -> str:
        """Another budget, as long as nothing was paid: the run begins again with it."""
        if budget < 0:
            raise InputError("the budget must not be negative")
        with self._lock:
            if self.run.has_paid:
                raise InputError(PAID)
            earlier = self.run.journal
            if not self.run.abandon():  # it was on its way
                self._begin()
                raise InputError(PAID)
            self.job = self.job.with_budget(budget)
            self._begin(earlier)
        return f"the budget is {credits_words(budget)} now"

    def try_again(self) -> str:
        """Go on with a run that has failed, from its journal."""
        with self._lock:
            if self.run.state != FAILED:
                raise InputError("the run has not failed")
            self.run.stop()
            self._begin()
        return "going on from the journal"

    def _begin(self, instead_of: Journal | None = None) -> None:
        anew = instead_of is not None
        self.run = Run(self.job, self.changed, anew=anew)
        if instead_of is not None:
            self.run.journal.take_over(instead_of)
        self.run.start()
        self.changed()

    def write(self) -> str:
        """Write the output again, with all edits."""
        if self.run.state != DONE:
            raise InputError("the output is written when the run has come to its end")
        with self._lock:
            self.run.write()
        self.changed()
        return f"{self.job.output} written"


def _what(attribute: str, row: int, provider: str | None) -> str:
    """Which order somebody has decided on."""
    return f"{attribute} of row {row:,}" + ("" if provider is None else f" from {provider}")


def _told(edit: Edit) -> str:
    cells = f"{counted(len(edit.rows), 'cell')} of {edit.attribute}"
    undone = f"{cells} put back to what was given; money does not come back"
    return undone if edit.value is None else f"{cells} written by hand"


def _check_seen(what: str, price: int, most: int | None) -> None:
    """Raise if it costs more by now than somebody has seen, or they saw no price."""
    if most is None:
        raise InputError(f"{what} costs {credits_words(price)}, which the page did not show; look again")
    if price > most:
        raise InputError(
            f"{what} costs {credits_words(price)} now, and the page showed {credits_words(most)}: nothing is approved"
        )
