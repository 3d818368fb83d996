"""Quotes that are asked for together before their turn comes: they hold until something is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pacas.core.histogram import Ints
from pacas.protocol.marketplace import Columns, Forwarding, Marketplace
from pacas.protocol.messages import Ladders

Tuple = Mapping[str, str | None]


class QuotesAhead(Forwarding):
    """A marketplace that is asked once about a tuple, until it is told that something is paid."""

    def __init__(self, marketplace: Marketplace) -> None:
        super().__init__(marketplace)
        self._ladders: dict[tuple[str, tuple[Any, ...]], Ints] = {}

    def clear(self) -> None:
        """What was quoted may be another quote from now on."""
        self._ladders.clear()

    def knows(self, attribute: str, values: Tuple) -> bool:
        return (attribute, tuple(values.values())) in self._ladders

    def fetch(self, attribute: str, tuples: Sequence[Tuple]) -> None:
        """Ask about many tuples, all with the same columns in the same order."""
        keys = list(dict.fromkeys(tuple(values.values()) for values in tuples))
        columns = dict(zip(tuples[0], map(list, zip(*keys, strict=True)), strict=True))
        prices = super().quote_batch(attribute, columns).prices
        self._ladders |= zip(((attribute, key) for key in keys), prices, strict=True)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        if self._ladders and all(len(column) == 1 for column in tuples.values()):
            known = self._ladders.get((attribute, tuple(column[0] for column in tuples.values())))
            if known is not None:
                return Ladders(known[np.newaxis])
        return super().quote_batch(attribute, tuples)
