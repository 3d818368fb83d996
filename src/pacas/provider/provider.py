"""The provider: it quotes, it refuses, it sells.

Paper: §5, Figure 3. A request is matched, judged by SafePrice (Alg. 2) and priced (Alg. 1). Paying re-checks both at
that moment, records the purchase, and only then answers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pacas.core.anonymity import Policy
from pacas.core.dependency import MatchingDependency
from pacas.core.money import nanocredits
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.engine.contract import Engine, Hierarchies, Source
from pacas.engine.questions import Data, as_source, embedded_engine
from pacas.errors import InputError, LedgerBrokenError, did_you_mean
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Quote, Reason, Refusal, Request, refused
from pacas.provider.book import Book
from pacas.provider.conflicts import Asked, Inquiry
from pacas.provider.entry import Entry, Purchase, check_buyer
from pacas.provider.fingerprint import fingerprint
from pacas.provider.history import Sales
from pacas.provider.known import ConflictSets
from pacas.provider.ledger import Ledger, MemoryLedger
from pacas.provider.matching import Matcher
from pacas.provider.neighbour import GivenSupport
from pacas.provider.stock import Stock, take_stock
from pacas.provider.support import Generated
from pacas.provider.terms import History, Terms, ViewPrice
from pacas.provider.weights import Factor

LOCAL = "local"
"""The buyer, where none is named."""
Credit = int | None | Callable[[], int | None]
"""What a buyer may spend in all, in nanocredits; None is as much as it likes."""
FEW = 4
"""Tuples up to which quotes that are kept are looked up one by one."""

_UNSAFE, _AMBIGUOUS, _NO_MATCH = (refused(r) for r in (Reason.UNSAFE, Reason.AMBIGUOUS, Reason.NO_MATCH))


class Provider:
    """A curated relation, for sale cell by cell. It satisfies `Marketplace` for the buyer `local`.

    `match` says what is sold and how a client's tuple finds it; `policies` what must stay hidden. Without a `ledger`
    purchases are remembered as long as the process runs. The `seed` is for reproducible experiments only.
    """

    def __init__(
        self,
        relation: Data,
        *,
        match: Mapping[str, str | MatchingDependency],
        policies: Sequence[Policy] = (),
        hierarchies: Hierarchies | None = None,
        relations: Mapping[str, Data] | None = None,
        support: Generated | GivenSupport | None = None,
        total: float | str | None = None,
        sensitivity: Mapping[str, Factor] | None = None,
        points: Sequence[ViewPrice] = (),
        history: History | str = History.POOLED,
        max_matches: int = 1000,
        ledger: Ledger | None = None,
        seed: int | None = None,
        engine: Engine[Any] | None = None,
        tell: Callable[[str], None] = lambda what: None,
    ) -> None:
        terms = Terms(
            hierarchies=dict(hierarchies or {}),
            match={a: _dependency(text) for a, text in match.items()},
            policies=tuple(policies),
            support=Generated() if support is None else support,
            total=None if total is None else nanocredits(total, "total"),
            sensitivity=dict(sensitivity or {}),
            points=tuple(points),
            history=_history(history),
            max_matches=max_matches,
        )
        sources = {MAIN: as_source(relation)} | {name: as_source(data) for name, data in (relations or {}).items()}
        terms.check_names(sources[MAIN].columns, sources[MAIN].name)
        self._ledger = ledger or MemoryLedger()
        self.seed_is_given = seed is not None
        """Whether the support set's secret can be guessed."""
        self._selling, self._state = Lock(), Lock()
        chosen = engine or embedded_engine()
        self._stock = self._open(sources, lambda secret: take_stock(chosen, sources, terms, secret, tell), seed)
        tell("reading the ledger")
        self._sales = Sales(self._stock)
        self._catch_up()
        with self._ledger.transaction():
            self._catch_up()
            if self._sales.totals() != self._ledger.totals():
                raise LedgerBrokenError("the totals of some buyers are not the sums of their purchases")

    def _open(self, sources: Mapping[str, Source], take: Callable[[bytes], Stock], seed: int | None) -> Stock:
        """Take stock, and open the ledger. Only while a ledger is new are other writers held off meanwhile."""
        if self._ledger.opening() is None:
            with self._ledger.transaction():
                if self._ledger.opening() is None:
                    return self._compared(sources, take(secret := _secret(seed)), secret)
        opening = self._ledger.opening()
        secret = opening.seed if opening and seed is None else _secret(seed)
        return self._compared(sources, take(secret), secret)

    def _compared(self, sources: Mapping[str, Source], stock: Stock, secret: bytes) -> Stock:
        """The stock, if the ledger was opened with its like."""
        self._ledger.open(fingerprint(sources, stock), secret)
        return stock

    @property
    def stock(self) -> Stock:
        """What is sold from; for the provider's own eyes."""
        return self._stock

    @property
    def ledger(self) -> Ledger:
        return self._ledger

    def __repr__(self) -> str:
        return f"Provider({self._stock.rows:,} rows, sells {', '.join(self._stock.inquiries)})"

    # ---- the marketplace --------------------------------------------------------------------------------------

    def catalogue(self) -> Mapping[str, Offer]:
        return {attribute: inquiry.offer for attribute, inquiry in self._stock.inquiries.items()}

    def quote(self, request: Request, *, buyer: str = LOCAL) -> Quote | Refusal:
        """AskPrice: what a request costs this buyer now, or why it is refused."""
        check_buyer(buyer)
        judged = self._judge(request, buyer)
        return judged if isinstance(judged, Refusal) else Quote(judged.price)

    def quote_batch(self, attribute: str, tuples: Columns, *, buyer: str = LOCAL) -> Ladders:
        """AskPrice for many tuples, each at all levels."""
        check_buyer(buyer)
        inquiry, book = self._inquiry(attribute), self._sales.books.get(attribute)
        if book is not None:
            return self._read(book, inquiry.matcher, tuples, buyer)
        asked = inquiry.ask(tuples)
        with self._state:
            return Ladders(self._ladders(asked, buyer))

    def _read(self, book: Book, matcher: Matcher, tuples: Columns, buyer: str) -> Ladders:
        """Where quotes are kept: looked up one by one, or all at once if they are many."""
        slots = matcher.slots(tuples)
        with self._state:
            known = self._sales.known(buyer)
            if 0 < len(slots) <= FEW:
                return Ladders(np.array([book.ladder(slot, known, self._sales) for slot in slots.tolist()]))
            return Ladders(book.ladders(slots, known, self._sales))

    def quote_query(self, query: GeneralizedQuery, *, buyer: str = LOCAL) -> Quote | Refusal:
        """AskPrice for any generalized query."""
        check_buyer(buyer)
        conflicts = self._stock.views.conflicts(query, self._sales.known(buyer))
        with self._state:
            if not self._sales.judged(buyer).safe_without(conflicts, self._stock.support):
                return Refusal(Reason.UNSAFE)
        return Quote(int(self._stock.weights[conflicts].sum()))

    def pay(
        self, request: Request, ceiling: int, key: str, *, buyer: str = LOCAL, credit: Credit = None
    ) -> Answer | Refusal:
        """Pay: sell at the price of this moment, if it is within the ceiling and, with what was spent, the credit.

        A credit that may change is given by a function. It is asked while no other writer comes in between, unless the
        key was used before; if it raises, nothing is sold.
        """
        sold = self.sell(request, ceiling, key, buyer=buyer, credit=credit)
        return sold if isinstance(sold, Refusal) else _answer(sold.purchase)

    def sell(
        self, request: Request, ceiling: int, key: str, *, buyer: str = LOCAL, credit: Credit = None
    ) -> Entry | Refusal:
        """Pay, with the ledger's entry for an answer: what a receipt is made from."""
        request = self._needed(request)
        with self._selling:
            with self._ledger.transaction():
                sold = self._ledger.find(buyer, key, request)
                if sold is not None:
                    return sold
                most = credit() if callable(credit) else credit
                self._catch_up()
                sale = self._judge(request, buyer)
                if isinstance(sale, Refusal):
                    return sale
                if sale.price > ceiling:
                    return Refusal(Reason.CEILING)
                if sale.price and most is not None and self._ledger.total(buyer).spent + sale.price > most:
                    return Refusal(Reason.CREDIT)
                rows = None if sale.sets is None else tuple(sale.sets.rows.tolist())  # a slot is found again at once
                answer = self._value(request, sale.row)
                purchase = Purchase(buyer, key, request, sale.price, answer, rows)
                entry = self._ledger.append(purchase, is_new=True)
            with self._state:  # it is durable now; quotes may know, unless a refresh was faster
                if self._sales.count < entry.sequence:
                    self._add(sale, purchase)
            return entry

    def as_buyer(self, buyer: str) -> Buyer:
        """The marketplace as one buyer sees it."""
        check_buyer(buyer)
        return Buyer(self, buyer)

    def refresh(self) -> None:
        """Take in what other processes have sold from the same ledger. It waits for no writer, and none for it."""
        self._catch_up()

    # ---- judging a request --------------------------------------------------------------------------------------

    def _judge(self, request: Request, buyer: str) -> _Sale | Refusal:
        """The checks in their order (D4): bad input, no match, ambiguous, unsafe; then the price."""
        inquiry = self._inquiry(request.attribute)
        hierarchy = inquiry.offer.hierarchy
        level = request.level
        if not 0 <= level <= hierarchy.height:
            hierarchy.check_level(level, f"the hierarchy of {request.attribute!r}")
        book = self._sales.books.get(request.attribute)
        if book is not None:
            return self._look_up(book, inquiry.matcher.slot(request.tuple), level, buyer)
        asked = inquiry.ask({column: [value] for column, value in request.tuple.items()})
        with self._state:
            price = int(self._ladders(asked, buyer)[0, level])
        return _Sale(price, int(asked.sets.rows[0]), sets=asked.sets) if price >= 0 else Refusal(_REASONS[price])

    def _look_up(self, book: Book, slot: int, level: int, buyer: str) -> _Sale | Refusal:
        """The same where quotes are kept."""
        with self._state:
            price = book.quote(slot, level, self._sales.known(buyer), self._sales)
        return _Sale(price, int(book.rows(slot)[0]), slot=slot) if price >= 0 else Refusal(_REASONS[price])

    def _ladders(self, asked: Asked, buyer: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Prices and refusals at all levels."""
        height = self._stock.inquiries[asked.sets.attribute].hierarchy.height
        prices = self._stock.prices.ladders(asked.sets, self._sales.known(buyer), height)
        level = np.arange(height + 1)
        finest = self._sales.judged(buyer).finest(asked.sets)
        prices[level < finest[:, None]] = _UNSAFE
        prices[level < asked.agree[:, None]] = _AMBIGUOUS
        prices[asked.matches > self._stock.terms.max_matches] = _AMBIGUOUS
        prices[asked.matches == 0] = _NO_MATCH
        return prices[asked.of]

    def _inquiry(self, attribute: str) -> Inquiry:
        try:
            return self._stock.inquiries[attribute]
        except KeyError:
            sold = self._stock.inquiries
            raise InputError(f"{attribute!r} is not for sale; {did_you_mean(attribute, sold)}") from None

    def _value(self, request: Request, row: int) -> str:
        return self._inquiry(request.attribute).value(row, request.level)

    def _needed(self, request: Request) -> Request:
        """A request without columns that the match does not need: they are not looked at, and so not kept."""
        inquiry = self._stock.inquiries.get(request.attribute)
        if inquiry is None or len(request.tuple) <= len(inquiry.offer.columns):
            return request
        needed = {column: request.tuple[column] for column in inquiry.offer.columns if column in request.tuple}
        return Request(needed, request.attribute, request.level)

    def _catch_up(self) -> None:
        """Take in the purchases that are in the ledger and not yet known here, whoever else does so by now."""
        with self._state:  # what others are taking in is known after this
            known = self._sales.count
        if self._ledger.head().entries > known + 1:
            new = [entry.purchase for entry in self._ledger.entries(known + 1)]
            with self._state:
                if left := new[self._sales.count - known :]:
                    self._sales.replay(left)

    def _add(self, sale: _Sale, purchase: Purchase) -> None:
        """Take in a purchase of one's own."""
        if sale.sets is None:
            self._sales.add_slot(purchase, sale.slot)
        else:
            self._sales.add(purchase, sale.sets)


_REASONS = {refused(reason): reason for reason in Reason}


class _Sale(NamedTuple):
    """A request that may be answered: at which price, and what the answer rules out."""

    price: int
    row: int
    """The first that it is about."""
    slot: int = -1
    sets: ConflictSets | None = None
    """What it rules out, where no quotes are kept; else its slot says so."""


class Buyer:
    """A provider as one named buyer sees it: a `Marketplace`."""

    def __init__(self, provider: Provider, name: str) -> None:
        self._provider, self._name = provider, name

    def catalogue(self) -> Mapping[str, Offer]:
        return self._provider.catalogue()

    def quote(self, request: Request) -> Quote | Refusal:
        return self._provider.quote(request, buyer=self._name)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return self._provider.quote_batch(attribute, tuples, buyer=self._name)

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        return self._provider.pay(request, ceiling, key, buyer=self._name)


def _answer(purchase: Purchase) -> Answer:
    return Answer(purchase.answer, purchase.request.level, purchase.price)


def _dependency(given: str | MatchingDependency) -> MatchingDependency:
    return given if isinstance(given, MatchingDependency) else MatchingDependency.parse(given)


def _history(given: History | str) -> History:
    try:
        return History(given)
    except ValueError:
        known = [history.value for history in History]
        raise InputError(f"no such history; {did_you_mean(str(given), known)}") from None


def _secret(seed: int | None) -> bytes:
    """The support set's secret: random, unless a seed is given to repeat an experiment."""
    return secrets.token_bytes(32) if seed is None else str(seed).encode()
