"""The paths of the service, and what each of them does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ParamSpec

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.responses import Response

from pacas.core.rates.schedule import Schedule
from pacas.core.rates.tab import Tab
from pacas.errors import InputError
from pacas.provider.ledger.accounts import Account, Role
from pacas.provider.ledger.entry import Entry
from pacas.server.http.failures import Failure
from pacas.server.http.http_call import HttpCall, read_body
from pacas.server.limits import MEBIBYTE
from pacas.server.monitoring.metrics import MEDIA_TYPE as METRICS
from pacas.server.service import Service
from pacas.server.thread_pools import all_parts
from pacas.server.trading.offering import terms_document
from pacas.wire.shapes.base import ARROW, DOTS, JSON, LONGEST_NAME
from pacas.wire.shapes.failures import ErrorCode, Status
from pacas.wire.shapes.purchases import LARGEST_RUN
from pacas.wire.shapes.receipts import ProofsBody, TreeHeadDocument

PAGE, LARGEST_PAGE = 100, 1000
PAGE_BYTES = 4 * MEBIBYTE
"""A page of purchases ends before it is larger than this, unless it has but one."""
PURCHASES = 10
"""Purchases on a page that count like a tuple that is asked about."""
PROOFS = 100
"""Proofs of the log that count like a tuple that is asked about."""
FOR_EVER = "private, max-age=31536000, immutable"
"""What caches are told of what never changes."""
P = ParamSpec("P")
_CURSOR = re.compile(r"[0-9]{1,18}", re.ASCII)


class Routes:
    """What each path does; `openapi.py` says which is which."""

    def __init__(self, service: Service) -> None:
        self._service = service
        catalogue = service.catalogue()
        self._catalogue = catalogue.model_dump_json().encode().rsplit(catalogue.limits.model_dump_json().encode(), 1)
        """The catalogue before and after its limits, which may be an account's own. No text in it looks like them."""
        self._key = service.signing.published.model_dump_json().encode()
        self._ok = Status().model_dump_json().encode()

    async def catalogue(self, call: HttpCall) -> Response:
        account = await self._account_of(call)
        limits = self._service.limits(account).model_dump_json().encode()
        return _json(limits.join(self._catalogue))

    async def quotes(self, call: HttpCall) -> Response:
        account = await self._client(call)
        body = await self._body(call, JSON, account)
        quoting, pools = self._service.quoting, self._service.pools
        try:
            if quoting.is_quick and len(body) <= pools.AT_ONCE:
                return _json(all_parts(quoting.json(body, account)))
            return _json(await self._service.in_parts(call, account, quoting.json(body, account)))
        except ValidationError as error:
            raise Failure.of(error) from None

    async def quotes_arrow(self, call: HttpCall) -> Response:
        account = await self._client(call)
        attribute = call.parameter("attribute")[:LONGEST_NAME]
        body = await self._body(call, ARROW, account)
        quoting = self._service.quoting
        told = await self._service.in_parts(call, account, quoting.arrow(attribute, body, account))
        return Response(told, media_type=ARROW)

    async def prices(self, call: HttpCall) -> Response:
        await self._client(call)
        lists, attribute = self._service.price_lists, call.parameter("attribute")
        if attribute not in lists:
            raise Failure(ErrorCode.NOT_FOUND, "no price list of this attribute is published; ask for quotes")
        etag = f'"{lists.version}"'
        keep = FOR_EVER if call.query("version", "") == lists.version else "private, no-cache"
        headers = {"ETag": etag, "Cache-Control": keep}
        if call.header(b"if-none-match").decode("latin-1") == etag:
            return Response(status_code=304, headers=headers)
        content = await self._service.pools.quotes.run(lists.stream, attribute)
        return Response(content, media_type=ARROW, headers=headers)

    async def buy(self, call: HttpCall) -> Response:
        account = await self._client(call)
        key = call.header(b"idempotency-key").decode("latin-1")
        if not key:
            message = "the header Idempotency-Key is missing: a key of your own, the same when you try again"
            raise Failure(ErrorCode.BAD_REQUEST, message)
        if not key.isascii():
            raise Failure(ErrorCode.UNPROCESSABLE, "the header Idempotency-Key must hold ASCII characters only")
        if key in DOTS:
            raise Failure(ErrorCode.UNPROCESSABLE, f"the header Idempotency-Key must not be {key!r}: no path ends so")
        body = await self._body(call, JSON, account)
        self._service.check_ready()
        try:
            return _json(await self._service.selling.answer(body, key, account, call.waited_for))
        except ValidationError as error:
            raise Failure.of(error) from None

    async def run(self, call: HttpCall) -> Response:
        account = await self._client(call)
        body = await self._body(call, JSON, account, LARGEST_RUN)
        self._service.check_ready()
        try:
            return _json(await self._service.selling.answer_run(body, account, call.waited_for))
        except ValidationError as error:
            raise Failure.of(error) from None

    async def purchase(self, call: HttpCall) -> Response:
        account = await self._client(call)
        return _json(await self._in_turn(account, self._purchase, call.parameter("id"), account.name))

    async def offers(self, call: HttpCall) -> Response:
        account = await self._client(call)
        self._service.limit.take(account, 1)
        return _json(await self._in_turn(account, self._service.offering.list, account))

    async def ask_offer(self, call: HttpCall) -> Response:
        account = await self._client(call)
        body = await self._body(call, JSON, account)
        try:
            return await self._written(account, self._service.offering.ask, body, account)
        except ValidationError as error:
            raise Failure.of(error) from None

    async def accept_offer(self, call: HttpCall) -> Response:
        account, id = await self._client(call), call.parameter("id")
        return await self._written(account, self._service.offering.accept, id, account)

    async def withdraw_offer(self, call: HttpCall) -> Response:
        account, id = await self._client(call), call.parameter("id")
        return await self._written(account, self._service.offering.withdraw, id, account)

    async def _written(
        self, account: Account, write: Callable[P, bytes], *args: P.args, **kwargs: P.kwargs
    ) -> Response:
        """Change an offer: a durable write, which counts like a purchase, and waits for the ledger where these do."""
        self._service.check_ready()
        self._service.limit.take(account, 1)
        async with self._service.pools.turns.of(account.name):
            return _json(await self._service.pools.sales.run(write, *args, **kwargs))

    async def circle_lines(self, call: HttpCall) -> Response:
        account = await self._account_of(call, Role.MEMBER)
        return _json(await self._in_turn(account, self._service.circle.read, call.parameter("key"), account))

    async def circle_reserve(self, call: HttpCall) -> Response:
        account = await self._account_of(call, Role.MEMBER)
        body, key = await self._body(call, JSON, account), call.parameter("key")
        try:
            return _json(await self._in_turn(account, self._service.circle.reserve, key, body, account))
        except ValidationError as error:
            raise Failure.of(error) from None

    async def account(self, call: HttpCall) -> Response:
        account = await self._account_of(call)
        after, limit = _page(call)
        return _json(await self._in_turn(account, self._account, account, after, limit))

    async def accounts(self, call: HttpCall) -> Response:
        await self._account_of(call, Role.OPERATOR)
        return _json(await self._service.pools.store.run(self._accounts))

    async def log_head(self, call: HttpCall) -> Response:
        account = await self._account_of(call)
        return _json(await self._in_turn(account, self._log_head))

    async def log_proofs(self, call: HttpCall) -> Response:
        account = await self._account_of(call)
        body = await self._body(call, JSON, account)
        return _json(await self._in_turn(account, self._proofs, body, account))

    async def key(self, call: HttpCall) -> Response:
        return _json(self._key)

    async def health(self, call: HttpCall) -> Response:
        return _json(self._ok)

    async def ready(self, call: HttpCall) -> Response:
        self._service.check_ready()
        return _json(self._ok)

    async def metrics(self, call: HttpCall) -> Response:
        await self._account_of(call, Role.OPERATOR)
        totals = await self._service.pools.store.run(self._service.provider.ledger.totals)
        text = self._service.metrics.text(sum(total.spent for total in totals.values()))
        return Response(text, media_type=METRICS)

    async def _body(self, call: HttpCall, media_type: str, account: Account, most: int | None = None) -> bytes:
        counted = partial(self._service.limit.take_body, account)
        largest = self._service.settings.max_body_bytes
        return await read_body(call, media_type.encode(), min(largest, most or largest), counted)

    async def _in_turn(self, account: Account, ask: Callable[P, bytes], *args: P.args, **kwargs: P.kwargs) -> bytes:
        """Ask the store, one call of an account at a time: many pages of one keep no thread from others."""
        async with self._service.pools.turns.of(account.name):
            return await self._service.pools.store.run(ask, *args, **kwargs)

    async def _client(self, call: HttpCall) -> Account:
        return await self._account_of(call, Role.CLIENT)

    async def _account_of(self, call: HttpCall, role: Role | None = None) -> Account:
        """The caller's account, when it is its turn."""
        authentication = self._service.authentication
        account = authentication.recent(call, role) or await authentication.account(call, role)
        await self._service.pools.rounds.turn(account.name)
        return account

    # ---- what is asked of the store -----------------------------------------------------------------------------

    def _purchase(self, key: str, buyer: str) -> bytes:
        try:
            entry = self._service.provider.ledger.find(buyer, key)
        except InputError:  # what can be nobody's key
            entry = None
        if entry is None:
            raise Failure(ErrorCode.NOT_FOUND, "this account has no purchase with this id")
        return self._service.purchases.with_request(entry)

    def _log_head(self) -> bytes:
        return TreeHeadDocument.of(self._service.tree_log.head()).model_dump_json().encode()

    def _proofs(self, body: bytes, account: Account) -> bytes:
        try:
            asked = ProofsBody.model_validate_json(body)
        except ValidationError as error:
            raise Failure.of(error) from None
        cost = 1 + (len(asked.heads) + len(asked.entries)) // PROOFS
        self._service.limit.take(account, min(cost, self._service.limit.of(account)))
        consistency, inclusion = self._service.tree_log.proofs(asked.size, asked.heads, asked.entries)
        return to_json({"consistency": consistency, "inclusion": inclusion})

    def _account(self, account: Account, after: int, limit: int) -> bytes:
        ledger = self._service.provider.ledger
        total = ledger.total(account.name)
        entries = ledger.bought_by(account.name, after, limit + 1)
        counted = self._service.limit
        counted.take(account, min(len(entries) // PURCHASES, counted.of(account)))
        purchases, provider = self._first(entries[:limit]), self._service.provider
        tab, standing = provider.till.tab(account.name), provider.till.schedule
        lost = tab.bill(standing) - tab.due(standing) - tab.unused(standing)  # of what was prepaid earlier
        head = {
            "account": account.name,
            "role": account.role.value,
            "credit": account.credit,
            "spent": total.spent,
            "remaining": None if account.credit is None else max(0, account.credit - total.spent - lost),
            "listed": tab.listed,
            "schedule": self._service.rates(tab),
            "terms": terms_document(tab, standing),
        }
        following = str(entries[len(purchases) - 1].sequence) if len(entries) > len(purchases) else None
        told = (to_json(head)[:-1], b",".join(purchases), to_json(following))
        return b'%b,"purchases":[%b],"next":%b}' % told

    def _first(self, entries: Sequence[Entry]) -> list[bytes]:
        """The first of an account's purchases, as many as go on a page."""
        purchases: list[bytes] = []
        size = 0
        for entry in entries:
            purchase = self._service.purchases.with_request(entry)
            size += len(purchase)
            if purchases and size > PAGE_BYTES:
                break
            purchases.append(purchase)
        return purchases

    def _accounts(self) -> bytes:
        provider = self._service.provider
        totals = provider.ledger.totals()
        accounts = self._service.accounts.list()
        return to_json(
            [
                _line(one, *totals.get(one.name, (0, 0)), provider.till.tab(one.name), provider.till.schedule)
                for one in accounts
            ]
        )


def _line(account: Account, purchases: int, spent: int, tab: Tab, standing: Schedule) -> dict[str, Any]:
    return {
        "account": account.name,
        "role": account.role.value,
        "credit": account.credit,
        "spent": spent,
        "purchases": purchases,
        "listed": tab.listed,
        "terms": terms_document(tab, standing),
        "revoked": account.revoked,
        "quotes_per_minute": account.quotes_per_minute,
    }


def _page(call: HttpCall) -> tuple[int, int]:
    """Where a page of purchases begins, and how long it is."""
    after = call.query("after", "0")
    limit = call.query("limit", str(PAGE))
    if not _CURSOR.fullmatch(after):
        raise Failure(ErrorCode.UNPROCESSABLE, "after: give what `next` was on the page before")
    if not _CURSOR.fullmatch(limit) or not 1 <= int(limit) <= LARGEST_PAGE:
        raise Failure(ErrorCode.UNPROCESSABLE, f"limit: give a whole number from 1 to {LARGEST_PAGE:,}")
    return int(after), int(limit)


def _json(content: bytes) -> Response:
    return Response(content, media_type=JSON)
