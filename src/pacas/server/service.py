"""The provider as a service: what all endpoints share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, TypeVar

from structlog.typing import FilteringBoundLogger

from pacas.core.rates.tab import Tab
from pacas.errors import StorageError
from pacas.protocol.circle import House
from pacas.protocol.messages import Offer
from pacas.provider.ledger.accounts import Account, Accounts
from pacas.provider.ledger.entry import NOTHING_BOUGHT
from pacas.provider.ledger.offers import MemoryOffers, PrivateOffers
from pacas.provider.provider import Provider
from pacas.server.authentication import Authentication
from pacas.server.http.failures import Failure
from pacas.server.http.http_call import HttpCall
from pacas.server.limits import QuoteLimit, ServiceSettings
from pacas.server.monitoring.logs import place
from pacas.server.monitoring.metrics import Metrics
from pacas.server.monitoring.presence import BEAT, Presence
from pacas.server.monitoring.watch import Watch
from pacas.server.signing_key import SigningKey
from pacas.server.thread_pools import Parts, ThreadPools
from pacas.server.trading.answer_writers import PurchaseWriter, QuoteWriter, Widest
from pacas.server.trading.circle import CircleDesk
from pacas.server.trading.offering import Offering
from pacas.server.trading.price_lists import PublishedLists
from pacas.server.trading.quoting import Quoting
from pacas.server.trading.sales_desk import SalesDesk
from pacas.server.trading.selling import Selling
from pacas.server.tree_log import TreeLog
from pacas.wire.shapes.catalogue import Catalogue, Limits, OfferedAttribute, OfferedBounds, PublishedHierarchy, RateStep

T = TypeVar("T")
REFRESH = 0.05
"""Seconds between two looks at what other processes have sold."""
PATIENCE = 5.0
"""Seconds without news from the ledger after which the service is not ready."""


class Service:
    """A provider, its accounts and its key, and the parts that answer calls."""

    def __init__(
        self,
        provider: Provider,
        accounts: Accounts,
        settings: ServiceSettings,
        signing: SigningKey,
        log: FilteringBoundLogger,
        watch: Watch | None = None,
        presence: Presence | None = None,
        offers: PrivateOffers | None = None,
        house: House | None = None,
    ) -> None:
        self._presence = presence
        self.offers = MemoryOffers() if offers is None else offers
        self.provider, self.accounts, self.settings, self.signing, self.log = provider, accounts, settings, signing, log
        self.metrics, self.pools = Metrics(), ThreadPools()
        self.authentication = Authentication(accounts, self.pools.store, check=self._check_alone)
        is_sealed = provider.shop.terms.sealing is not None
        self.reasons = is_sealed if settings.reasons is None else settings.reasons
        self.widest = Widest.of(provider.shop.total, provider.catalogue()) if is_sealed else None
        quotes = QuoteWriter(self.reasons, self.widest)
        self.tree_log = TreeLog(provider.ledger, signing)
        self.purchases = PurchaseWriter(signing, self.tree_log, quotes, self.widest)
        self.price_lists = PublishedLists(provider, settings.publish_prices)
        self.limit = QuoteLimit(settings.quotes_per_minute)
        self.circle = CircleDesk(house, self.limit)
        self.quoting = Quoting(provider, settings, quotes, self.metrics, self.limit, watch)
        self.desk = SalesDesk(
            provider,
            self.purchases,
            self.metrics,
            self.limit,
            self.authentication,
            self.pools.desk,
            self.check_ready,
            watch,
        )
        self.selling = Selling(provider, settings, self.desk, self.purchases, self.limit, self.pools)
        self.offering = Offering(provider, self.offers, self.authentication)
        self._heard: float | None = monotonic()
        self.problem: Exception | None = None
        """What is wrong with the ledger, as far as the last look at it told."""

    def stop(self, seconds: float) -> None:
        """The end comes in so many seconds: what was accepted is finished, as far as it can be by then."""
        self.selling.stop(seconds)

    @property
    def is_ready(self) -> bool:
        """Whether the ledger can be read, and written to as far as that is known."""
        is_heard = self._heard is not None and monotonic() - self._heard < PATIENCE
        return is_heard and (self._presence is None or self._presence.is_fresh)

    def check_ready(self) -> None:
        """Raise where a sale would wait for what nobody else gets either."""
        if not self.is_ready:
            raise Failure.of_ledger(self.problem)

    def _check_alone(self) -> None:
        """Raise where others serve the ledger on other terms: two answers to one question tell more than one."""
        if self._presence is not None and self._presence.is_displaced:
            raise Failure.unavailable()

    def catalogue(self) -> Catalogue:
        """What is for sale. Hierarchies that are nothing but the data's own values are not published."""
        own = self.provider.shop.terms.hierarchies
        attributes = [
            OfferedAttribute(
                attribute=attribute,
                columns=list(offer.columns),
                height=offer.hierarchy.height,
                hierarchy=PublishedHierarchy.of(own[attribute]) if attribute in own else None,
                may_be_absent=offer.may_be_absent,
                floor=offer.floor,
                prices=self.price_lists.offered(attribute),
                costs=self.price_lists.costs(attribute),
                bounds=self._bounds(offer),
                is_sealed=offer.is_sealed,
            )
            for attribute, offer in self.provider.catalogue().items()
        ]
        limits = self._limits(self.settings.quotes_per_minute)
        published = [str(fd) for fd in self.provider.dependencies()]
        return Catalogue(
            attributes=attributes,
            limits=limits,
            reasons=self.reasons,
            dependencies=published,
            schedule=self.rates(),
        )

    def _bounds(self, offer: Offer) -> list[OfferedBounds] | None:
        if offer.bounds is None or not self.settings.publish_prices:
            return None
        return [OfferedBounds(lowest=one.lowest, highest=one.highest) for one in offer.bounds]

    def rates(self, tab: Tab = NOTHING_BOUGHT) -> list[RateStep]:
        """What list prices cost, everybody or an account; none where that is what the list says."""
        schedule = tab.schedule(self.provider.till.schedule)
        return [] if schedule.is_flat else RateStep.all_of(schedule)

    def limits(self, account: Account) -> Limits:
        """How much an account may ask."""
        return self._limits(self.limit.of(account))

    def _limits(self, quotes_per_minute: int) -> Limits:
        batch = min(self.settings.batch, quotes_per_minute)
        body = self.settings.max_body_bytes
        run = min(batch, self.provider.most_at_once)
        return Limits(max_body_bytes=body, max_batch=batch, max_run=run, quotes_per_minute=quotes_per_minute)

    async def in_parts(self, call: HttpCall, account: Account, parts: Parts[T]) -> T:
        """Do what a call asks whose body is there, one of an account at a time, for as long as its client waits."""
        with call.waited_for() as is_gone:
            async with self.pools.turns.of(account.name):
                return await self.pools.quotes.run_parts(parts, is_gone)

    @asynccontextmanager
    async def running(self, app: Any) -> AsyncIterator[None]:
        """Look after the provider while calls are answered; at the end, let what was begun come to its end."""
        tasks = [asyncio.create_task(self._refresh_for_ever())]
        if self._presence is not None:
            tasks.append(asyncio.create_task(self._renew_for_ever(self._presence)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self.pools.finish)

    async def _renew_for_ever(self, presence: Presence) -> None:
        is_away = False
        while True:
            await asyncio.sleep(BEAT)
            try:
                await asyncio.to_thread(presence.renew)
                if is_away:
                    self.log.info("ledger can be written again")
                is_away = False
            except StorageError as error:
                if not is_away:
                    self.log.error("ledger cannot be written", problem=str(error))
                is_away = True

    async def _refresh_for_ever(self) -> None:
        while True:
            try:
                await self.pools.store.run(self.provider.refresh)
                if self._heard is None:
                    self.log.info("ledger is back")
                self._heard, self.problem = monotonic(), None
            except Exception as error:
                if self._heard is not None:
                    problem = {"problem": str(error)} if isinstance(error, StorageError) else {"place": place(error)}
                    self.log.error("ledger is away", error=type(error).__name__, **problem)
                self._heard, self.problem = None, error
            await asyncio.sleep(REFRESH)
