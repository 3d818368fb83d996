"""What requests are told: a price, or why not. The checks in their order (D4): no match, ambiguous, unsafe, the price.

Three numbers decide over a request: how many rows it matches, below which level it is never answered, and from which
level on its answer is safe. Whoever keeps them, the order of the checks is here alone.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pacas.engine.grouping import Array, Ints
from pacas.protocol.messages import Reason, refused
from pacas.provider.pricing.conflicts import MatchedRequests
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.pricing.prices import Prices
from pacas.provider.safety.surviving import Surviving

REASONS = {refused(reason): reason for reason in Reason}
"""What a price below 0 stands for."""

_UNSAFE, _AMBIGUOUS, _NO_MATCH = (refused(r) for r in (Reason.UNSAFE, Reason.AMBIGUOUS, Reason.NO_MATCH))


def never_below(matches: Ints, agree: Ints, max_matches: int, height: int) -> Ints:
    """Below which level requests are never answered: none answers one that matches no row, or too many."""
    return np.where((matches == 0) | (matches > max_matches), height + 1, agree)


def judged(prices: Ints, matches: Ints, never_below: Array, safe_from: Array) -> Ints:
    """Requests' prices at all levels, and refusals where they are not sold; the prices are written over.

    Three requests at levels 0 to 2: one that matches nothing, one whose rows agree from level 1 on and that is safe
    from level 2 on, one that is safe at once.

    >>> prices = np.array([[0, 0, 0], [9, 6, 3], [8, 4, 0]])
    >>> ladders = judged(prices, np.array([0, 2, 1]), np.array([3, 1, 0]), np.array([0, 2, 0]))
    >>> [[REASONS[p].value if p < 0 else p for p in ladder] for ladder in ladders.tolist()]
    [['no_match', 'no_match', 'no_match'], ['ambiguous', 'unsafe', 3], [8, 4, 0]]
    """
    level = np.arange(prices.shape[1])
    prices[level < safe_from[:, None]] = _UNSAFE
    prices[level < never_below[:, None]] = _AMBIGUOUS
    prices[matches == 0] = _NO_MATCH
    return prices


def ladders_of(
    asked: MatchedRequests, prices: Prices, known: Knowledge, surviving: Surviving, height: int, max_matches: int
) -> Ints:
    """Prices and refusals at all levels, for a buyer who knows what is `known`, of each tuple that was asked about."""
    never = never_below(asked.matches, asked.agree, max_matches, height)
    ladders = prices.ladders(asked.sets, known, height)
    return judged(ladders, asked.matches, never, surviving.finest(asked.sets))[asked.of]


def ladders_without_rows(matches: Ints, height: int) -> Ints:
    """Refusals at all levels of tuples of which there is no row to answer from: they match none, or too many."""
    prices = np.zeros((len(matches), height + 1), dtype=np.int64)
    return judged(prices, matches, never_below(matches, matches, 0, height), np.zeros(len(matches)))


def judged_at(level: int, matches: int, never_below: int, safe_from: int, price: int) -> int:
    """One request's price at a level, or a refusal."""
    if level < never_below:
        return _AMBIGUOUS if matches else _NO_MATCH
    return _UNSAFE if level < safe_from else price


class KeptQuotes(Protocol):
    """What is known of requests by their numbers, one look each; −1 is one that matches nothing."""

    height: int
    matches: Ints
    never_below: Array

    def safe_from(self, request: int) -> int:
        """The lowest level at which it is safe, now."""
        ...

    def price(self, request: int, level: int, known: Knowledge) -> int:
        """What it costs a buyer who knows what is `known`."""
        ...

    def prices(self, request: int, lowest: int, known: Knowledge) -> list[int]:
        """What it costs at each level from the `lowest` on."""
        ...


def kept_quote(kept: KeptQuotes, request: int, level: int, known: Knowledge) -> int:
    """One request's price at a level, or a refusal."""
    if level < kept.never_below[request]:
        return _AMBIGUOUS if kept.matches[request] else _NO_MATCH
    return _UNSAFE if level < kept.safe_from(request) else kept.price(request, level, known)


def kept_ladder(kept: KeptQuotes, request: int, known: Knowledge) -> list[int]:
    """One request's prices and refusals at all levels."""
    never = int(kept.never_below[request])
    if never > kept.height:
        return [_AMBIGUOUS if kept.matches[request] else _NO_MATCH] * (kept.height + 1)
    lowest = max(never, kept.safe_from(request))
    return [_AMBIGUOUS] * never + [_UNSAFE] * (lowest - never) + kept.prices(request, lowest, known)
