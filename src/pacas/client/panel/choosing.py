"""Whom to ask about a class, and at which level: the cheapest offer of those that tell about as much as the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pacas.client.panel.belief import expected_gain
from pacas.client.panel.ground_values import GroundValues
from pacas.client.panel.reliability import Reliabilities
from pacas.core.distance import Floats
from pacas.core.histogram import Ints

NEARLY = 0.9
"""Which share of the best expected gain will do."""
NOTHING = 1e-6
"""Bits that nobody pays for."""


class PanelOffer(NamedTuple):
    """What one provider would tell at one level: about which tuple, for how much, and how many bits that may be."""

    provider: str
    level: int
    tuple: int
    price: int
    gain: float


def priced(
    ladders: Mapping[str, Ints],
    levels: Mapping[str, Iterable[int]],
    allowance: int,
    values: GroundValues,
    believed: Floats,
    reliabilities: Reliabilities,
) -> list[PanelOffer]:
    """What can be afforded: per provider and level the cheapest tuple, the last at its price."""
    found = []
    for provider, ladder in ladders.items():
        for level in levels[provider]:
            prices = [(price, -n) for n, price in enumerate(ladder[:, level].tolist()) if 0 <= price <= allowance]
            if prices:
                price, n = min(prices)
                gain = expected_gain(believed, *values.nodes(provider, level), reliabilities[provider])
                found.append(PanelOffer(provider, level, -n, price, gain))
    return found


def choose_offer(offers: Iterable[PanelOffer]) -> PanelOffer | None:
    """The cheapest within nine tenths of the best gain; of equal prices what tells more, then who was named first."""
    told = [offer for offer in offers if offer.gain > NOTHING]
    least = NEARLY * max((offer.gain for offer in told), default=0.0)
    return min((o for o in told if o.gain >= least), key=lambda o: (o.price, -o.gain), default=None)
