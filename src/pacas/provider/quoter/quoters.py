"""Where requests find their quoter: one holds the whole index, or one is made of the rows that are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from pacas.engine.grouping import Ints
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Request
from pacas.provider.quoter.price_lists import PriceLists
from pacas.provider.quoter.public_view import PublicView
from pacas.provider.quoter.quoter import Quoter, SoldBefore
from pacas.provider.quoter.sold_attribute import FoundUnits

Judge = Callable[[Quoter, FoundUnits], Ints]
"""From what requests find to their ladders."""


FoundUnit = tuple[Quoter, int, int, int]
"""What one request finds: a quoter, a unit of its, how many rows, and below which level no answer is one."""


class Quoters(Protocol):
    """Who prices and refuses, and has seen nothing but the public view."""

    keeps_quotes: bool
    """Whether a quote is one look, whatever is asked for."""

    @property
    def view(self) -> PublicView: ...

    @property
    def sold_before(self) -> Sequence[tuple[Quoter, SoldBefore]]:
        """What was sold from another ledger."""
        ...

    def client_columns(self, attribute: str) -> tuple[str, ...]:
        """The columns of the client's that the attribute is found by."""
        ...

    def find(self, attribute: str, tuples: Columns, judge: Judge) -> Ints:
        """What many tuples are told: of each its ladder."""
        ...

    def find_one(self, request: Request) -> FoundUnit: ...

    def find_all(self, requests: Sequence[Request]) -> list[FoundUnit]:
        """What each request finds, however many there are."""
        ...

    def by_group(self, policy: int, touched: int) -> Iterator[Quoter]:
        """Quoters whose X-groups of a policy are whole, but for rows that tell no more, if so many were touched."""
        ...

    def unlinked(self, policy: int) -> int:
        """How many rows are in no X-group of a policy."""
        ...

    def reserved(self, policy: int) -> int | None:
        """How many rows a policy keeps back, whatever is bought; None if it keeps back what is left last."""
        ...

    def safe_levels(self, policy: int) -> Mapping[str, tuple[int, ...]]:
        """φ: per attribute that is for sale, the levels below which rows are not sold that a policy keeps back."""
        ...

    @property
    def price_lists(self) -> PriceLists | None:
        """What clients may quote by themselves from; None where the whole index is not held."""
        ...


class HeldQuoter:
    """One quoter for all requests."""

    def __init__(self, view: PublicView, bought: Sequence[tuple[str, Request]] = ()) -> None:
        self.view, self.quoter = view, Quoter(view, bought)
        self.sold_before = [(self.quoter, one) for one in self.quoter.sold_before]
        self._finders = self.quoter.finders
        self.keeps_quotes = all(finder.matcher.by_slot is not None for finder in self._finders.values())
        self.price_lists = PriceLists(self.quoter)

    def client_columns(self, attribute: str) -> tuple[str, ...]:
        return self._finders[attribute].matcher.client_columns

    def find(self, attribute: str, tuples: Columns, judge: Judge) -> Ints:
        return judge(self.quoter, self._finders[attribute].find(tuples))

    def find_one(self, request: Request) -> FoundUnit:
        return self.quoter, *self._finders[request.attribute].find_one(request)

    def find_all(self, requests: Sequence[Request]) -> list[FoundUnit]:
        return [self.find_one(request) for request in requests]

    def by_group(self, policy: int, touched: int) -> Iterator[Quoter]:
        yield self.quoter

    def unlinked(self, policy: int) -> int:
        return int((self.quoter.guards[policy - 1].group < 0).sum())

    def reserved(self, policy: int) -> int | None:
        rows = self.quoter.reserved.get(policy)
        return None if rows is None else int(rows.sum())

    def safe_levels(self, policy: int) -> Mapping[str, tuple[int, ...]]:
        return self.quoter.safe_levels(policy)
