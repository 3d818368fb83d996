"""A question to the marketplace: what it is about, and how its request is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pacas.core.histogram import NO_ROWS, Ints
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Ladders, QuotedLadder, Request


class AskedTuples(NamedTuple):
    """What tuples were quoted for an attribute."""

    attribute: str
    tuples: Mapping[str, Sequence[str | None]]
    ladders: Ladders

    def each(self) -> list[QuotedLadder]:
        rows = zip(*self.tuples.values(), strict=True)
        pairs = zip(rows, self.ladders.prices.tolist(), strict=True)
        return [QuotedLadder(self.attribute, dict(zip(self.tuples, row, strict=True)), tuple(p)) for row, p in pairs]


class Choice(NamedTuple):
    """A request, the row it asks about, and its quoted price."""

    request: Request
    row: int
    price: int
    differing: Ints = NO_ROWS
    """The class's rows that may not belong to it, by their quotes."""
    quoted: AskedTuples | None = None
    """The quotes by which it was chosen, where others would make another choice."""


class Unbought(NamedTuple):
    """Why nothing is asked for, and what the cheapest answer would cost where each is too expensive."""

    reason: str
    cheapest: int | None = None
    quoted: AskedTuples | None = None
    """The quotes that say so."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """About cells of one attribute that should be equal."""

    attribute: str
    rows: Ints
    """Ascending."""
    choose: Callable[[Marketplace], Choice | Unbought]
    """The request to pay for, or why there is none."""
    supposed: Callable[[Request], str]
    """What a dry run takes the answer to be."""
    provider: str | None = None
    """Who is asked, where there are several."""
    key: str | None = None
    """The key of an order that was made before, and of which it is not known whether it was paid."""
