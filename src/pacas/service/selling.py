"""Pay over the wire: purchases one after the other, each in the ledger before it is answered."""

from __future__ import annotations

from typing import Any

from pacas.protocol.messages import Refusal
from pacas.provider.accounts import Account, Role
from pacas.provider.entry import check_key
from pacas.provider.provider import Provider

from .authentication import Authentication
from .error_code import ErrorCode
from .failures import Failure
from .limits import QuoteLimit, check_batch
from .metrics import Metrics
from .settings import ServiceSettings
from .wire import PurchaseBody, PurchasesBody, purchases_body
from .wording import Purchases, Wording
from .workers import Workers


class Selling:
    """Answers purchases. Who buys, and with what credit, is looked up anew for each of them."""

    def __init__(
        self,
        provider: Provider,
        settings: ServiceSettings,
        wording: Wording,
        purchases: Purchases,
        metrics: Metrics,
        limit: QuoteLimit,
        authentication: Authentication,
        workers: Workers,
    ) -> None:
        self._provider, self._settings, self._authentication = provider, settings, authentication
        self._wording, self._purchases, self._metrics, self._workers = wording, purchases, metrics, workers
        self._limit = limit

    async def answer(self, body: bytes, key: str, account: Account) -> dict[str, Any]:
        """Pay for one purchase, or for many in their order."""
        asked = await self._workers.read(purchases_body.validate_json, body)
        if isinstance(asked, PurchaseBody):
            check_key(key)
            return {"purchase": await self._workers.sales.run(self._sell, asked, key, account)}
        check_batch(len(asked.purchases), self._settings.batch)
        await self._workers.store.run(self._check, asked, key, account)
        told = []
        for i, one in enumerate(asked.purchases):  # one by one: other buyers come in between
            told.append(await self._workers.sales.run(self._sell, one, f"{key}/{i}", account))
        return {"purchases": told}

    def _check(self, asked: PurchasesBody, key: str, account: Account) -> None:
        """Nothing that is known to fail is left for the middle of many purchases."""
        check_key(f"{key}/{len(asked.purchases)}")
        for i, one in enumerate(asked.purchases):
            request = one.request.request()
            self._provider.quote(request, buyer=account.name)
            self._provider.ledger.find(account.name, f"{key}/{i}", request)

    def _sell(self, asked: PurchaseBody, key: str, account: Account) -> dict[str, Any]:
        now = self._authentication.now(account.token_hash)
        if now.role is not Role.CLIENT:
            raise Failure(ErrorCode.FORBIDDEN, "this account may not buy")
        self._limit.take(now.name, 1)  # it tells as much as a quote, and may be as free
        sold = self._provider.sell(asked.request.request(), asked.ceiling, key, buyer=now.name, credit=now.credit)
        if isinstance(sold, Refusal):
            self._metrics.refused_to_sell()
            return self._wording.refusal(sold)
        self._metrics.sold()
        return self._purchases.bought(sold)
