"""The provider's price lists, as they are sent: each is made once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from urllib.parse import quote as escaped

from pacas.protocol.messages import ListedPrices
from pacas.provider.provider import Provider
from pacas.wire.price_list_stream import write_price_list
from pacas.wire.shapes.catalogue import OfferedCosts, OfferedPrices


class PublishedLists:
    """What clients may quote by themselves from; nothing, where the provider or its owner does not publish it."""

    def __init__(self, provider: Provider, publish: bool) -> None:
        self._lists = provider.shop.price_lists if publish else None
        self._told: Mapping[str, ListedPrices] = {} if self._lists is None else self._lists.told
        self._made: dict[str, bytes] = {}
        self._making = Lock()

    def __contains__(self, attribute: str) -> bool:
        return attribute in self._told and self._told[attribute].has_list

    @property
    def version(self) -> str:
        """Of what is published: lists of one version never change."""
        return "" if self._lists is None else self._lists.version[:32]

    def offered(self, attribute: str) -> OfferedPrices | None:
        """What the catalogue says of an attribute's list, if it has one."""
        if attribute not in self:
            return None
        path = f"/v1/prices/{escaped(attribute, safe='')}?version={self.version}"
        costs = OfferedCosts.of(self._told[attribute])
        return OfferedPrices(path=path, keys=costs.keys, linked=costs.linked, ladders=costs.ladders)

    def costs(self, attribute: str) -> OfferedCosts | None:
        """What it says where there is no list, and prices are public."""
        prices = self._told.get(attribute)
        return None if prices is None or prices.has_list else OfferedCosts.of(prices)

    def stream(self, attribute: str) -> bytes:
        """An attribute's list. It may take a while, the first time."""
        with self._making:
            if attribute not in self._made:
                assert self._lists is not None
                self._made[attribute] = write_price_list(self._lists.of(attribute))
            return self._made[attribute]
