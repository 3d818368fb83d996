"""A provider at the other end of a wire, as its client sees it: a `Marketplace` like the provider itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from time import time
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import quote as escaped
from urllib.parse import urlencode

import numpy as np
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.rates.schedule import Schedule
from pacas.core.rates.tab import AgreedTerms
from pacas.errors import HierarchyError, InputError, ParseError, RemoteError
from pacas.protocol.marketplace import Columns, check_request, lacks_column, offer_of
from pacas.protocol.messages import (
    LARGEST,
    Answer,
    Ladders,
    Offer,
    OfferedTerms,
    Payment,
    PriceBounds,
    Quote,
    Reason,
    Refusal,
    Request,
    refused,
)
from pacas.protocol.names import check_key
from pacas.protocol.order_of_checks import REASON_OF
from pacas.protocol.price_list import PriceList
from pacas.remote.address import Address
from pacas.remote.agreed_columns import Agreed, AgreedColumns
from pacas.remote.arrow_streams import bodies, prices_of, table_of, texts_of
from pacas.remote.connection import LARGEST_ANSWER, TIMEOUT, Certificate, Connection, no_provider
from pacas.remote.known_keys import KnownKeys, asked
from pacas.remote.local_prices import BoughtBefore, LocalPrices
from pacas.remote.sold_answers import SoldAnswers
from pacas.remote.statement import Statement, StatementLine
from pacas.wire.connection_file import read_connection_file
from pacas.wire.price_list_stream import read_price_list
from pacas.wire.shapes.accounts import AccountAnswer, OfferAnswer, OfferBody, OfferDocument, OffersAnswer
from pacas.wire.shapes.base import ARROW, JSON, ClientShape, ServerShape
from pacas.wire.shapes.catalogue import Catalogue, Limits, OfferedAttribute, RateStep, schedule_of
from pacas.wire.shapes.purchases import (
    LARGEST_RUN,
    Bought,
    PurchaseAnswer,
    PurchaseBody,
    PurchaseRequest,
    QuotedTuple,
    RunAnswer,
    RunBody,
    RunPurchase,
)
from pacas.wire.shapes.quotes import Price, QuoteRequest, QuotesAnswer, QuotesBody, Refused

_ARROW = {"Content-Type": ARROW, "Accept": ARROW}
PRICES = "/v1/prices/"
"""Where price lists are."""
BYTES_OF_KEY = 32
"""More than a key takes in a price list."""
PATIENCE = 90.0
"""Seconds for which a request is tried again while a server that has answered before does not."""

Shape = TypeVar("Shape", bound=ServerShape)


class RemoteProvider:
    """A provider's server, and the account that a token opens there. It satisfies `Marketplace`.

    Certificates are always verified; `ca` names a file with those of a private authority. What is lost on the way is
    asked for again, `patience` seconds long: a purchase is charged once under its key. Where the provider publishes its
    prices, quotes are worked out here. Use it in a `with`, or `close` it. `insecure` allows plain HTTP to another
    machine. Every answer is checked before it counts: its price, its value, and the receipt's signature by the
    `public_key` (PEM), or, where none is given, by the one that the server publishes when it is first asked; by a key
    that has followed it, if the published history proves that. Nothing is paid to who does not publish a given one.
    `send` names, by attribute, the provider's columns that may be sent; or, for all that is not on this machine, those
    that may be sent for any attribute. Without it they are what the catalogue asks for. `expired` is a line, if the
    token is known to count no more: it is then not sent.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
        ca: str | Path | None = None,
        client_certificate: Certificate | None = None,
        insecure: bool = False,
        public_key: str | None = None,
        send: Agreed | None = None,
        expired: str | None = None,
    ) -> None:
        address = Address.parse(url, insecure=insecure)
        self.url = address.url
        self._agreed = AgreedColumns(self.url, send if isinstance(send, Mapping) or not address.is_loopback else None)
        self._connection = Connection(
            address, token, timeout=timeout, patience=patience, ca=ca, client_certificate=client_certificate
        )
        self._keys = KnownKeys(public_key, asked(self._connection), self.url)
        self._expired = expired
        self._sold = SoldAnswers(self.url, self._keys)
        self._lock = Lock()
        self._offers: Mapping[str, Offer] | None = None
        self._limits: Limits
        self._reasons: bool
        self._schedule: Schedule
        self._dependencies: tuple[FunctionalDependency, ...]
        self._paths: dict[str, str] = {}
        """Of each attribute that has a price list, where it is."""
        self._prices: LocalPrices

    @classmethod
    def of_file(cls, path: str | Path, **how: Any) -> RemoteProvider:
        """The provider that a connection file (`buyer.pacas`) leads to; `how` as in the constructor."""
        file = read_connection_file(Path(path))
        expired = file.expired(time(), Path(path).name)
        return cls(file.url, file.token, public_key=file.public_key, expired=expired, **how)

    @staticmethod
    def waiting(seconds: float) -> dict[str, float]:
        """What to construct it with to wait no longer than that for one answer, tried once or often."""
        return {"timeout": min(TIMEOUT, seconds), "patience": seconds}

    def __repr__(self) -> str:
        return f"RemoteProvider({self.url!r})"

    def __enter__(self) -> RemoteProvider:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    # ---- the marketplace --------------------------------------------------------------------------------------

    def catalogue(self) -> Mapping[str, Offer]:
        """What is for sale; asked for once."""
        if self._expired is not None:
            raise RemoteError(self._expired)
        with self._lock:
            if self._offers is None:
                told = self._ask(Catalogue, "GET", "/v1/catalogue")
                try:
                    offers = {one.attribute: _offer(one) for one in told.attributes}
                    self._dependencies = FunctionalDependency.parse_all(told.dependencies)
                except (HierarchyError, ParseError):
                    raise no_provider(self.url) from None
                self._schedule = self._schedule_of(told.schedule)
                self._limits, self._reasons = told.limits, told.reasons
                self._paths = {one.attribute: one.prices.path for one in told.attributes if one.prices}
                if not all(path.startswith(PRICES) for path in self._paths.values()):  # a token goes nowhere else
                    raise no_provider(self.url)
                self._prices = LocalPrices(offers, self._price_list, self._bought)
                self._offers = MappingProxyType(offers)
            return self._offers

    def schedule(self) -> Schedule:
        """What list prices cost who has bought so much."""
        self.catalogue()
        return self._schedule

    def dependencies(self) -> tuple[FunctionalDependency, ...]:
        """Those that the provider publishes."""
        self.catalogue()
        return self._dependencies

    def quote(self, request: Request) -> Quote | Refusal:
        """AskPrice: what a request costs this account now, or that it is refused."""
        asked = self._request(request)
        if request.attribute in self._prices:
            return self._told(self._prices.quote(request))
        body = _json(QuotesBody(requests=[QuoteRequest(**asked.model_dump())]))
        match self._ask(QuotesAnswer, "POST", "/v1/quotes", body).quotes:
            case [Price() as told]:
                return Quote(told.price)
            case [Refused() as told]:
                return Refusal(Reason(told.refused))
        raise no_provider(self.url)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        """AskPrice for many tuples at all levels, in as many calls as the server's limits ask for."""
        offer = offer_of(attribute, self.catalogue())
        self._agreed.check(offer)
        _check_columns(offer, tuples)
        if attribute in self._prices:
            quoted = self._prices.ladders(attribute, texts_of({column: tuples[column] for column in offer.columns}))
            return Ladders(quoted if self._reasons else np.where(quoted < 0, refused(Reason.REFUSED), quoted))
        table = table_of({column: tuples[column] for column in offer.columns})
        levels = offer.hierarchy.height + 1
        ladders = [np.empty((0, levels), dtype=np.int64)]
        for rows, body in bodies(table, self._limits.max_batch, self._limits.max_body_bytes):
            told = self._connection.ask("POST", f"/v1/quotes/{escaped(attribute, safe='')}", body, _ARROW)
            prices = prices_of(told.content, rows, levels)
            if prices is None:
                raise no_provider(self.url)
            ladders.append(prices)
        return Ladders(ladders[-1] if len(ladders) == 2 else np.concatenate(ladders))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        """Pay: buy at the price of this moment, if it is at most `ceiling` nanocredits; the answer has a receipt."""
        _check_key(key)
        asked = self._request(request)
        body = _json(PurchaseBody(request=asked, ceiling=_amount(ceiling)))
        self._keys.meet()
        told = self._ask(PurchaseAnswer, "POST", "/v1/purchases", body, {"Idempotency-Key": key}).purchase
        return self._answered(told, Payment(request, ceiling, key), asked)

    @property
    def most_at_once(self) -> int:
        """Values that the server sells in one step."""
        self.catalogue()
        return self._limits.max_run

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        """Pay in order up to the first surprise, in one call; what would make it too large is not paid."""
        asked = [self._run_purchase(payment) for payment in payments[: self.most_at_once]]
        body = _json(RunBody(run=asked))
        while len(body) > min(self._limits.max_body_bytes, LARGEST_RUN) and len(asked) > 1:
            asked = asked[: len(asked) // 2]
            body = _json(RunBody(run=asked))
        self._keys.meet()
        told = self._ask(RunAnswer, "POST", "/v1/runs", body).purchases
        if len(told) > len(asked):
            raise no_provider(self.url)
        return [
            self._answered(one, payment, purchase.request)
            for one, payment, purchase in zip(told, payments, asked, strict=False)
        ]

    def _run_purchase(self, payment: Payment) -> RunPurchase:
        _check_key(payment.key)
        for one in payment.quoted:
            self._agreed.check(offer_of(one.attribute, self.catalogue()))
        quoted = [
            QuotedTuple(tuple=dict(one.tuple), attribute=one.attribute, prices=list(one.prices))
            for one in payment.quoted
        ]
        request, ceiling = self._request(payment.request), _amount(payment.ceiling)
        return RunPurchase(request=request, ceiling=ceiling, key=payment.key, quoted=quoted)

    def _answered(self, told: Bought | Refused, payment: Payment, asked: PurchaseRequest) -> Answer | Refusal:
        """What came of a payment, checked."""
        request, key = payment.request, payment.key
        self._sold.agree(key, _amount(payment.ceiling))
        if isinstance(told, Refused):
            reason = Reason(told.refused)
            is_credit = reason is Reason.REFUSED and self._is_beyond_credit(request)
            return Refusal(Reason.CREDIT if is_credit else reason)
        self._sold.check(told, asked, offer_of(request.attribute, self.catalogue()), key)
        self._prices.learn(request)
        return _answer(told)

    def balance(self) -> Statement:
        """The account that the token opens: what it may spend and has spent, without its purchases."""
        now = self._ask(AccountAnswer, "GET", "/v1/account?limit=1")
        return self._statement(now, ())

    def account(self) -> Statement:
        """The account that the token opens: what it may spend, has spent, and has bought, however much that is."""
        pages = list(self._pages())
        now = pages[-1]
        purchases = (StatementLine(one.id, one.request.request(), _answer(one)) for p in pages for one in p.purchases)
        return self._statement(now, tuple(purchases))

    def _statement(self, now: AccountAnswer, purchases: tuple[StatementLine, ...]) -> Statement:
        money = (now.account, now.role, now.credit, now.spent, now.remaining)
        rates, own = self._schedule_of(now.schedule), now.terms
        if own is None:
            return Statement(*money, purchases, now.listed, rates)
        terms = AgreedTerms(self._schedule_of(own.schedule), own.prepaid, own.until)
        return Statement(*money, purchases, now.listed, rates, terms, own.unused)

    # ---- private offers ---------------------------------------------------------------------------------------

    def offers(self) -> tuple[OfferedTerms, ...]:
        """What the provider holds out to this account, and what it has asked for."""
        return tuple(map(self._offered, self._ask(OffersAnswer, "GET", "/v1/offers").offers))

    def ask_offer(self, rate: int, prepaid: int, days: int) -> OfferedTerms:
        """Ask for other terms: a rate in hundredths of a per cent, what would be prepaid, and for how long."""
        try:
            body = _json(OfferBody(rate=rate, prepaid=prepaid, days=days))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise InputError(f"{first['loc'][0]}: {first['msg'].lower()}") from None
        return self._offered(self._ask(OfferAnswer, "POST", "/v1/offers", body).offer)

    def accept_offer(self, id: str) -> OfferedTerms:
        """Accept an offer; its terms are in the provider's ledger when this returns."""
        self._keys.meet()
        told = self._ask(OfferAnswer, "POST", f"/v1/offers/{escaped(id, safe='')}/accept").offer
        with self._lock:
            self._offers = None  # and with it what was known of prices
        return self._offered(told)

    def withdraw_offer(self, id: str) -> OfferedTerms:
        """Decline an offer, or take back what was asked for."""
        return self._offered(self._ask(OfferAnswer, "POST", f"/v1/offers/{escaped(id, safe='')}/withdraw").offer)

    def _offered(self, told: OfferDocument) -> OfferedTerms:
        schedule = self._schedule_of(told.schedule)
        return OfferedTerms(told.id, told.state, told.stands, schedule, told.prepaid, told.days, told.stands_until)

    def _is_beyond_credit(self, request: Request) -> bool:
        """Is a request priced, at more than the account may spend? A provider that keeps its reasons does not say."""
        remaining, told = self.balance().remaining, self.quote(request)
        return isinstance(told, Quote) and remaining is not None and told.price > remaining

    # ---- quoting by the provider's own prices -----------------------------------------------------------------

    def _price_list(self, attribute: str, most: int) -> PriceList:
        """The price list of an attribute, if it is one of what is offered, and has at most so many units."""
        longest = LARGEST_ANSWER + BYTES_OF_KEY * most
        answer = self._connection.ask("GET", self._paths[attribute], None, {"Accept": ARROW}, most=longest)
        content = answer.content
        listed = read_price_list(content, most)
        if listed is None or not _is_of(listed, offer_of(attribute, self.catalogue())):
            raise RemoteError(f"{self.url} publishes a price list of {attribute} that is none; tell its keeper")
        return listed

    def _bought(self) -> BoughtBefore:
        """What this account has bought so far, and what list prices cost it."""
        requests, pages = [], list(self._pages())
        for one in (one for page in pages for one in page.purchases):
            request = one.request.request()
            offer = (self._offers or {}).get(request.attribute)
            if offer is None or not request.tuple.keys() >= {*offer.columns}:
                raise no_provider(self.url)
            requests.append(request)
        return BoughtBefore(requests, pages[0].listed, self._schedule_of(pages[0].schedule))

    def _schedule_of(self, told: Sequence[RateStep]) -> Schedule:
        try:
            return schedule_of(told)
        except InputError:
            raise no_provider(self.url) from None

    def _told(self, price: int) -> Quote | Refusal:
        if price >= 0:
            return Quote(price)
        return Refusal(REASON_OF[price] if self._reasons else Reason.REFUSED)

    # ---- asking -----------------------------------------------------------------------------------------------

    def _request(self, request: Request) -> PurchaseRequest:
        """What is sent: the columns that the match needs, and no more. A mistake in it need not travel."""
        offer = check_request(request, self.catalogue())
        self._agreed.check(offer)
        _check_columns(offer, request.tuple)
        needed = {column: request.tuple[column] for column in offer.columns}
        try:
            return PurchaseRequest(tuple=needed, attribute=request.attribute, level=request.level)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise InputError(f"the request cannot be sent: {first['msg'].lower()}") from None

    def agree(self, send: Mapping[str, Collection[str]]) -> None:
        """The client has been asked: these columns may be sent, by attribute, and no others."""
        self._agreed.agree(send)

    def beyond_agreed(self, offer: Offer) -> list[str]:
        """The columns of a match that the client has not agreed to send."""
        return self._agreed.beyond(offer)

    def _ask(
        self, shape: type[Shape], method: str, path: str, body: bytes | None = None, more: Mapping[str, str] = {}
    ) -> Shape:
        headers = dict(more) if body is None else {"Content-Type": JSON, **more}
        response = self._connection.ask(method, path, body, headers)
        try:
            return shape.model_validate_json(response.content)
        except ValidationError:
            raise no_provider(self.url) from None

    def _pages(self) -> Iterator[AccountAnswer]:
        after: str | None = None
        seen: set[str] = set()
        while True:
            query = "" if after is None else "?" + urlencode({"after": after})
            page = self._ask(AccountAnswer, "GET", f"/v1/account{query}")
            yield page
            if page.next is None:
                return
            if page.next in seen or not page.purchases:
                raise no_provider(self.url)
            seen.add(page.next)
            after = page.next


def _offer(told: OfferedAttribute) -> Offer:
    """An attribute that is for sale; where its values are not told, each one is a leaf under the root (D1)."""
    shown = told.hierarchy
    hierarchy = Hierarchy.flat([]) if shown is None else Hierarchy.from_rows(shown.levels, numeric=shown.numeric)
    if hierarchy.height != told.height:
        raise HierarchyError.no_such_level(told.height, hierarchy.height)
    costs = told.prices or told.costs
    prices = None if costs is None else costs.told()
    bounds = None if told.bounds is None else tuple(PriceBounds(one.lowest, one.highest) for one in told.bounds)
    if bounds is not None and len(bounds) != told.height + 1:
        raise HierarchyError.no_such_level(len(bounds) - 1, told.height)
    columns = tuple(told.columns)
    return Offer(told.attribute, columns, hierarchy, told.may_be_absent, prices, told.is_sealed, told.floor, bounds)


def _is_of(listed: PriceList, offer: Offer) -> bool:
    """Does a list price what is offered, by the columns that are asked for?"""
    return (
        listed.attribute == offer.attribute
        and listed.height == offer.hierarchy.height
        and {column.name for column in listed.key.columns} == set(offer.columns)
        and (listed.prices.presence is not None) == offer.may_be_absent
        and offer.prices is not None
        and set(listed.prices.attributes) <= set(offer.prices.linked)
    )


def _answer(bought: Bought) -> Answer:
    signed = None if bought.receipt is None else bought.receipt.signed()
    return Answer(bought.answer, bought.level, bought.price, signed)


def _check_columns(offer: Offer, given: Iterable[str]) -> None:
    names = list(given)
    for column in offer.columns:
        if column not in names:
            raise lacks_column(column, names)


def _amount(ceiling: int) -> int:
    if ceiling < 0:
        raise InputError("a ceiling must not be negative; 0 buys what is free")
    return min(ceiling, LARGEST)


def _json(body: ClientShape) -> bytes:
    try:
        return body.model_dump_json().encode()
    except (PydanticSerializationError, UnicodeError):
        raise InputError("the request holds text that is not valid Unicode") from None


def _check_key(key: str) -> None:
    check_key(key)
    if not key.isascii() or key != key.strip():
        raise InputError("over HTTP an idempotency key has ASCII characters only, and no space at its ends")
