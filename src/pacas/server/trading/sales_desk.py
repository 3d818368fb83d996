"""Where purchases are paid: one thread serves all calls that wait by the time it is free, in one commit.

Who buys, and with what credit, is looked up anew for every commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

from pacas.errors import KeyReusedError
from pacas.protocol.messages import Payment, Quote, Refusal
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.entry import Entry
from pacas.provider.provider import Provider
from pacas.provider.shared_commits import MOST
from pacas.server.authentication import Authentication
from pacas.server.http.failures import Failure
from pacas.server.limits import QuoteLimit
from pacas.server.monitoring.metrics import Metrics
from pacas.server.monitoring.watch import Watch
from pacas.server.thread_pools import ThreadPool, Together
from pacas.server.trading.answer_writers import PurchaseWriter
from pacas.wire.shapes.failures import ErrorCode


class WantedPurchase(NamedTuple):
    """A purchase that an account wants, and the bytes that it has asked with; none where that is counted already."""

    payment: Payment
    account: Account
    size: int | None = None


class SalesDesk:
    """Sells, and writes what came of it."""

    def __init__(
        self,
        provider: Provider,
        purchases: PurchaseWriter,
        metrics: Metrics,
        limit: QuoteLimit,
        authentication: Authentication,
        pool: ThreadPool,
        check_ready: Callable[[], None],
        watch: Watch | None = None,
    ) -> None:
        self._provider, self._authentication, self._watch = provider, authentication, watch
        self._purchases, self._metrics, self._limit = purchases, metrics, limit
        self._offers, self._check_ready = provider.catalogue(), check_ready
        self._together = Together(pool, self._serve, MOST)

    async def buy(self, wanted: WantedPurchase) -> bytes:
        """Pay for one value, with others who wait; what the buyer is told."""
        return await self._together.ask(wanted)

    def is_new(self, payment: Payment, account: Account) -> bool:
        """Whether a purchase was not made before."""
        return self._provider.ledger.find(account.name, payment.key, payment.request) is None

    def sell(self, payment: Payment, account: Account) -> Entry | Refusal:
        """Pay for a value. It waits for the ledger, so only where sales are made."""
        return self.sell_many([payment], account)[0]

    def sell_many(self, payments: Sequence[Payment], account: Account) -> list[Entry | Refusal]:
        """Pay in order, up to the first surprise."""
        now = self._buyer(account)
        told = self._provider.till.sell_many(payments, buyer=now.name, credit=cache(partial(self._credit, account)))
        for sold in told:
            self._note(sold, now)
        return told

    def is_free_root(self, payment: Payment, account: Account) -> bool:
        """Whether the root is asked for, for nothing: that a tuple is found is all it tells, as a quote of it does.

        A registry's root tells who is in it, and was paid for. What an earlier release has sold so is told again.
        """
        request = payment.request
        offer = self._offers.get(request.attribute)
        if offer is None or offer.may_be_absent or request.level != offer.hierarchy.height:
            return False
        try:
            is_new = self.is_new(payment, account)
        except KeyReusedError:  # which is told of when it is sold
            return False
        return is_new and self._provider.quote(request, buyer=account.name) == Quote(0)

    def free_root(self, payment: Payment, account: Account) -> bytes:
        """The root for nothing: counted like a quote and not recorded, so that no receipt proves who is there."""
        root = self._offers[payment.request.attribute].hierarchy.root_label
        self._metrics.quoted(True, False)
        return self._purchases.free_root(payment.request, root, self._buyer(account).name, payment.key)

    def answer(self, sold: Entry | Refusal, payment: Payment, account: Account) -> bytes:
        if isinstance(sold, Refusal):
            return self._purchases.refused(sold, payment.request, account.name, payment.key)
        return self._purchases.bought(sold)

    def _serve(self, wanted: Sequence[WantedPurchase]) -> list[bytes | Exception]:
        """What each is told, in order. What is wrong with one is no other's business."""
        self._check_ready()  # while they waited for others the ledger may have gone away
        buyer, credit = cache(self._buyer), cache(self._credit)
        told: list[bytes | Exception | None] = []
        paid: list[int] = []
        for place, one in enumerate(wanted):
            try:
                told.append(self._before_sale(one))
                if told[-1] is None:
                    buyer(one.account)
                    paid.append(place)
            except Exception as error:
                told[place:] = [error]
        due = [wanted[place] for place in paid]
        sold = self._provider.till.sell_each(
            [(one.payment, one.account.name, partial(credit, one.account)) for one in due]
        )
        self._purchases.sold_together(one for one in sold if isinstance(one, Entry))
        for place, came, one in zip(paid, sold, due, strict=True):
            told[place] = came if isinstance(came, Exception) else self._told(came, one)
        return [one for one in told if one is not None]

    def _before_sale(self, one: WantedPurchase) -> bytes | None:
        """Count a purchase that was not made before: it tells as much as a quote; and tell what is not sold."""
        if one.size is not None:
            self._limit.take(one.account, int(self.is_new(one.payment, one.account)), one.size)
        return self.free_root(one.payment, one.account) if self.is_free_root(one.payment, one.account) else None

    def _told(self, sold: Entry | Refusal, wanted: WantedPurchase) -> bytes | Exception:
        try:
            self._note(sold, wanted.account)
            return self.answer(sold, wanted.payment, wanted.account)
        except Exception as error:
            return error

    def _note(self, sold: Entry | Refusal, account: Account) -> None:
        if not isinstance(sold, Refusal):
            self._metrics.sold()
            return
        self._metrics.refused_to_sell()
        if self._watch is not None:
            self._watch.refused(account.name, sold.reason.value, 1)

    def _credit(self, account: Account) -> int | None:
        """Read again when no other writer can come in between: to wait for one may have taken seconds."""
        return self._buyer(account).credit

    def _buyer(self, account: Account) -> Account:
        """The account as it is at this moment, if it may still buy."""
        now = self._authentication.now(account.token_hash)
        if not now.accepts(account.certificate):  # bound to another since
            raise Failure.unauthorized()
        if now.role is not account.role:
            raise Failure(ErrorCode.FORBIDDEN, "this account may not buy")
        return now
