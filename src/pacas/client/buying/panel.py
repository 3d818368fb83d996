"""Several providers at one counter: one budget, one journal, and orders that name who is to sell.

A provider that is away, slow or does not keep to its own words costs a line, and not the run: it is asked no more until
the strategy calls those back that were away; one that was not there at first may join then. An order that may or may
not have been paid stays open, its money kept aside, until it is asked about again under its own key. One that is known
to be away is sent no order at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pacas.client.buying.offers import Offered
from pacas.client.buying.planned_run import PlannedRun
from pacas.client.buying.purchaser import Purchaser
from pacas.client.buying.question import AskedTuples, Question
from pacas.client.outcome.panel_summary import PanelSummary
from pacas.client.outcome.steps import (
    AWAY,
    BROKE_ITS_WORD,
    SOLD_BEFORE,
    BoughtValue,
    Observer,
    Order,
    PlannedStep,
    Unrepaired,
)
from pacas.core.histogram import Ints
from pacas.core.money import credits_words
from pacas.errors import KeyReusedError, OverchargedError, PacasError
from pacas.protocol.marketplace import Columns, Marketplace, why_away
from pacas.protocol.messages import REASONS, Offer

FAILURES = (PacasError, OSError)
"""What a provider's fault looks like from here."""
PATIENCE = 20.0
"""Seconds for which one of several is waited for: others may know as much, and it is asked again at the end."""


class Seller(NamedTuple):
    """One of several providers, and what it sells of what may need a repair."""

    marketplace: Marketplace
    offers: Mapping[str, Offered]
    catalogue: Mapping[str, Offer]
    """All that it said that it sells, when it was asked."""


class LateSeller(NamedTuple):
    """One that has not said yet what it sells."""

    why: str
    marketplace: Marketplace
    call: Callable[[], Seller]
    """Asks it; raises what its fault looks like if it is not there."""


class OpenOrder(NamedTuple):
    """An order of which it is not known whether it was paid."""

    question: Question
    """Under its key."""
    ceiling: int


class PanelPurchaser(Purchaser):
    """Buys from several. Whoever fails is left alone; what is recorded of it is recalled as it was."""

    def __init__(
        self,
        sellers: Mapping[str, Seller],
        budget: int,
        run: str,
        observer: Observer,
        *,
        supposing: bool = False,
        late: Mapping[str, LateSeller] = MappingProxyType({}),
    ) -> None:
        first = next(iter(sellers.values())).marketplace
        super().__init__(first, _together(sellers), budget, run, observer, supposing=supposing)
        self.sellers = dict(sellers)
        self.late = dict(late)
        """Who has not been there yet."""
        self.away: dict[str, str] = {}
        """Who could not be reached since it was last called, and what it said."""
        self._unheard: dict[str, str] = {}
        """Who has been called since, and has not answered: nothing was asked of it."""
        self.struck_off: dict[str, str] = {}
        """Who is asked no more, and why."""
        self._paid: Counter[str] = Counter()
        self._overcharged: Counter[str] = Counter()
        lines = {name: why_away(seller.marketplace) for name, seller in sellers.items()}
        self._absent = {name: why for name, why in lines.items() if why is not None}
        """Who was not there when the run was continued: what is recorded of it is recalled, and it is asked nothing."""
        self.open: list[OpenOrder] = []
        self._asked_about: set[str | None] = set()
        """The keys of those that were open when others were called back."""
        self._had_called = False
        """Whether a run that is continued had come so far."""

    @property
    def spent(self) -> int:
        """What is known to have been paid: what is kept aside for open orders is not."""
        return super().spent - sum(order.ceiling for order in self.open)

    def seller(self, provider: str | None) -> Marketplace:
        return self.sellers[str(provider)].marketplace

    def offered(self, provider: str | None, attribute: str) -> Offered:
        return self.sellers[str(provider)].offers[attribute]

    def selling(self, attribute: str) -> list[str]:
        return [name for name, seller in self.sellers.items() if attribute in seller.offers]

    def admit(self, attribute: str, values: Iterable[str]) -> None:
        """Values that an attribute may have are leaves of the trees of those who do not tell theirs (D1)."""
        sellers = {name: self.sellers[name] for name in self.selling(attribute)}
        untold = [name for name, seller in sellers.items() if not seller.catalogue[attribute].tells_values]
        if not untold:
            return
        told = [v for name, seller in sellers.items() for v in seller.offers[attribute].offer.hierarchy.ground_labels]
        for name in untold:
            seller, offered = sellers[name], sellers[name].offers[attribute]
            tree = offered.offer.hierarchy.admit([*values, *told])
            offers = {**seller.offers, attribute: replace(offered, offer=replace(offered.offer, hierarchy=tree))}
            self.sellers[name] = seller._replace(offers=offers)

    def is_there(self, provider: str | None) -> bool:
        return provider not in self.away and provider not in self.struck_off

    def quote(self, provider: str | None, attribute: str, tuples: Columns) -> Ints | None:
        prices = super().quote(provider, attribute, tuples)
        if prices is None or not len(prices):
            self.away.setdefault(str(provider), NOT_THEN)
            return None
        self._unheard.pop(str(provider), None)
        return prices

    @property
    def is_one_missing(self) -> bool:
        """Whether somebody may be called back."""
        return bool(self.away or (self.late and self.remaining > 0))

    def call_back(self) -> list[str]:
        """Those that were away may be there again; the names of those that are there for the first time."""
        self._had_called = self.observer.recall(self._step) is not None
        self._asked_about = {order.question.key for order in self.open}
        self._unheard |= {**self._absent, **self.away}
        self.away.clear()
        self._absent.clear()
        joined = [name for name, one in self.late.items() if self._joins(name, one)]
        self.late.clear()
        return joined

    def _joins(self, name: str, late: LateSeller) -> bool:
        """Whether one that was away at first is there now, or was when the run that is continued called it."""
        recalled = self.observer.recall_joined(name)
        try:
            seller = None if recalled is False else late.call()
            offers = None if seller is None else late.marketplace.catalogue()
        except FAILURES as error:
            if recalled:
                raise
            seller, offers, self._unheard[name] = None, None, failure_line(error)
        if seller is None:
            self._unheard.setdefault(name, NOT_THEN)
        else:
            self.sellers[name] = seller
            self.offers = _together(self.sellers)
        if recalled is None:
            self.observer.joined(name, offers)
        return seller is not None

    def ask_again(self, order: OpenOrder) -> Question:
        """The question of an open order; its money may be spent on it."""
        self.open.remove(order)
        self.remaining += order.ceiling
        return order.question

    def last_calls(self) -> Iterator[OpenOrder]:
        """The open orders to ask about when nothing else is to be asked: those that were placed since the others were.

        A run that is continued, and had come so far, asks about all of them once more.
        """
        yield from self._there_again([order for order in self.open if order.question.key not in self._asked_about])
        while self.open and self._had_called:
            first, is_recalled = self._step, self.observer.recall(self._step) is not None
            yield from self._there_again(self.open)
            if not is_recalled or self._step == first:
                return

    def _there_again(self, orders: Sequence[OpenOrder]) -> Iterator[OpenOrder]:
        """Orders of those who may be there again, until one is not."""
        for name in dict.fromkeys(str(order.question.provider) for order in orders):
            if (line := self.away.pop(name, None)) is not None:
                self._unheard[name] = line
        yield from (order for order in list(orders) if self.is_there(order.question.provider))

    def summary(self, reliabilities: Mapping[str, Mapping[str | None, float]]) -> PanelSummary:
        """What came of them, with how often each is right about each attribute."""
        opened = sum(order.ceiling for order in self.open)
        absent = {n: why for n, why in self._absent.items() if why_away(self.sellers[n].marketplace) is not None}
        late = {name: one.why for name, one in self.late.items()}
        away = {**absent, **late, **self._unheard, **self.away, **self.struck_off}
        return PanelSummary(tuple(self.sellers), away, reliabilities, self._paid, self._overcharged, opened)

    @property
    def most_ahead(self) -> int:
        """What one provider answers bears on whether another is asked."""
        return 1

    def settle(self, run: PlannedRun, outcome: BoughtValue | Unrepaired) -> None:
        question = run.questions[0]
        key = question.key or f"{self._run}:{self._step}"
        super().settle(run, outcome)
        provider = str(question.provider)
        if outcome.price:
            self._paid[provider] += outcome.price
        if isinstance(outcome, Unrepaired) and outcome.reason == AWAY:
            self.away.setdefault(provider, NOT_THEN)
            if outcome.cheapest is not None:
                self.remaining -= outcome.cheapest
                self.open.append(OpenOrder(replace(question, key=key), outcome.cheapest))
        elif isinstance(outcome, BoughtValue):
            self._unheard.pop(provider, None)
            self.admit(outcome.attribute, [outcome.value])
        elif outcome.reason == SOLD_BEFORE:
            self.struck_off.setdefault(provider, _SOLD_BEFORE)
        elif outcome.reason == BROKE_ITS_WORD:
            if outcome.charged is not None and outcome.charged > outcome.price:
                self._overcharged[provider] += outcome.charged - outcome.price
            self.struck_off.setdefault(provider, _broken_word(outcome))

    def _planned(self, step: int, question: Question, remaining: int) -> tuple[PlannedStep, AskedTuples | None]:
        if self._is_absent(question.provider):  # no order: nothing can have been paid, and no money is kept aside
            return Unrepaired(question.attribute, question.rows, AWAY), None
        return super()._planned(step, question, remaining)

    def _is_absent(self, provider: str | None) -> bool:
        """Whether it was away and is not back: an order that was on its way may have found it there."""
        name = str(provider)
        if name not in self._absent or why_away(self.sellers[name].marketplace) is None:
            return False
        self.away[name] = self._absent[name]
        return True

    def _pay(self, order: Order, question: Question) -> BoughtValue | Unrepaired:
        try:
            outcome = super()._pay(order, question)
        except KeyReusedError:
            return Unrepaired(order.attribute, question.rows, SOLD_BEFORE)
        except OverchargedError as error:  # what it says beyond its ceiling is not the budget's: it could say anything
            self.struck_off[str(order.provider)] = failure_line(error)
            charged = error.charged
            return Unrepaired(order.attribute, question.rows, BROKE_ITS_WORD, price=order.ceiling, charged=charged)
        except FAILURES as error:
            self.away[str(order.provider)] = failure_line(error)
            return Unrepaired(order.attribute, question.rows, AWAY, cheapest=order.ceiling)
        if isinstance(outcome, BoughtValue) and not self._is_sold(outcome, order):
            return Unrepaired(order.attribute, question.rows, BROKE_ITS_WORD, price=outcome.price)
        return outcome

    def _is_sold(self, bought: BoughtValue, order: Order) -> bool:
        """Whether the answer is a value of the tree that was offered, at the level that was asked for."""
        tree = self.offered(order.provider, order.attribute).offer.hierarchy
        if not self.sellers[str(order.provider)].catalogue[order.attribute].tells_values:
            tree = tree.admit([bought.value])
        if bought.level != order.request.level or bought.value not in tree:
            return False
        return bool((tree.ancestors[bought.level][tree.is_ground] == tree.code(bought.value)).any())

    def _ladders(self, provider: str | None, attribute: str, tuples: Columns) -> Ints:
        if self._is_absent(provider):
            return _NOBODY
        offer = self.offered(provider, attribute).offer
        expected = (len(next(iter(tuples.values()))), offer.hierarchy.height + 1)
        try:
            prices = super()._ladders(provider, attribute, tuples)
        except FAILURES as error:
            self.away[str(provider)] = failure_line(error)
            return _NOBODY
        if prices.shape != expected or prices.dtype != np.int64 or prices.min(initial=0) < -len(REASONS):
            self.away[str(provider)] = "its quotes are not prices of the levels that it offers"
            return _NOBODY
        return prices


_NOBODY: Ints = np.empty((0, 0), dtype=np.int64)
NOT_THEN = "it did not answer when it was asked, as the journal says"
_SOLD_BEFORE = (
    "it has sold something else under the key of an order, and so nothing now: this journal is an older copy; remove "
    "it and begin anew, and what was bought costs nothing again"
)


def _broken_word(outcome: Unrepaired) -> str:
    if outcome.charged is None:
        return "it answered with what it does not sell"
    return f"it charged {credits_words(outcome.charged)}, and no more than {credits_words(outcome.price)} was agreed to"


def failure_line(error: BaseException) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error)


def _together(sellers: Mapping[str, Seller]) -> dict[str, Offered]:
    """What is sold by anybody: found by all columns that some provider finds it by; the levels are the first one's."""
    found: dict[str, Offered] = {}
    for seller in sellers.values():
        for attribute, offered in seller.offers.items():
            if (known := found.get(attribute)) is not None:
                columns = dict.fromkeys([*known.offer.columns, *offered.offer.columns])
                offered = Offered(replace(known.offer, columns=tuple(columns)), known.levels)
            found[attribute] = offered
    return found
