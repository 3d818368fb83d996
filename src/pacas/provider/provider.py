"""The provider: it quotes, it refuses, it sells.

Paper: §5, Figure 3. A request is matched, judged by SafePrice (Alg. 2) and priced (Alg. 1). Paying re-checks both at
that moment, records the purchase, and only then answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.money import nanocredits
from pacas.core.query import MAIN, GeneralizedQuery
from pacas.core.rates.schedule import LIST, Schedule
from pacas.engine.contract import Engine, Source
from pacas.engine.hierarchy_files import GivenHierarchies, as_hierarchies
from pacas.engine.questions import Data, as_source, engine_for
from pacas.errors import InputError, StorageError, did_you_mean
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Payment, Quote, Refusal, Request
from pacas.protocol.names import LOCAL, check_buyer
from pacas.provider.circle import Circle
from pacas.provider.in_memory.shop import InMemoryShop
from pacas.provider.in_memory.stock import Stock
from pacas.provider.ledger.checkpoint import Checkpoints
from pacas.provider.ledger.entry import Entry, Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.opened_shop import ShopOpening
from pacas.provider.published import check_published
from pacas.provider.quote_mode import QuoteMode, quote_mode, sealed_keys
from pacas.provider.quoter.declared import Sealing
from pacas.provider.shared_commits import Credit
from pacas.provider.shop.contract import Shop, Tell
from pacas.provider.support.support_set import Generated, GivenSupport
from pacas.provider.support.weights import Factor
from pacas.provider.terms import HistoryScope, Terms, ViewPrice
from pacas.provider.till import Till


class Provider:
    """A curated relation, for sale cell by cell. It satisfies `Marketplace` for the buyer `local`.

    `match` says what is sold and how a client's tuple finds it; `policies` what must stay hidden; `hierarchies` may be
    given as the files they are in. Without a `ledger` purchases are remembered as long as the process runs; with
    `checkpoints` beside it a start does not read all that was sold before. `published`
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
        checkpoints: Checkpoints | None = None,
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
        self._start(sources, terms, ledger or MemoryLedger(), seed, engine, tell, circle, checkpoints)

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
        checkpoints: Checkpoints | None = None,
    ) -> Provider:
        """A provider on terms whose names have been checked; `sources` are its relations, the main one among them."""
        provider = cls.__new__(cls)
        provider._start(sources, terms, ledger, seed, engine, tell, circle, checkpoints)
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
        checkpoints: Checkpoints | None,
    ) -> None:
        if circle is not None:
            circle.join(terms)
        self._circle = circle
        self.seed_is_given = seed is not None
        """Whether the support set's secret can be guessed."""
        chosen, state = engine_for(sources[MAIN], engine, *sources.values()), Lock()
        check_published(chosen, sources[MAIN], terms.published)
        opened = ShopOpening(chosen, sources, terms, seed, state, tell).open(ledger)
        self._shop, self._ledger = opened.shop, opened.ledger
        self.began_anew = opened.began_anew
        """What had changed of its terms since the ledger was opened: nothing had been sold, so it was opened anew."""
        tell("reading the ledger")
        self.till = Till(self._shop, self._ledger, circle, state, checkpoints)
        """Where it sells: what is known to be sold, and on which terms each buyer buys."""

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

    def close(self) -> None:
        """Let go of the ledger, and of the circle: nothing can be sold any more."""
        with suppress(StorageError):
            self.till.keep_checkpoint()
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
        return judged if isinstance(judged, Refusal) else Quote(self.till.quoted(judged.price, buyer))

    def quote_batch(self, attribute: str, tuples: Columns, *, buyer: str = LOCAL) -> Ladders:
        """AskPrice for many tuples, each at all levels."""
        check_buyer(buyer)
        return self.till.ladders(attribute, tuples, buyer)

    def quote_query(self, query: GeneralizedQuery, *, buyer: str = LOCAL) -> Quote | Refusal:
        """AskPrice for any generalized query; only where the relation is held in memory."""
        check_buyer(buyer)
        quoted = self._shop.quote_query(query, buyer)
        return quoted if isinstance(quoted, Refusal) else Quote(self.till.quoted(quoted.price, buyer))

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
        """Values that are sold in one durable step."""
        return self.till.most_at_once

    def pay_many(self, payments: Sequence[Payment], *, buyer: str = LOCAL) -> list[Answer | Refusal]:
        """Pay in order up to the first surprise, in one transaction."""
        sold = self.till.sell_many(payments, buyer=buyer)
        return [one if isinstance(one, Refusal) else _answer(one.purchase) for one in sold]

    def sell(
        self, request: Request, ceiling: int, key: str, *, buyer: str = LOCAL, credit: Credit = None
    ) -> Entry | Refusal:
        """Pay, with the ledger's entry for an answer: what a receipt is made from. Sales of several threads share a
        commit."""
        return self.till.sell_many([Payment(request, ceiling, key)], buyer=buyer, credit=credit)[0]

    def as_buyer(self, buyer: str) -> BuyerView:
        """The marketplace as one buyer sees it."""
        check_buyer(buyer)
        return BuyerView(self, buyer)

    def refresh(self) -> None:
        """Take in what other processes have sold from the same ledger. It waits for no writer, and none for it."""
        self.till.refresh()


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
