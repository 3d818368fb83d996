"""The columns of a client's tuple: over the wire, those that the match needs and no others."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from pacas.errors import InputError
from pacas.protocol.messages import Offer

SHOWN = 50
"""Characters of a column's name that a client gets back."""


class NeededColumns:
    """What each match needs. More would be nobody's business, and be kept in the ledger for ever."""

    def __init__(self, catalogue: Mapping[str, Offer]) -> None:
        self._offers = catalogue
        self._needed = {attribute: frozenset(offer.columns) for attribute, offer in catalogue.items()}

    def are(self, attribute: str, given: AbstractSet[str]) -> bool:
        """Whether a tuple has just the columns that the match for an attribute needs."""
        return given == self._needed.get(attribute)

    def check(self, attribute: str, given: AbstractSet[str]) -> None:
        """Refuse a column that is not needed; what is missing, or not for sale, is the provider's to say."""
        needed = self._needed.get(attribute)
        if needed is None or given <= needed:
            return
        other = next(column for column in given if column not in needed)
        raise InputError(
            f"column {other[:SHOWN]!r} is not one that the match of {attribute} needs; it needs "
            f"{', '.join(self._offers[attribute].columns)}"
        )
