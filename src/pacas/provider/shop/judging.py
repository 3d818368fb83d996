"""How requests are judged by the paper's rules: the numbers that decide over them, from neighbours and kept quotes."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pacas.engine.grouping import Array, Ints
from pacas.protocol.order_of_checks import AMBIGUOUS, NO_MATCH, UNSAFE, judged
from pacas.provider.pricing.conflicts import MatchedRequests
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.pricing.prices import Prices
from pacas.provider.safety.surviving import Surviving


def never_below(matches: Ints, agree: Ints, max_matches: int, height: int) -> Ints:
    """Below which level requests are never answered: none answers one that matches no row, or too many."""
    return np.where((matches == 0) | (matches > max_matches), height + 1, agree)


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
    return judged(prices, matches, never_below(matches, matches, 0, height), np.zeros_like(matches))


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
        return AMBIGUOUS if kept.matches[request] else NO_MATCH
    return UNSAFE if level < kept.safe_from(request) else kept.price(request, level, known)


def kept_ladder(kept: KeptQuotes, request: int, known: Knowledge) -> list[int]:
    """One request's prices and refusals at all levels."""
    never = int(kept.never_below[request])
    if never > kept.height:
        return [AMBIGUOUS if kept.matches[request] else NO_MATCH] * (kept.height + 1)
    lowest = max(never, kept.safe_from(request))
    return [AMBIGUOUS] * never + [UNSAFE] * (lowest - never) + kept.prices(request, lowest, known)
