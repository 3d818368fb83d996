"""The provider's price lists, as they are sent: each is made once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from urllib.parse import quote as escaped

from pacas.protocol.messages import ListedPrices
from pacas.provider.provider import Provider
from pacas.wire.price_list_stream import write_price_list
from pacas.wire.shapes import OfferedPrices


class PublishedLists:
    """What clients may quote by themselves from; nothing, where the provider or its owner does not publish it."""

    def __init__(self, provider: Provider, publish: bool) -> None:
        self._lists = provider.shop.price_lists if publish else None
        self._offered: Mapping[str, ListedPrices] = {} if self._lists is None else self._lists.offered
        self._made: dict[str, bytes] = {}
        self._making = Lock()

    def __contains__(self, attribute: str) -> bool:
        return attribute in self._offered

    @property
    def version(self) -> str:
        """Of what is published: lists of one version never change."""
        return "" if self._lists is None else self._lists.version[:32]

    def offered(self, attribute: str) -> OfferedPrices | None:
        """What the catalogue says of an attribute's list, if it has one."""
        prices = self._offered.get(attribute)
        path = f"/v1/prices/{escaped(attribute, safe='')}?version={self.version}" if prices else ""
        return OfferedPrices.of(prices, path) if prices else None

    def stream(self, attribute: str) -> bytes:
        """An attribute's list. It may take a while, the first time."""
        with self._making:
            if attribute not in self._made:
                assert self._lists is not None
                self._made[attribute] = write_price_list(self._lists.of(attribute))
            return self._made[attribute]
