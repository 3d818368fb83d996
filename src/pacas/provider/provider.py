"""The provider: it quotes, it refuses, it sells.

Paper: §5, Figure 3. A request is matched, judged by SafePrice (Alg. 2) and priced (Alg. 1). Paying re-checks both at
that moment, records the purchase, and only then answers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.money import nanocredits
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.core.schedule import LIST, Schedule
from pacas.core.tab import AgreedTerms, Tab
from pacas.engine.contract import Engine, Source
from pacas.engine.hierarchy_files import GivenHierarchies, as_hierarchies
from pacas.engine.questions import Data, as_source, engine_for
from pacas.errors import (
    HouseError,
    InputError,
    LedgerBrokenError,
    LedgerChangedError,
    LedgerModeError,
    StorageError,
    did_you_mean,
)
from pacas.protocol.marketplace import Columns, is_as_quoted
from pacas.protocol.messages import (
    Answer,
    Ladders,
    Offer,
    Payment,
    Quote,
    QuotedLadder,
    Reason,
    Refusal,
    Request,
)
from pacas.protocol.names import LOCAL, check_buyer
from pacas.protocol.order_of_checks import at_rates
from pacas.provider.circle import ELSEWHERE, TRIES, Circle
from pacas.provider.in_memory.shop import InMemoryShop
from pacas.provider.in_memory.stock import Stock, take_stock
from pacas.provider.ledger.chain import Head
from pacas.provider.ledger.entry import AcceptedTerms, Entry, Opening, Purchase
from pacas.provider.ledger.ledger import Ledger, MemoryLedger
from pacas.provider.on_engine.memory_limit import too_large
from pacas.provider.on_engine.shop import EngineShop
from pacas.provider.published import check_published
from pacas.provider.quote_mode import QuoteMode, quote_mode, sealed_keys
from pacas.provider.quoter.declared import Sealing
from pacas.provider.sealed.earlier_sales import PART as EARLIER
from pacas.provider.sealed.noisy_prior import with_prior
from pacas.provider.sealed.opening import open_sealed
from pacas.provider.shared_commits import MOST, Credit, SaleOrder, SaleRun, SharedCommits
from pacas.provider.shop.contract import Shop, Tell
from pacas.provider.shop.fingerprint import ledger_mode, relation_digests
from pacas.provider.support.support_set import Generated, GivenSupport
from pacas.provider.support.weights import Factor
from pacas.provider.terms import HistoryScope, Terms, ViewPrice

DAY = 24 * 3600
"""Seconds."""


class _Sold(NamedTuple):
    """A sale that is in the ledger, if its transaction ends well."""

    sale: Any
    purchase: Purchase
    entry: Entry


class Provider:
    """A curated relation, for sale cell by cell. It satisfies `Marketplace` for the buyer `local`.

    `match` says what is sold and how a client's tuple finds it; `policies` what must stay hidden; `hierarchies` may be
    given as the files they are in. Without a `ledger` purchases are remembered as long as the process runs. `published`
    are dependencies that hold exactly, and that buyers are told of. `floor` is by attribute the finest level that
    anybody may buy; `common_trees` are the digests of the hierarchies that it shares with other providers, and `circle`
    is its place at a clearing house, by which policies over several attributes are kept together with them.
    `schedule` are pairs, above so many list credits and per cent: who buys more pays less for what comes on top.

    Its quotes are sealed: what is free follows from public columns alone. With a `support` set, price `points`, a
    `seed` (for reproducible experiments only) or `history = "per_buyer"` they are the paper's; `quotes` says which.
    """

    def __init__(
        self,
        relation: Data,
        *,
        match: Mapping[str, str | MatchingDependency],
        policies: Sequence[Policy] = (),
        hierarchies: GivenHierarchies | None = None,
        relations: Mapping[str, Data] | None = None,
        quotes: QuoteMode | str | None = None,
        support: Generated | GivenSupport | None = None,
        total: float | str | None = None,
        sensitivity: Mapping[str, Factor] | None = None,
        points: Sequence[ViewPrice] = (),
        schedule: Iterable[Sequence[int | float]] | None = None,
        history: HistoryScope | str = HistoryScope.POOLED,
        max_matches: int = 1000,
        floor: Mapping[str, int] | None = None,
        common_trees: Mapping[str, str] | None = None,
        circle: Circle | None = None,
        sealing: Sealing | None = None,
        published: Iterable[str | FunctionalDependency] = (),
        ledger: Ledger | None = None,
        seed: int | None = None,
        engine: Engine[Any] | None = None,
        tell: Callable[[str], None] = lambda what: None,
    ) -> None:
        scope = _history(history)
        only_paper = {
            "support": support is not None,
            "points": bool(points),
            "seed": seed is not None,
            "history": scope is HistoryScope.PER_BUYER,
        }
        of_sealed = [*["sealing"] * (sealing is not None), *sealed_keys(policies)]
        mode = quote_mode(quotes, [name for name, is_given in only_paper.items() if is_given], of_sealed)
        terms = Terms(
            hierarchies=as_hierarchies(hierarchies),
            match={a: _dependency(text) for a, text in match.items()},
            policies=tuple(policies),
            support=Generated() if support is None else support,
            total=None if total is None else nanocredits(total, "total"),
            sensitivity=dict(sensitivity or {}),
            points=tuple(points),
            schedule=LIST if schedule is None else Schedule.of(schedule),
            history=scope,
            max_matches=max_matches,
            floor=dict(floor or {}),
            common_trees=dict(common_trees or {}),
            circle=None if circle is None else circle.digest,
            sealing=sealing or Sealing() if mode is QuoteMode.SEALED else None,
            published=FunctionalDependency.parse_all(published),
        )
        sources = {MAIN: as_source(relation)} | {name: as_source(data) for name, data in (relations or {}).items()}
        terms.check_names(sources[MAIN].columns, sources[MAIN].name)
        self._start(sources, terms, ledger or MemoryLedger(), seed, engine, tell, circle)

    @classmethod
    def on_terms(
        cls,
        sources: Mapping[str, Source],
        terms: Terms,
        ledger: Ledger,
        *,
        seed: int | None = None,
        engine: Engine[Any] | None = None,
        tell: Tell = lambda what: None,
        circle: Circle | None = None,
    ) -> Provider:
        """A provider on terms whose names have been checked; `sources` are its relations, the main one among them."""
        provider = cls.__new__(cls)
        provider._start(sources, terms, ledger, seed, engine, tell, circle)
        return provider

    def _start(
        self,
        sources: Mapping[str, Source],
        terms: Terms,
        ledger: Ledger,
        seed: int | None,
        engine: Engine[Any] | None,
        tell: Tell,
        circle: Circle | None,
    ) -> None:
        self._ledger, self._circle = ledger, circle
        if circle is not None:
            circle.join(terms)
        self.seed_is_given = seed is not None
        """Whether the support set's secret can be guessed."""
        self.began_anew: tuple[str, ...] = ()
        """What had changed of its terms since the ledger was opened: nothing had been sold, so it was opened anew."""
        self.note: Callable[[Head], None] = lambda head: None
        """Is told of every head that is known to be in the ledger to stay."""
        self._commits, self._state = SharedCommits(self._sell_together), Lock()
        self._overcounts = False
        """Whether more is known here as sold than was sold: a commit that several sales shared has failed."""
        chosen = engine_for(sources[MAIN], engine, *sources.values())
        check_published(chosen, sources[MAIN], terms.published)
        self._shop = self._open(
            chosen, sources, terms.quotes, lambda secret: self._ready(chosen, sources, terms, secret, tell), seed
        )
        tell("reading the ledger")
        self._sales = self._shop.sales
        self._known = self._ledger.opened_head
        self._catch_up()
        with self._ledger.transaction():
            self._catch_up()
            if self._sales.totals() != self._ledger.totals():
                raise LedgerBrokenError("the totals of some buyers are not the sums of their purchases")

    def _ready(
        self, engine: Engine[Any], sources: Mapping[str, Source], terms: Terms, secret: bytes, tell: Tell
    ) -> Shop[Any]:
        """The relation made ready to sell from: at sealed quotes; in memory, if there is room; or on the engine."""
        if terms.sealing is not None:
            sealing = with_prior(engine, sources[MAIN], terms, terms.sealing, secret)
            return open_sealed(engine, sources[MAIN], terms, sealing, self._state, tell)
        table = too_large(engine, sources[MAIN], terms)
        if table is None:
            return InMemoryShop(take_stock(engine, sources, terms, secret, tell), secret, self._state)
        return EngineShop(engine, table, terms, secret, self._state, tell)

    def _open(
        self,
        engine: Engine[Any],
        sources: Mapping[str, Source],
        mode: QuoteMode,
        ready: Callable[[bytes], Shop[Any]],
        seed: int | None,
    ) -> Shop[Any]:
        """Take stock, and open the ledger, anew if its terms have changed and nothing was sold.

        Only while a ledger is new are other writers held off meanwhile.
        """
        ledger, seen = self._ledger, self._ledger.opening()
        changed: tuple[str, ...] = ()

        def digests(shop: Shop[Any]) -> dict[str, str]:
            return relation_digests(engine, sources) | shop.fingerprint()

        if seen is not None:
            try:
                return self._opened_again(seen, mode, ready, seed, digests)
            except (LedgerChangedError, LedgerModeError) as error:
                if self._counts_sales(seen):
                    raise
                changed = error.parts
        if ledger.is_read_only:
            ledger = self._ledger = MemoryLedger()  # which is opened anew in its place, as a writer would
            seen = None
        with ledger.transaction():
            stored = ledger.opening()
            if stored is not None and (stored != seen or self._counts_sales(stored)):  # another process was faster
                return self._opened_again(stored, mode, ready, seed, digests)
            shop = ready(secret := _secret(seed))
            begin = ledger.open if stored is None else ledger.begin_anew
            begin(digests(shop), secret)
        self.began_anew = changed
        return shop

    def _counts_sales(self, opening: Opening) -> bool:
        """Whether anything was sold, from this ledger or from earlier ones that it counts."""
        return self._ledger.has_sales or EARLIER in opening.fingerprint

    def _opened_again(
        self,
        opening: Opening,
        mode: QuoteMode,
        ready: Callable[[bytes], Shop[Any]],
        seed: int | None,
        digests: Callable[[Shop[Any]], dict[str, str]],
    ) -> Shop[Any]:
        """What is sold from, if the ledger was opened with its like."""
        if (kept := ledger_mode(opening.fingerprint)) is not mode:
            raise LedgerModeError(kept.value, mode.value)
        shop = ready(secret := opening.seed if seed is None else _secret(seed))
        self._ledger.open(digests(shop), secret)
        return shop

    @property
    def shop(self) -> Shop[Any]:
        """What is sold from, in memory or on the engine; for the provider's own eyes."""
        return self._shop

    @property
    def stock(self) -> Stock:
        """What is sold from, where it is held in memory."""
        if not isinstance(self._shop, InMemoryShop):
            raise InputError("the relation stays on the engine; use DuckDB, with memory to hold it")
        return self._shop.stock

    @property
    def ledger(self) -> Ledger:
        return self._ledger

    @property
    def known(self) -> Head:
        """The ledger as far as it is known here: it must never hold less."""
        with self._state:
            return self._known

    def close(self) -> None:
        """Let go of the ledger, and of the circle: nothing can be sold any more."""
        self._ledger.close()
        if self._circle is not None:
            self._circle.house.close()

    def __enter__(self) -> Provider:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Provider({self._shop.rows:,} rows, sells {', '.join(self._shop.offers)})"

    # ---- the marketplace --------------------------------------------------------------------------------------

    def catalogue(self) -> Mapping[str, Offer]:
        return dict(self._shop.offers)

    def dependencies(self) -> Sequence[FunctionalDependency]:
        """Those that are published."""
        return tuple(self._shop.terms.published)

    def quote(self, request: Request, *, buyer: str = LOCAL) -> Quote | Refusal:
        """AskPrice: what a request costs this buyer now, or why it is refused."""
        check_buyer(buyer)
        judged = self._shop.judge(request, buyer)
        return judged if isinstance(judged, Refusal) else Quote(self._quoted(judged.price, buyer))

    def quote_batch(self, attribute: str, tuples: Columns, *, buyer: str = LOCAL) -> Ladders:
        """AskPrice for many tuples, each at all levels."""
        check_buyer(buyer)
        ladders, tab = self._shop.ladders(attribute, tuples, buyer), self.tab(buyer)
        schedule = tab.schedule(self.schedule)
        return ladders if schedule.is_flat else Ladders(at_rates(schedule, tab.listed, ladders.prices))

    def quote_query(self, query: GeneralizedQuery, *, buyer: str = LOCAL) -> Quote | Refusal:
        """AskPrice for any generalized query; only where the relation is held in memory."""
        check_buyer(buyer)
        quoted = self._shop.quote_query(query, buyer)
        return quoted if isinstance(quoted, Refusal) else Quote(self._quoted(quoted.price, buyer))

    def pay(
        self, request: Request, ceiling: int, key: str, *, buyer: str = LOCAL, credit: Credit = None
    ) -> Answer | Refusal:
        """Pay: sell at the price of this moment, if it is within the ceiling and, with what was spent, the credit.

        A credit that may change is given by a function. It is asked while no other writer comes in between, unless the
        key was used before; if it raises, nothing is sold.
        """
        sold = self.sell(request, ceiling, key, buyer=buyer, credit=credit)
        return sold if isinstance(sold, Refusal) else _answer(sold.purchase)

    @property
    def most_at_once(self) -> int:
        """Values that are sold in one durable step; in a circle one by one, as each waits for the clearing house."""
        return MOST if self._circle is None else 1

    def pay_many(self, payments: Sequence[Payment], *, buyer: str = LOCAL) -> list[Answer | Refusal]:
        """Pay in order up to the first surprise, in one transaction."""
        sold = self.sell_many(payments, buyer=buyer)
        return [one if isinstance(one, Refusal) else _answer(one.purchase) for one in sold]

    def sell(
        self, request: Request, ceiling: int, key: str, *, buyer: str = LOCAL, credit: Credit = None
    ) -> Entry | Refusal:
        """Pay, with the ledger's entry for an answer: what a receipt is made from. Sales of several threads share a
        commit."""
        return self.sell_many([Payment(request, ceiling, key)], buyer=buyer, credit=credit)[0]

    def sell_many(
        self, payments: Sequence[Payment], *, buyer: str = LOCAL, credit: Credit = None
    ) -> list[Entry | Refusal]:
        """Pay in order up to the first surprise, with the ledger's entries for answers. At most `most_at_once` are.

        An order that is mistaken ends a run like a surprise, or raises where it is the first.
        """
        if self._circle is not None and buyer == ELSEWHERE:
            raise InputError(f"no buyer may be called {ELSEWHERE!r}; take another name")
        orders = [
            SaleOrder(replace(payment, request=self._needed(payment.request)), buyer, credit)
            for payment in payments[: self.most_at_once]
        ]
        return self._commits.make(SaleRun(orders)) if orders else []

    def _sell_together(self, runs: Sequence[SaleRun]) -> None:
        """Sell in order, each judged on all before it, and durable together or not at all."""
        outcomes: list[list[Entry | Refusal] | Exception] = []
        sales: list[_Sold] = []
        if self._overcounts:
            self._recount()
        try:
            with self._ledger.transaction():
                self._ledger.look_ahead((order.buyer, order.payment.key) for run in runs for order in run.orders)
                for run in runs:
                    outcomes.append(self._sell_run(run.orders, sales, is_first=not outcomes))
        except BaseException:
            self._overcounts = bool(sales) and self._sales.count >= sales[0].entry.sequence
            raise
        if sales:  # durable now; quotes may know, unless a refresh was faster
            self._take_in(sales[-1])
            with self._state:
                self._move_on(Head(sales[-1].entry.sequence + 1, sales[-1].entry.hash))
        for run, outcome in zip(runs, outcomes, strict=True):
            run.outcome = outcome

    def _sell_run(
        self, orders: Sequence[SaleOrder], sales: list[_Sold], *, is_first: bool
    ) -> list[Entry | Refusal] | Exception:
        """Sell up to the first surprise, in a transaction that goes on."""
        told: list[Entry | Refusal] = []
        for order in orders:
            sold: Entry | Refusal | Exception | None = self._found(order)
            if is_first and not told:  # what it needs may have come with what was found
                self._catch_up()
            if sold is None:
                sold = self._sell_one(order, sales)
            if isinstance(sold, Exception):
                return told or sold
            if sold is None:
                break
            told.append(sold)
            if order.is_surprised_by(sold):
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

    def _ladder(self, quoted: QuotedLadder, buyer: str) -> list[int]:
        tuples = {column: [value] for column, value in quoted.tuple.items()}
        ladder: list[int] = self.quote_batch(quoted.attribute, tuples, buyer=buyer).prices[0].tolist()
        return ladder

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
        tab = self.tab(order.buyer, now := self._ledger.now())
        price = tab.charge(self.schedule, sale.price)
        if price > order.payment.ceiling:
            return Refusal(Reason.CEILING)
        if most is not None and self._is_beyond(most, order.buyer, tab, tab.bought(sale.price, None)):
            return Refusal(Reason.CREDIT)
        purchase = self._shop.purchase(sale, order.payment.request, order.buyer, order.payment.key)
        if not tab.schedule(self.schedule).is_flat:
            purchase = replace(purchase, price=price, listed=sale.price)
        if tab.has_terms:  # the entry's own time says whether they had ended
            purchase = replace(purchase, time=now)
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

    def _recount(self) -> None:
        """Count what was sold anew, after a commit that failed: what is known here was not sold. The turn is held."""
        entries = self._ledger.after(self._ledger.opened_head)
        with self._state:
            self._shop.recount([entry.sold for entry in entries])
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
            with self._ledger.transaction():
                self._catch_up()
                most = credit() if callable(credit) else credit
                found, now = self._ledger.find_terms(buyer, key), self._ledger.now()
                if found is not None:
                    return found
                tab = self.tab(buyer, now)
                if tab.unused(self.schedule):
                    raise InputError("there are terms with credits that are prepaid and not used; use them up first")
                terms = AgreedTerms(schedule, prepaid, None if now is None else now + days * DAY)
                if most is not None and self._is_beyond(most, buyer, tab, tab.agree(terms, None)):
                    return Refusal(Reason.CREDIT)
                entry = self._ledger.agree(AcceptedTerms(buyer, key, terms, now))
            self._catch_up()
        return entry

    def _is_beyond(self, credit: int, buyer: str, tab: Tab, after: Tab) -> bool:
        """Would a buyer pay more, and more than it may in all? What is prepaid is paid, used or not."""
        more = after.bill(self.schedule) - tab.bill(self.schedule)
        unused = tab.bill(self.schedule) - tab.due(self.schedule)
        return more > 0 and self._ledger.total(buyer).spent + unused + more > credit

    def _quoted(self, price: int, buyer: str) -> int:
        """What a list price costs a buyer at the most."""
        tab = self.tab(buyer)
        return tab.schedule(self.schedule).quote(tab.listed, price)

    def as_buyer(self, buyer: str) -> BuyerView:
        """The marketplace as one buyer sees it."""
        check_buyer(buyer)
        return BuyerView(self, buyer)

    def refresh(self) -> None:
        """Take in what other processes have sold from the same ledger. It waits for no writer, and none for it."""
        if self._overcounts:
            with self._commits.turn:
                self._recount()
        self._catch_up()

    def _needed(self, request: Request) -> Request:
        """A request without columns that the match does not need: they are not looked at, and so not kept."""
        offer = self._shop.offers.get(request.attribute)
        if offer is None or len(request.tuple) <= len(offer.columns):
            return request
        needed = {column: request.tuple[column] for column in offer.columns if column in request.tuple}
        return Request(needed, request.attribute, request.level)

    def _catch_up(self) -> None:
        """Take in the purchases that are in the ledger and not yet known here, whoever else does so by now.

        A LedgerWentBackError says that the ledger does not hold what is known here: nothing more is sold from it.
        """
        known = self.known
        if new := self._ledger.after(known):
            with self._state:
                if left := new[self._sales.count - known.entries + 1 :]:
                    self._sales.take_in([entry.sold for entry in left])
                self._move_on(Head(new[-1].sequence + 1, new[-1].hash))

    def _move_on(self, head: Head) -> None:
        """What is known to be in the ledger to stay; whoever calls holds the lock of what was sold."""
        if head.entries > self._known.entries:
            self._known = head
            self.note(head)


class BuyerView:
    """A provider as one named buyer sees it: a `Marketplace`."""

    def __init__(self, provider: Provider, name: str) -> None:
        self._provider, self._name = provider, name

    def __repr__(self) -> str:
        return f"{self._provider!r}.as_buyer({self._name!r})"

    def catalogue(self) -> Mapping[str, Offer]:
        return self._provider.catalogue()

    def dependencies(self) -> Sequence[FunctionalDependency]:
        return self._provider.dependencies()

    def quote(self, request: Request) -> Quote | Refusal:
        return self._provider.quote(request, buyer=self._name)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return self._provider.quote_batch(attribute, tuples, buyer=self._name)

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        return self._provider.pay(request, ceiling, key, buyer=self._name)

    @property
    def most_at_once(self) -> int:
        return self._provider.most_at_once

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        return self._provider.pay_many(payments, buyer=self._name)


def _answer(purchase: Purchase) -> Answer:
    return Answer(purchase.answer, purchase.request.level, purchase.price)


def _dependency(given: str | MatchingDependency) -> MatchingDependency:
    return given if isinstance(given, MatchingDependency) else MatchingDependency.parse(given)


def _history(given: HistoryScope | str) -> HistoryScope:
    try:
        return HistoryScope(given)
    except ValueError:
        known = [history.value for history in HistoryScope]
        raise InputError(f"no such history; {did_you_mean(str(given), known)}") from None


def _secret(seed: int | None) -> bytes:
    """The support set's secret: random, unless a seed is given to repeat an experiment."""
    return secrets.token_bytes(32) if seed is None else str(seed).encode()
