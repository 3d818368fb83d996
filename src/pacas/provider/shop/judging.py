"""What requests are told: a price, or why not. The checks in their order (D4): no match, ambiguous, unsafe."""

from __future__ import annotations

import numpy as np

from pacas.engine.grouping import Ints
from pacas.protocol.messages import Reason, refused
from pacas.provider.pricing.conflicts import MatchedRequests
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.pricing.prices import Prices
from pacas.provider.safety.surviving import Surviving

REASONS = {refused(reason): reason for reason in Reason}
"""What a price below 0 stands for."""

_UNSAFE, _AMBIGUOUS, _NO_MATCH = (refused(r) for r in (Reason.UNSAFE, Reason.AMBIGUOUS, Reason.NO_MATCH))


def ladders_of(
    asked: MatchedRequests, prices: Prices, known: Knowledge, judged: Surviving, height: int, max_matches: int
) -> Ints:
    """Prices and refusals at all levels, for a buyer who knows what is `known`, of each tuple that was asked about."""
    ladders = prices.ladders(asked.sets, known, height)
    level = np.arange(height + 1)
    finest = judged.finest(asked.sets)
    ladders[level < finest[:, None]] = _UNSAFE
    ladders[level < asked.agree[:, None]] = _AMBIGUOUS
    ladders[asked.matches > max_matches] = _AMBIGUOUS
    ladders[asked.matches == 0] = _NO_MATCH
    return ladders[asked.of]
