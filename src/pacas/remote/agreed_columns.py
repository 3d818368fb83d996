"""The columns that a client has agreed to send: nothing else leaves it, whatever a catalogue asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet

from pacas.core.toml import toml_key, toml_list
from pacas.errors import InputError
from pacas.protocol.messages import Offer

Agreed = Mapping[str, Collection[str]] | AbstractSet[str]
"""The columns that may be sent: by attribute, as `[send]` says it, or those that a client's file names at all."""


class AgreedColumns:
    """What may be sent to one server; all that it asks for, where nothing was said."""

    def __init__(self, url: str, agreed: Agreed | None) -> None:
        self._url, self._agreed = url, agreed

    def agree(self, send: Mapping[str, Collection[str]]) -> None:
        """The client has been asked: these columns may be sent, by attribute, and no others."""
        self._agreed = send

    def beyond(self, offer: Offer) -> list[str]:
        """The columns of a match that the client has not agreed to send."""
        if self._agreed is None:
            return []
        agreed = self._agreed.get(offer.attribute, ()) if isinstance(self._agreed, Mapping) else self._agreed
        return [column for column in offer.columns if column not in agreed]

    def check(self, offer: Offer) -> None:
        """Is all that finds an attribute agreed to?"""
        if other := self.beyond(offer):
            named = self._agreed.get(offer.attribute, ()) if isinstance(self._agreed, Mapping) else None
            line = f"{toml_key(offer.attribute)} = {toml_list(offer.columns if named is None else [*named, *other])}"
            why = "the client's file does not name" if named is None else "[send] does not allow"
            raise InputError(
                f"{self._url} asks for {', '.join(other)} to find {offer.attribute}, which {why}; to send it, write "
                f"{line} in [send] of the client's file"
            )
