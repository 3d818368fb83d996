"""How requests are judged by the paper's rules."""

from __future__ import annotations

import numpy as np

from pacas.engine.grouping import Ints
from pacas.protocol.order_of_checks import judged
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
