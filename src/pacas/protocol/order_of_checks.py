"""What requests are told: a price, or why not. The checks in their order (D4): no match, ambiguous, unsafe, the price.

Three numbers decide over a request: how many rows it matches, below which level it is never answered, and from which
level on its answer is safe. Whoever keeps them, the provider or a client with its price list, the order of the checks
is here alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.core.rates.schedule import Schedule
from pacas.protocol.messages import Offer, Reason, refused

Numbers = NDArray[np.integer[Any]]

REASON_OF = {refused(reason): reason for reason in Reason}
"""What a price below 0 stands for."""
UNSAFE, AMBIGUOUS, NO_MATCH = (refused(r) for r in (Reason.UNSAFE, Reason.AMBIGUOUS, Reason.NO_MATCH))


def judged(prices: NDArray[np.int64], matches: Numbers, never_below: Numbers, safe_from: Numbers) -> NDArray[np.int64]:
    """Requests' prices at all levels, and refusals where they are not sold; the prices are written over.

    Three requests at levels 0 to 2: one that matches nothing, one whose rows agree from level 1 on and that is safe
    from level 2 on, one that is safe at once.

    >>> prices = np.array([[0, 0, 0], [9, 6, 3], [8, 4, 0]])
    >>> ladders = judged(prices, np.array([0, 2, 1]), np.array([3, 1, 0]), np.array([0, 2, 0]))
    >>> [[REASON_OF[p].value if p < 0 else p for p in ladder] for ladder in ladders.tolist()]
    [['no_match', 'no_match', 'no_match'], ['ambiguous', 'unsafe', 3], [8, 4, 0]]
    """
    level = np.arange(prices.shape[1])
    prices[level < safe_from[:, None]] = UNSAFE
    prices[level < never_below[:, None]] = AMBIGUOUS
    prices[matches == 0] = NO_MATCH
    return prices


def not_below(floor: int, ladders: NDArray[np.int64]) -> NDArray[np.int64]:
    """Prices and refusals at all levels, where nobody is sold anything below a level; they are written over."""
    if floor:
        below = ladders[:, :floor]
        below[below >= 0] = UNSAFE
    return ladders


def at_rates(schedule: Schedule, listed: int, ladders: NDArray[np.int64]) -> NDArray[np.int64]:
    """List prices as a schedule of rates lets them cost who has so many list credits; refusals stay what they are."""
    if schedule.is_flat:
        return ladders
    found, which = np.unique(ladders, return_inverse=True)
    costs = [price if price < 0 else schedule.quote(listed, price) for price in found.tolist()]
    return np.array(costs, dtype=np.int64)[which].reshape(ladders.shape)


def is_too_many(ladder: Sequence[int], offer: Offer) -> bool:
    """Is it for their number that the rows found are not answered from? Few rows agree at the root, where all do.

    Of people who may be absent even the root's answer would say that they are there; there it cannot be told.
    """
    return not offer.may_be_absent and ladder[-1] == AMBIGUOUS


def judged_at(level: int, matches: int, never_below: int, safe_from: int, price: int) -> int:
    """One request's price at a level, or a refusal."""
    if level < never_below:
        return AMBIGUOUS if matches else NO_MATCH
    return UNSAFE if level < safe_from else price
