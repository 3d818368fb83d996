"""Pay over the wire: purchases one after the other, each in the ledger before it is answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import takewhile
from time import monotonic, perf_counter
from typing import TypeVar

from pacas.errors import InputError, KeyReusedError
from pacas.protocol.messages import Payment, Reason, Refusal, Request
from pacas.protocol.names import check_key
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.entry import Entry
from pacas.provider.provider import Provider
from pacas.provider.shared_commits import MOST, is_surprise
from pacas.server.http.failures import Failure
from pacas.server.http.json_pieces import LARGEST_OBJECT, read_pieces
from pacas.server.limits import NeededColumns, QuoteLimit, ServiceSettings
from pacas.server.thread_pools import SHORT, Parts, ThreadPools
from pacas.server.trading.answer_writers import PurchaseWriter
from pacas.server.trading.sales_desk import SalesDesk, WantedPurchase
from pacas.wire.shapes.base import DOTS
from pacas.wire.shapes.purchases import PurchaseBody, RunBody, RunPurchase, purchases_reader, run_reader

LAST = 3.0
"""Seconds before the end of a service at which calls of many are answered, as far as they have come."""

T = TypeVar("T")
WaitedFor = Callable[[], AbstractContextManager[Callable[[], bool]]]
"""Looks whether the client of a call has gone."""
UNMADE = Refusal(Reason.REFUSED)
"""As long as what is told of a purchase that was not made."""


class Selling:
    """Answers calls that buy: one value, many in their order, or a run."""

    def __init__(
        self,
        provider: Provider,
        settings: ServiceSettings,
        desk: SalesDesk,
        purchases: PurchaseWriter,
        limit: QuoteLimit,
        pools: ThreadPools,
    ) -> None:
        self._provider, self._desk, self._purchases, self._pools = provider, desk, purchases, pools
        self._limit, self._most = limit, settings.batch
        self._read_purchases = purchases_reader(settings.batch)
        self._read_run = run_reader(min(settings.batch, MOST))
        self._needed = NeededColumns(provider.catalogue())
        self._deadline = math.inf

    def stop(self, seconds: float) -> None:
        """The service ends in so many seconds; a call of many begins no further purchase that could outlast it."""
        self._deadline = monotonic() + seconds - LAST

    async def answer(self, body: bytes, key: str, account: Account, waited_for: WaitedFor) -> bytes:
        """Pay for one purchase, or for many in their order."""
        asked = await self._pools.read(account.name, self._asked, body)
        if is_one := isinstance(asked, PurchaseBody):
            check_key(key)
            payments = [_payment(asked, key)]
        else:
            check_key(f"{key}/{len(asked)}")
            payments = [_payment(one, f"{key}/{i}") for i, one in enumerate(asked)]
        async with self._pools.buyers.of(account.name):
            if is_one and self._provider.shop.keeps_quotes:
                told = [await self._desk.buy(WantedPurchase(payments[0], account, len(body)))]
            else:
                told = await self._many(payments, account, len(body), waited_for)
        return b'{"purchase":%b}' % told[0] if is_one else b'{"purchases":[%b]}' % b",".join(told)

    def _asked(self, body: bytes) -> PurchaseBody | list[PurchaseBody]:
        asked = (
            self._read(body) if len(body) <= LARGEST_OBJECT else [one for some in self._listed(body) for one in some]
        )
        for one in (asked,) if isinstance(asked, PurchaseBody) else asked:
            self._needed.check(one.request.attribute, one.request.tuple.keys())
        return asked

    def _read(self, body: bytes) -> PurchaseBody | list[PurchaseBody]:
        asked = self._read_purchases(body)
        return asked if isinstance(asked, PurchaseBody) else asked.purchases

    def _listed(self, body: bytes) -> Iterator[list[PurchaseBody]]:
        def read(piece: bytes) -> list[PurchaseBody]:
            asked = self._read(piece)
            return [asked] if isinstance(asked, PurchaseBody) else asked

        return read_pieces(body, "purchases", self._most, read)

    async def _many(self, asked: Sequence[Payment], account: Account, size: int, waited_for: WaitedFor) -> list[bytes]:
        """Pay for all, or for none where the limit or a mistake in one of them is known to be in the way, or the client
        has gone before it comes to that."""
        await self._in_parts(self._prepare(asked, account, size), account, waited_for)
        told = []
        for one in asked:  # one by one: other buyers come in between
            self.go_on()
            told.append(await self._desk.buy(WantedPurchase(one, account)))
        return told

    async def _in_parts(self, parts: Parts[None], account: Account, waited_for: WaitedFor) -> None:
        async with self._pools.turns.of(account.name):
            with waited_for() as is_gone:
                await self._pools.quotes.run_parts(parts, is_gone)

    def _prepare(self, asked: Sequence[Payment], account: Account, size: int) -> Parts[None]:
        """Count the purchases that were not made before, as each tells as much as a quote, and may be as free; and see
        that nothing which is known to fail is left for the middle of many."""
        new: list[Payment] = []
        for one in self._with_rests(asked):
            if one is None:
                yield
            elif self._desk.is_new(one, account):
                new.append(one)
        self._limit.take(account, len(new), size)
        for one in self._with_rests(new):
            if one is None:
                yield
            else:
                self._provider.quote(one.request, buyer=account.name)

    def _with_rests(self, asked: Iterable[T]) -> Iterator[T | None]:
        """Each in order, and None where it is time that others come in between."""
        self.go_on()
        begin = perf_counter()
        for one in asked:
            if perf_counter() - begin > SHORT:
                yield None
                self.go_on()
                begin = perf_counter()
            yield one

    def go_on(self) -> None:
        """Begin nothing more if the service is about to end."""
        if monotonic() > self._deadline:
            raise Failure.stopping()

    async def answer_run(self, body: bytes, account: Account, waited_for: WaitedFor) -> bytes:
        """Pay for several in one step, up to the first surprise."""
        async with self._pools.runs.of(account.name):
            asked = await self._pools.read(account.name, self._asked_run, body)
            self.go_on()
            payments = await self._pools.sales.run(self._counted, asked, account, len(body))
            if not self._provider.shop.keeps_quotes:
                await self._in_parts(self._find(payments, account), account, waited_for)
            return await self._pools.sales.run(self._run, payments, account)

    def _find(self, payments: Sequence[Payment], account: Account) -> Parts[None]:
        """Find what is asked about, where that takes more than a look: in the ledger's transaction all others would
        wait for it. What is mistaken is told of when its turn comes."""
        quoted = (Request(one.tuple, one.attribute, 0) for payment in payments for one in payment.quoted)
        for one in self._with_rests((*(payment.request for payment in payments), *quoted)):
            if one is None:
                yield
                continue
            with suppress(InputError):
                self._provider.quote(one, buyer=account.name)

    def _asked_run(self, body: bytes) -> RunBody:
        asked = self._read_run(body)
        for one in asked.run:
            check_key(one.key)
            if not one.key.isascii() or one.key != one.key.strip() or one.key in DOTS:
                raise InputError("a key has ASCII characters only, no space at its ends, and is neither . nor ..")
            self._needed.check(one.request.attribute, one.request.tuple.keys())
            for told in one.quoted:
                self._needed.check(told.attribute, told.tuple.keys())
        return asked

    def _counted(self, asked: RunBody, account: Account, size: int) -> list[Payment]:
        payments = [one.payment() for one in asked.run]
        new = (one for one, payment in zip(asked.run, payments, strict=True) if self._is_new(payment, account))
        self._limit.take(account, sum(map(_tuples, new)), size)
        return payments

    def _run(self, payments: Sequence[Payment], account: Account) -> bytes:
        desk = self._desk
        answers: list[bytes] = []
        while left := payments[len(answers) :]:
            paid = list(takewhile(lambda one: not desk.is_free_root(one, account), left))
            if paid:
                told = desk.sell_many(paid, account)
                self._purchases.sold_together(one for one in told if isinstance(one, Entry))
                answers += (desk.answer(s, p, account) for p, s in zip(paid, told, strict=False))
                ends = len(told) < len(paid) or is_surprise(paid[-1], told[-1])
            else:
                answers.append(desk.free_root(left[0], account))
                ends = left[0].ceiling != 0
            if ends:
                break
        unsold = payments[len(answers) :]
        rest = sum(len(desk.answer(UNMADE, one, account)) + 1 for one in unsold)
        return b'{"purchases":[%b]%b}' % (b",".join(answers), b" " * rest)

    def _is_new(self, payment: Payment, account: Account) -> bool:
        """Whether a purchase was not made before; a key of another request is told of when its turn comes."""
        try:
            return self._desk.is_new(payment, account)
        except KeyReusedError:
            return False


def _payment(asked: PurchaseBody, key: str) -> Payment:
    return Payment(asked.request.request(), asked.ceiling, key)


def _tuples(one: RunPurchase) -> int:
    """How many tuples a purchase asks about: its own, and others that it was planned by."""
    own = (one.request.tuple, one.request.attribute)
    return 1 + sum((other.tuple, other.attribute) != own for other in one.quoted)
