"""What somebody is quoted who has bought nothing, for every row that is looked at."""

from __future__ import annotations

from functools import cache

import numpy as np

from pacas.engine.grouping import Ints, Mask
from pacas.protocol.order_of_checks import is_too_many
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.provider import Provider

NOBODY = "pacas-nobody"
"""A buyer who has bought nothing."""
FEW = 2_000
"""Rows that are asked about where a quote takes more than a look."""
MANY = 1_000
"""Rows that are asked about where it takes one; all of them, where these leave a doubt. Of 100 such samples 95 have a
share that is within about 3 points of all rows'."""


def takes_a_look(provider: Provider) -> bool:
    """Whether quotes are there to be looked up, and so cheap: rows are found by equality, and held in memory."""
    shop = provider.shop
    return shop.keeps_quotes and all(dependency.is_by_equality for dependency in shop.terms.match.values())


class FreeQuotes:
    """The ladders of the provider's own rows, each attribute's asked for once."""

    def __init__(self, provider: Provider, own: OwnRows, every: FreeQuotes | None = None) -> None:
        self._provider, self.own = provider, own
        self._every = every
        self.ladders = cache(self._ladders)

    @classmethod
    def affordable(cls, provider: Provider, own: OwnRows) -> FreeQuotes | None:
        """Of all rows, or of some; None where the relation stays on the engine."""
        if own.stays_on_engine:
            return None
        if takes_a_look(provider):
            return cls(provider, own.some(MANY), cls(provider, own))
        return cls(provider, own.some(FEW))

    @property
    def every(self) -> FreeQuotes | None:
        """Those of all rows of the relation; None where that would take too long."""
        found = self if self._every is None else self._every
        return None if found.own.is_sample else found

    def _ladders(self, attribute: str) -> Ints:
        """Per row its prices at all levels, and refusals below 0."""
        clauses = self._provider.shop.terms.match[attribute].clauses
        asked = {clause.client: self.own.texts(clause.provider) for clause in clauses}
        return self._provider.quote_batch(attribute, asked, buyer=NOBODY).prices

    def floors(self, attribute: str) -> Ints:
        """Per row the lowest level at which the attribute is sold; the root's, where nothing below it is."""
        sold = self.below_root(attribute) >= 0
        return np.asarray(np.where(sold.any(axis=1), sold.argmax(axis=1), sold.shape[1]), dtype=np.int64)

    def too_many(self, attribute: str) -> Mask:
        """Per row whether it is for their number that the rows found are not answered from."""
        offer = self._provider.shop.offers[attribute]
        return np.array([is_too_many(ladder, offer) for ladder in self.ladders(attribute).tolist()], dtype=np.bool_)

    def below_root(self, attribute: str) -> Ints:
        """The ladders below the root of the attribute's own hierarchy: the levels that tell of the value."""
        below: Ints = self.ladders(attribute)[:, : self.own.height(attribute)]
        return below
