"""A marketplace in the client's own words: columns that the client calls by other names than the provider does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pacas.core.dependency import FunctionalDependency
from pacas.errors import InputError, did_you_mean
from pacas.protocol.marketplace import Columns, Forwarding, Marketplace, lacks_column
from pacas.protocol.messages import Answer, Ladders, Offer, Payment, Quote, QuotedLadder, Refusal, Request

OwnColumns = Mapping[str, str | None]
"""By the client's name of a column, the provider's; None: the provider's column of that name is another one."""


def check_own_names(columns: OwnColumns) -> None:
    """Raise if two of the client's columns are said to be one of the provider's."""
    seen: dict[str, str] = {}
    for own, theirs in columns.items():
        if theirs is not None and theirs in seen:
            raise InputError(f"columns: both {seen[theirs]!r} and {own!r} are said to be the provider's {theirs!r}")
        seen |= {} if theirs is None else {theirs: own}


def in_own_names(marketplace: Marketplace, columns: OwnColumns) -> Marketplace:
    """The marketplace; where the client has other names, in those. Who sells nothing calls nothing otherwise."""
    return OwnNames(marketplace, columns) if columns and marketplace.catalogue() else marketplace


class OwnNames(Forwarding):
    """Offers and dependencies come in the client's names, requests go in the provider's."""

    def __init__(self, marketplace: Marketplace, columns: OwnColumns) -> None:
        super().__init__(marketplace)
        self._offers = marketplace.catalogue()
        known = dict.fromkeys(name for offer in self._offers.values() for name in (offer.attribute, *offer.columns))
        for own, theirs in columns.items():
            if theirs is not None and theirs not in known:
                raise InputError(
                    f"columns.{own}: the provider names no column {theirs!r}; {did_you_mean(theirs, known)}"
                )
        self._columns = columns
        self._called = {theirs: own for own, theirs in columns.items() if theirs is not None}
        self._theirs = {self._own(name): name for name in known}

    def catalogue(self) -> Mapping[str, Offer]:
        return {(offer := self._renamed(one)).attribute: offer for one in self._offers.values()}

    def quote(self, request: Request) -> Quote | Refusal:
        return super().quote(self._asked(request))

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        asked = self._their(attribute)
        self._check(asked, tuples)
        return super().quote_batch(asked, {self._their(name): tuples[name] for name in tuples})

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        return super().pay(self._asked(request), ceiling, key)

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        return super().pay_many([self._payment(payment) for payment in payments])

    def dependencies(self) -> tuple[FunctionalDependency, ...]:
        return tuple(FunctionalDependency(self._all(fd.lhs), self._own(fd.rhs)) for fd in super().dependencies())

    def _renamed(self, offer: Offer) -> Offer:
        prices = offer.prices and replace(offer.prices, linked=self._all(offer.prices.linked))
        return replace(offer, attribute=self._own(offer.attribute), columns=self._all(offer.columns), prices=prices)

    def _asked(self, request: Request) -> Request:
        asked = self._their(request.attribute)
        self._check(asked, request.tuple)
        return Request(self._values(request.tuple), asked, request.level)

    def _payment(self, payment: Payment) -> Payment:
        quoted = tuple(QuotedLadder(self._their(q.attribute), self._values(q.tuple), q.prices) for q in payment.quoted)
        return Payment(self._asked(payment.request), payment.ceiling, payment.key, quoted)

    def _values(self, values: Mapping[str, str | None]) -> dict[str, str | None]:
        return {self._their(name): value for name, value in values.items()}

    def _check(self, attribute: str, given: Iterable[str]) -> None:
        """A column that lacks is called as the client calls it."""
        names = list(given)
        for column in self._all(self._offers[attribute].columns if attribute in self._offers else ()):
            if column not in names:
                raise lacks_column(column, names)

    def _their(self, name: str) -> str:
        return self._theirs.get(name, name)

    def _own(self, theirs: str) -> str:
        """What the client calls a column; one that only looks like one of the client's has a name that it has not."""
        if theirs in self._called:
            return self._called[theirs]
        return f"the provider's {theirs}" if theirs in self._columns else theirs

    def _all(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._own, names))
