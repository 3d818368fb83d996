"""A question to the marketplace: what it is about, and how its request is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pacas.core.histogram import NO_ROWS, Ints
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Request


class Choice(NamedTuple):
    """A request, the row it asks about, and its quoted price."""

    request: Request
    row: int
    price: int
    differing: Ints = NO_ROWS
    """The class's rows that may not belong to it, by their quotes."""


class Unbought(NamedTuple):
    """Why nothing is asked for, and what the cheapest answer would cost where each is too expensive."""

    reason: str
    cheapest: int | None = None


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
