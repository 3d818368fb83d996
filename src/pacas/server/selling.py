"""Pay over the wire: purchases one after the other, each in the ledger before it is answered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile
from time import monotonic

from pacas.errors import InputError, KeyReusedError
from pacas.protocol.messages import Payment, Quote, Reason, Refusal, Request
from pacas.protocol.names import check_key
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.entry import Entry
from pacas.provider.provider import Provider
from pacas.provider.shared_commits import MOST, is_surprise
from pacas.server.answer_writers import PurchaseWriter
from pacas.server.authentication import Authentication
from pacas.server.failures import Failure
from pacas.server.limits import NeededColumns, QuoteLimit, ServiceSettings, check_requests
from pacas.server.metrics import Metrics
from pacas.server.thread_pools import ThreadPools
from pacas.server.watch import Watch
from pacas.wire.shapes import (
    DOTS,
    ErrorCode,
    PurchaseBody,
    PurchasesBody,
    RunBody,
    RunPurchase,
    purchases_reader,
    run_reader,
)

PART = 200
"""Of many purchases, so many are looked up or checked at once: other buyers come in between."""
LAST = 3.0
"""Seconds before the end of a service at which calls of many are answered, as far as they have come."""

UNMADE = Refusal(Reason.REFUSED)
"""As long as what is told of a purchase that was not made."""

Keyed = tuple[PurchaseBody, str]
"""What is to be bought, and the purchase's idempotency key."""


class Selling:
    """Answers purchases. Who buys, and with what credit, is looked up anew for each of them."""

    def __init__(
        self,
        provider: Provider,
        settings: ServiceSettings,
        purchases: PurchaseWriter,
        metrics: Metrics,
        limit: QuoteLimit,
        authentication: Authentication,
        pools: ThreadPools,
        watch: Watch | None = None,
    ) -> None:
        self._provider, self._authentication, self._watch = provider, authentication, watch
        self._purchases, self._metrics, self._pools = purchases, metrics, pools
        self._limit, self._most, self._read = limit, settings.batch, purchases_reader(settings.batch)
        self._read_run = run_reader(min(settings.batch, MOST))
        self._offers = provider.catalogue()
        self._needed = NeededColumns(self._offers)
        self._deadline = math.inf

    def stop(self, seconds: float) -> None:
        """The service ends in so many seconds; a call of many begins no further purchase that could outlast it."""
        self._deadline = monotonic() + seconds - LAST

    async def answer(self, body: bytes, key: str, account: Account) -> bytes:
        """Pay for one purchase, or for many in their order."""
        asked = await self._pools.read(self._asked, body)
        if isinstance(asked, PurchaseBody):
            check_key(key)
            return b'{"purchase":%b}' % await self._pools.sales.run(self._one, asked, key, account, len(body))
        check_key(f"{key}/{len(asked.purchases)}")
        told = await self._many([(one, f"{key}/{i}") for i, one in enumerate(asked.purchases)], account, len(body))
        return b'{"purchases":[%b]}' % b",".join(told)

    def _asked(self, body: bytes) -> PurchaseBody | PurchasesBody:
        check_requests(body, self._most)
        asked = self._read(body)
        for one in (asked,) if isinstance(asked, PurchaseBody) else asked.purchases:
            self._needed.check(one.request.attribute, one.request.tuple.keys())
        return asked

    def _one(self, asked: PurchaseBody, key: str, account: Account, size: int) -> bytes:
        self._limit.take(account, len(self._new([(asked, key)], account)), size)
        return self._sell(asked, key, account)

    async def _many(self, asked: Sequence[Keyed], account: Account, size: int) -> list[bytes]:
        """Pay for all, or for none where the limit or a mistake in one of them is known to be in the way."""
        new: list[Keyed] = []
        for part in self._parts(asked):
            new += await self._pools.store.run(self._new, part, account)
        self._limit.take(account, len(new), size)
        for part in self._parts(new):
            await self._pools.store.run(self._check, part, account)
        told = []
        for one, key in asked:  # one by one: other buyers come in between
            self.go_on()
            told.append(await self._pools.sales.run(self._sell, one, key, account))
        return told

    def _parts(self, asked: Sequence[Keyed]) -> Iterator[Sequence[Keyed]]:
        for start in range(0, len(asked), PART):
            self.go_on()
            yield asked[start : start + PART]

    def go_on(self) -> None:
        """Begin nothing more if the service is about to end."""
        if monotonic() > self._deadline:
            raise Failure.stopping()

    def _new(self, asked: Sequence[Keyed], account: Account) -> list[Keyed]:
        """The purchases that were not made before. They count: each tells as much as a quote, and may be as free."""
        find = self._provider.ledger.find
        return [(one, key) for one, key in asked if find(account.name, key, one.request.request()) is None]

    def _check(self, asked: Sequence[Keyed], account: Account) -> None:
        """Nothing that is known to fail is left for the middle of many purchases."""
        for one, _ in asked:
            self._provider.quote(one.request.request(), buyer=account.name)

    def _sell(self, asked: PurchaseBody, key: str, account: Account) -> bytes:
        request = asked.request.request()
        if self._is_free_root(request, key, account):
            return self._free_root(request, key, account)
        return self._answer(self.sell(request, asked.ceiling, key, account), request, key, account)

    def _is_free_root(self, request: Request, key: str, account: Account) -> bool:
        """Whether the root is asked for, for nothing: that a tuple is found is all it tells, as a quote of it does.

        A registry's root tells who is in it, and was paid for. What an earlier release has sold so is told again.
        """
        offer = self._offers.get(request.attribute)
        if offer is None or offer.may_be_absent or request.level != offer.hierarchy.height:
            return False
        try:
            is_sold = self._provider.ledger.find(account.name, key, request) is not None
        except KeyReusedError:  # which is told of when it is sold
            return False
        return not is_sold and self._provider.quote(request, buyer=account.name) == Quote(0)

    def _free_root(self, request: Request, key: str, account: Account) -> bytes:
        """The root for nothing: counted like a quote and not recorded, so that no receipt proves who is there."""
        root = self._offers[request.attribute].hierarchy.root_label
        self._metrics.quoted(True, False)
        return self._purchases.free_root(request, root, self._buyer(account).name, key)

    async def answer_run(self, body: bytes, account: Account) -> bytes:
        """Pay for several in one step, up to the first surprise."""
        asked = await self._pools.read(self._asked_run, body)
        self.go_on()
        return await self._pools.sales.run(self._run, asked, account, len(body))

    def _asked_run(self, body: bytes) -> RunBody:
        check_requests(body, self._most)
        asked = self._read_run(body)
        for one in asked.run:
            check_key(one.key)
            if not one.key.isascii() or one.key != one.key.strip() or one.key in DOTS:
                raise InputError("a key has ASCII characters only, no space at its ends, and is neither . nor ..")
            self._needed.check(one.request.attribute, one.request.tuple.keys())
            for told in one.quoted:
                self._needed.check(told.attribute, told.tuple.keys())
        return asked

    def _run(self, asked: RunBody, account: Account, size: int) -> bytes:
        self._limit.take(account, sum(_tuples(one) for one in asked.run if self._is_new(one, account)), size)
        payments = [one.payment() for one in asked.run]
        answers: list[bytes] = []
        while left := payments[len(answers) :]:
            paid = list(takewhile(lambda one: not self._is_free_root(one.request, one.key, account), left))
            if paid:
                told = self.sell_many(paid, account)
                answers += (self._answer(s, p.request, p.key, account) for p, s in zip(paid, told, strict=False))
                ends = len(told) < len(paid) or is_surprise(paid[-1], told[-1])
            else:
                answers.append(self._free_root(left[0].request, left[0].key, account))
                ends = left[0].ceiling != 0
            if ends:
                break
        unsold = payments[len(answers) :]
        rest = sum(len(self._purchases.refused(UNMADE, one.request, account.name, one.key)) + 1 for one in unsold)
        return b'{"purchases":[%b]%b}' % (b",".join(answers), b" " * rest)

    def _is_new(self, one: RunPurchase, account: Account) -> bool:
        """Whether a purchase was not made before; a key of another request is told of when its turn comes."""
        try:
            return bool(self._new([(one, one.key)], account))
        except KeyReusedError:
            return False

    def _answer(self, sold: Entry | Refusal, request: Request, key: str, account: Account) -> bytes:
        if isinstance(sold, Refusal):
            return self._purchases.refused(sold, request, account.name, key)
        return self._purchases.bought(sold)

    def sell(self, request: Request, ceiling: int, key: str, account: Account) -> Entry | Refusal:
        """Pay for a value. It waits for the ledger, so only where sales are made."""
        return self.sell_many([Payment(request, ceiling, key)], account)[0]

    def sell_many(self, payments: Sequence[Payment], account: Account) -> list[Entry | Refusal]:
        """Pay in order, up to the first surprise."""
        now = self._buyer(account)

        def credit() -> int | None:
            """Read again when no other writer can come in between: to wait for one may have taken seconds."""
            return self._buyer(account).credit

        told = self._provider.till.sell_many(payments, buyer=now.name, credit=credit)
        for sold in told:
            if not isinstance(sold, Refusal):
                self._metrics.sold()
                continue
            self._metrics.refused_to_sell()
            if self._watch is not None:
                self._watch.refused(now.name, sold.reason.value, 1)
        return told

    def _buyer(self, account: Account) -> Account:
        """The account as it is at this moment, if it may still buy."""
        now = self._authentication.now(account.token_hash)
        if now.role is not account.role:
            raise Failure(ErrorCode.FORBIDDEN, "this account may not buy")
        return now


def _tuples(one: RunPurchase) -> int:
    """How many tuples a purchase asks about: its own, and others that it was planned by."""
    own = (one.request.tuple, one.request.attribute)
    return 1 + sum((other.tuple, other.attribute) != own for other in one.quoted)
