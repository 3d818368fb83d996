"""Tuples that nobody is found by: would they be, if the same values were written in another way?

It is asked as anything else is, by quotes: nothing is told that they would not tell, near or over the wire. What is
found is found surely; what is not may be written in a way that nobody has tried. A date that may be two days is tried
as either, and what is counted is what one order finds: a match can declare no more.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice, product

from pacas.core.normal_text import DateOrder, spellings
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer, Reason, refused

MOST_TUPLES, MOST_SPELLINGS = 60, 20
"""How many tuples are tried, and each in how many ways, by an order of dates: quotes are free, and counted."""
_TELLS_NOTHING = (refused(Reason.NO_MATCH), refused(Reason.REFUSED))

Tuple = Mapping[str, str | None]
Way = tuple[str, ...]
"""A tuple in some spelling, its values in the order of the match's columns."""


@dataclass(frozen=True, slots=True)
class Respelled:
    """How many of the tuples that were tried are found in another spelling, and the first that is."""

    found: int
    tried: int
    example: Mapping[str, tuple[str, str]]
    """By column, how the client writes a value, and how it is found."""
    order: DateOrder = DateOrder.UNKNOWN
    """How dates must be read for it."""

    def __str__(self) -> str:
        example = ", ".join(f"{column} {mine!r} as {theirs!r}" for column, (mine, theirs) in self.example.items())
        return (
            f"no_match: at least {self.found:,} of {self.tried:,} tried would match if the provider's match were "
            f"normalized ({example}); it says so with ~ … {f'normalized {self.order.value}'.strip()}"
        )


def respelled(marketplace: Marketplace, offer: Offer, tuples: Sequence[Tuple]) -> Respelled | None:
    """What other spellings find of tuples that find nothing; None if nothing."""
    asked = list(dict.fromkeys(tuple(one[column] for column in offer.columns) for one in tuples))
    complete = [[value for value in values if value] for values in asked]
    tried = [values for values in complete if len(values) == len(offer.columns)][:MOST_TUPLES]
    ways = {order: [[*islice(_ways(values, order), MOST_SPELLINGS)] for values in tried] for order in DateOrder}
    every = list(dict.fromkeys(way for some in ways.values() for own in some for way in own))
    if not every:
        return None
    columns = dict(zip(offer.columns, map(list, zip(*every, strict=True)), strict=True))
    finest = marketplace.quote_batch(offer.attribute, columns).prices[:, 0].tolist()
    right = {way for way, price in zip(every, finest, strict=True) if price not in _TELLS_NOTHING}
    found = {order: _first_found(some, right) for order, some in ways.items()}
    order = max(found, key=lambda order: len(found[order]))
    if not found[order]:
        return None
    number, way = next(iter(found[order].items()))
    both = zip(offer.columns, tried[number], way, strict=True)
    return Respelled(len(found[order]), len(tried), {column: (a, b) for column, a, b in both if a != b}, order)


def _first_found(ways: Sequence[Sequence[Way]], right: Container[Way]) -> dict[int, Way]:
    """The first way that finds somebody, by the number of its tuple."""
    firsts = ((number, next((way for way in own if way in right), None)) for number, own in enumerate(ways))
    return {number: way for number, way in firsts if way is not None}


def _ways(values: Sequence[str], order: DateOrder) -> Iterator[Way]:
    """A tuple in other spellings: all of its values in one way, or some of them; then each in any."""
    columns, written = range(len(values)), [spellings(value, order) for value in values]
    some = [chosen for size in reversed(columns) for chosen in combinations(columns, size + 1)]
    alike = (
        tuple(way if column in chosen else values[column] for column, way in enumerate(ways))
        for ways in zip(*written, strict=True)
        for chosen in some
    )
    tried = {tuple(values)}
    for way in chain(alike, product(*map(dict.fromkeys, written))):
        if way not in tried:
            tried.add(way)
            yield way
