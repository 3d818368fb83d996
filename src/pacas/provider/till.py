"""The till: the one place where something is sold. What is judged and within the ceiling is recorded, and then told.

Sales of several threads and of one run share a commit. What others sell from the same ledger is taken in as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

from pacas.core.rates.schedule import Schedule
from pacas.core.rates.tab import AgreedTerms, Tab
from pacas.errors import HouseError, InputError, LedgerBrokenError, LedgerWentBackError, StorageError
from pacas.protocol.marketplace import Columns, is_as_quoted
from pacas.protocol.messages import Ladders, Payment, QuotedLadder, Reason, Refusal, Request
from pacas.protocol.names import LOCAL
from pacas.protocol.order_of_checks import at_rates
from pacas.provider.circle import ELSEWHERE, TRIES, Circle
from pacas.provider.ledger.chain import Head
from pacas.provider.ledger.checkpoint import Checkpoint, Checkpoints
from pacas.provider.ledger.entry import AcceptedTerms, Entry, Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.shared_commits import MOST, Credit, SaleOrder, SaleRun, SharedCommits, Take, is_surprise
from pacas.provider.shop.contract import Shop

DAY = 24 * 3600
"""Seconds."""


class _Sold(NamedTuple):
    """A sale that is in the ledger, if its transaction ends well."""

    sale: Any
    purchase: Purchase
    entry: Entry


class Till:
    """What is sold from a shop, and the ledger that it is recorded in.

    `state` is the lock of what was sold, which the shop holds, too, while it looks at it.
    """

    def __init__(
        self,
        shop: Shop[Any],
        ledger: Ledger,
        circle: Circle | None,
        state: Lock,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self._checkpoints = None if circle is not None else checkpoints  # what others have sold is in no ledger
        self._shop, self._ledger, self._circle, self._state = shop, ledger, circle, state
        self.note: Callable[[Head], None] = lambda head: None
        """Is told of every head that is known to be in the ledger to stay."""
        self.note_lost: Callable[[Head], None] = lambda head: None
        """Is told, once, of the head that was known when the ledger is first seen to hold it no longer."""
        self._is_lost = False
        self._commits = SharedCommits(self._sell_together)
        self._overcounts = False
        """Whether more may be known here as sold than was sold: a commit that several sales shared has failed."""
        self._sales = shop.sales
        self._known = self._checkpoint() or ledger.opened_head
        self._catch_up()
        with self._transaction():
            self._look_up()
            if self._sales.totals() != ledger.totals():
                raise LedgerBrokenError("the totals of some buyers are not the sums of their purchases")
        self._catch_up()
        ledger.while_waiting = self._catch_up
        self._sales.make_ready()
        self.keep_checkpoint()

    def __repr__(self) -> str:
        return f"Till({self.known.entries:,} entries known)"

    @property
    def known(self) -> Head:
        """The ledger as far as it is known here to stay: it must never hold less."""
        with self._state:
            return self._known

    @property
    def most_at_once(self) -> int:
        """Values that are sold in one durable step; in a circle one by one, as each waits for the clearing house."""
        return MOST if self._circle is None else 1

    def sell_many(
        self, payments: Sequence[Payment], *, buyer: str = LOCAL, credit: Credit = None
    ) -> list[Entry | Refusal]:
        """Pay in order up to the first surprise, with the ledger's entries for answers. At most `most_at_once` are.

        An order that is mistaken ends a run like a surprise, or raises where it is the first.
        """
        run = SaleRun([self._order(payment, buyer, credit) for payment in payments[: self.most_at_once]])
        if run.orders:
            self._commits.make([run])
        return run.result() if run.orders else []

    def sell_each(self, orders: Iterable[tuple[Payment, str, Credit]]) -> list[Entry | Refusal | Exception]:
        """Serve buyers who wait together, in one commit: each order by itself, whatever comes of the others."""
        runs = [SaleRun([self._order(*order)]) for order in orders]
        for first in range(0, len(runs), MOST):
            self._commits.make(runs[first : first + MOST])
        return [_only(run.outcome) for run in runs]

    def _order(self, payment: Payment, buyer: str, credit: Credit) -> SaleOrder:
        if self._circle is not None and buyer == ELSEWHERE:
            raise InputError(f"no buyer may be called {ELSEWHERE!r}; take another name")
        needed = self._needed(payment.request)
        return SaleOrder(payment if needed is payment.request else replace(payment, request=needed), buyer, credit)

    def _needed(self, request: Request) -> Request:
        """A request without columns that the match does not need: they are not looked at, and so not kept."""
        offer = self._shop.offers.get(request.attribute)
        if offer is None or len(request.tuple) <= len(offer.columns):
            return request
        needed = {column: request.tuple[column] for column in offer.columns if column in request.tuple}
        return Request(needed, request.attribute, request.level)

    def _sell_together(self, take: Take) -> None:
        """Sell in order, each judged on all before it, and durable together or not at all."""
        served: list[tuple[SaleRun, list[Entry | Refusal] | Exception]] = []
        sales: list[_Sold] = []
        if self._overcounts:
            self._recount()
        with self._transaction():
            while runs := take():
                self._ledger.look_ahead((order.buyer, order.payment.key) for run in runs for order in run.orders)
                if not served:  # what it needs may have come with that
                    self._look_up()
                for run in runs:
                    served.append((run, self._sell_run(run.orders, sales)))
        if sales:  # durable now; quotes may know, unless a refresh was faster
            self._take_in(sales[-1])
            with self._state:
                self._move_on(Head(sales[-1].entry.sequence + 1, sales[-1].entry.hash))
        for run, outcome in served:
            run.outcome = outcome

    def _sell_run(self, orders: Sequence[SaleOrder], sales: list[_Sold]) -> list[Entry | Refusal] | Exception:
        """Sell up to the first surprise, in a transaction that goes on."""
        told: list[Entry | Refusal] = []
        for order in orders:
            sold: Entry | Refusal | Exception | None = self._found(order)
            if sold is None:
                sold = self._sell_one(order, sales)
            if isinstance(sold, Exception):
                return told or sold
            if sold is None:
                break
            told.append(sold)
            if is_surprise(order.payment, sold):
                break
        return told

    def _found(self, order: SaleOrder) -> Entry | InputError | None:
        """What was sold before with an order's key."""
        try:
            return self._ledger.find(order.buyer, order.payment.key, order.payment.request)
        except InputError as error:
            return error

    def _is_as_quoted(self, order: SaleOrder) -> bool:
        """Whether the quotes that an order was planned by hold still."""
        return all(is_as_quoted(self._ladder(one, order.buyer), one.prices) for one in order.payment.quoted)

    def _ladder(self, quoted: QuotedLadder, buyer: str) -> tuple[int, ...]:
        ladder, tab = self._shop.ladder(quoted.attribute, quoted.tuple, buyer), self.tab(buyer)
        schedule, listed = tab.schedule(self.schedule), tab.listed
        if schedule.is_flat:
            return tuple(ladder)
        return tuple(price if price < 0 else schedule.quote(listed, price) for price in ladder)

    def _sell_one(self, order: SaleOrder, sales: list[_Sold]) -> Entry | Refusal | Exception | None:
        """Sell in a transaction that goes on; what is wrong with one order is no other's business. None: the quotes
        that it was planned by are others by now."""
        try:
            most = order.credit() if callable(order.credit) else order.credit
            if sales:
                self._take_in(sales[-1])
            if not self._is_as_quoted(order):
                return None
            made = self._judged(order, most) if self._circle is None else self._cleared(self._circle, order, most)
            if isinstance(made, Refusal):
                return made
            sale, purchase = made
        except HouseError as error:
            return error
        except StorageError:
            raise
        except Exception as error:
            return error
        try:
            entry = self._ledger.append(purchase, is_new=True)
        except InputError as error:  # before anything was written
            return error
        sales.append(_Sold(sale, purchase, entry))
        return entry

    def _judged(self, order: SaleOrder, most: int | None) -> tuple[Any, Purchase] | Refusal:
        """What an order comes to, on all that is known here to be sold."""
        sale = self._shop.judge(order.payment.request, order.buyer)
        if isinstance(sale, Refusal):
            return sale
        tab = self.tab(order.buyer, now := self._ledger.now())  # the entry's own time says whether terms had ended
        price = tab.charge(self.schedule, sale.price)
        if price > order.payment.ceiling:
            return Refusal(Reason.CEILING)
        if most is not None and self._is_beyond(most, order.buyer, tab, tab.bought(sale.price, None)):
            return Refusal(Reason.CREDIT)
        purchase = self._shop.purchase(sale, order.payment.request, order.buyer, order.payment.key, now)
        if not tab.schedule(self.schedule).is_flat:
            purchase = replace(purchase, price=price, listed=sale.price)
        return sale, purchase

    def _cleared(self, circle: Circle, order: SaleOrder, most: int | None) -> tuple[Any, Purchase] | Refusal:
        """The same with all that other members have sold of the same person, reserved before anybody is told."""
        made = self._judged(order, most)
        for _ in range(TRIES):
            if isinstance(made, Refusal):
                return made
            found = circle.read(order.payment.request)
            if isinstance(found, Refusal):
                return found
            lines, news = found
            with self._state:
                sold = [Purchase(ELSEWHERE, "-", request, 0, "") for request in news]
                if not all([self._sales.learn_elsewhere(one) for one in sold]):
                    circle.forget()
                    return Refusal(Reason.UNSAFE)
            if news:
                made = self._judged(order, most)
            if isinstance(made, Refusal) or circle.reserve(order.payment.request, lines):
                return made
        raise circle.too_busy()

    def _take_in(self, sold: _Sold) -> None:
        """Know of a sale that was made here. While its commit is shared, quotes may know of it shortly before."""
        with self._state:
            if self._sales.count < sold.entry.sequence:
                self._shop.add(sold.sale, sold.purchase)
                self._sales.count = sold.entry.sequence  # with the first sale, accounts are entered between two of them

    def _recount(self) -> None:
        """Count what was sold anew, after a commit that failed: what is known here was not sold. The turn is held."""
        entries = self._ledger.after(self._ledger.opened_head)
        with self._state:
            self._shop.recount([entry.about_buyer for entry in entries])
            if self._circle is not None:
                self._circle.forget()
            self._sales, self._overcounts = self._shop.sales, False

    @property
    def schedule(self) -> Schedule:
        """What list prices cost who has bought so much."""
        return self._shop.terms.schedule

    def tab(self, buyer: str, now: int | None = None) -> Tab:
        """The list credits of a buyer, and the terms that it buys on, now or at a time that is given."""
        with self._state:
            tab = self._sales.tab(buyer)
        return tab.at(self._ledger.now() if now is None else now) if tab.has_terms else tab

    def agree(
        self, key: str, schedule: Schedule, prepaid: int, days: int, *, buyer: str = LOCAL, credit: Credit = None
    ) -> Entry | Refusal:
        """Let a buyer buy on other terms for so many days: an entry of the ledger, durable when this returns.

        The same key is agreed to once. What is prepaid must be within the credit; and what was prepaid before is used
        up first, as long as the terms that it belongs to last.
        """
        with self._commits.turn:
            with self._transaction():
                self._look_up()
                most = credit() if callable(credit) else credit
                found, now = self._ledger.find_terms(buyer, key), self._ledger.now()
                if found is not None:
                    return found
                tab = self.tab(buyer, now)
                if not (has_unused := bool(tab.unused(self.schedule))):
                    terms = AgreedTerms(schedule, prepaid, None if now is None else now + days * DAY)
                    if most is not None and self._is_beyond(most, buyer, tab, tab.agree(terms, None)):
                        return Refusal(Reason.CREDIT)
                    entry = self._ledger.agree(AcceptedTerms(buyer, key, terms, now))
            if has_unused:
                raise InputError("there are terms with credits that are prepaid and not used; use them up first")
            self._catch_up()
        return entry

    def _is_beyond(self, credit: int, buyer: str, tab: Tab, after: Tab) -> bool:
        """Would a buyer pay more, and more than it may in all? What is prepaid is paid, used or not."""
        more = after.bill(self.schedule) - tab.bill(self.schedule)
        unused = tab.bill(self.schedule) - tab.due(self.schedule)
        return more > 0 and self._ledger.total(buyer).spent + unused + more > credit

    def quoted(self, price: int, buyer: str) -> int:
        """What a list price costs a buyer at the most."""
        tab = self.tab(buyer)
        return tab.schedule(self.schedule).quote(tab.listed, price)

    def ladders(self, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        """What many tuples cost a buyer, each at all levels."""
        ladders, tab = self._shop.ladders(attribute, tuples, buyer), self.tab(buyer)
        schedule = tab.schedule(self.schedule)
        return ladders if schedule.is_flat else Ladders(at_rates(schedule, tab.listed, ladders.prices))

    def refresh(self) -> None:
        """Take in what other processes have sold."""
        if self._overcounts:
            with self._commits.turn:
                self._recount()
        try:
            self._catch_up()
        except LedgerWentBackError:
            if not self._is_lost:
                self._is_lost = True
                with suppress(StorageError):
                    self.note_lost(self.known)
            raise
        self._is_lost = False
        self.keep_checkpoint()

    def _checkpoint(self) -> Head | None:
        """Know what the last checkpoint says, where there is one; the head that it is of."""
        if self._checkpoints is None or not self._checkpoints.may_be_there(self._ledger.head()):
            return None
        found = self._checkpoints.read(self._ledger.opened_head.hash, self._sales.kind)
        if found is None:
            return None
        self._ledger.check_holds(found.head)
        self._sales.take_back(found.kept)
        return found.head

    def keep_checkpoint(self) -> None:
        """Keep what is known here for the next start, if much was sold since that was last done."""
        if self._checkpoints is None or self._ledger.is_read_only or not self._checkpoints.is_due(self.known):
            return
        with self._commits.turn, self._state:  # nothing is known here by now that is not in the ledger to stay
            if self._overcounts or self._sales.count + 1 != self._known.entries:
                return
            kept = Checkpoint(self._ledger.opened_head.hash, self._sales.kind, self._known, self._sales.kept())
        self._checkpoints.keep(kept)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """A transaction of the ledger; if it fails, what was taken in meanwhile is counted anew. The turn is held."""
        before = self._sales.count
        try:
            with self._ledger.transaction():
                yield
        except BaseException:
            self._overcounts = self._overcounts or self._sales.count != before
            raise

    def _catch_up(self) -> None:
        """Take in the purchases that are in the ledger and not yet known here, whoever else does so by now.

        A LedgerWentBackError says that the ledger does not hold what is known here: nothing more is sold from it.
        """
        if (head := self._look_up()) is not None:
            with self._state:
                self._move_on(head)

    def _look_up(self) -> Head | None:
        """Take in what is in the ledger and not yet known here: the head then, if that is another one.

        What another process has sold may be read in a transaction before it is durable: it is known to stay when the
        transaction has ended, and not before.
        """
        known = self.known
        if not (new := self._ledger.after(known)):
            return None
        with self._state:
            if left := new[self._sales.count - known.entries + 1 :]:
                self._sales.take_in([entry.about_buyer for entry in left])
        return Head(new[-1].sequence + 1, new[-1].hash)

    def _move_on(self, head: Head) -> None:
        """What is known to be in the ledger to stay; whoever calls holds the lock of what was sold."""
        if head.entries > self._known.entries:
            self._known = head
            self.note(head)


def _only(outcome: list[Entry | Refusal] | BaseException | None) -> Entry | Refusal | Exception:
    """What came of a run of one order."""
    assert isinstance(outcome, (list, Exception))
    return outcome[0] if isinstance(outcome, list) else outcome
