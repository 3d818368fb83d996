"""A client that doubts: what a server says it sold is checked before it counts.

Its price, its value, and the receipt's signature and place in the log. It was paid for, whatever is found here: what
comes of it is for the client and the provider to settle.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from importlib import import_module

from pacas.core.money import credits_words
from pacas.errors import OverchargedError, RemoteError
from pacas.protocol.messages import ABSENT, Offer
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import SignedTreeHead
from pacas.remote.known_keys import KnownKeys
from pacas.wire.shapes.purchases import Bought, PurchaseRequest
from pacas.wire.shapes.receipts import ReceiptDocument


class SoldAnswers:
    """What one server has sold, and what of it others must agree with: ceilings, heads of the log, published labels."""

    def __init__(self, url: str, keys: KnownKeys) -> None:
        self._url, self._keys = url, keys
        self._ceilings: dict[str, int] = {}
        """The most that was agreed to under each key; what was bought is told again, whatever is agreed to then."""
        self._heads: dict[int, SignedTreeHead] = {}
        """The heads of the log that receipts have shown, by size: of one size there is one log."""
        self._labels: dict[tuple[str, int], AbstractSet[str]] = {}
        """What can be sold of an attribute at a level, where it is published."""

    def agree(self, key: str, ceiling: int) -> None:
        """So much may be charged under a key, or what was agreed to before, if that is more."""
        self._ceilings[key] = max(self._ceilings.get(key, 0), ceiling)

    def check(self, bought: Bought, asked: PurchaseRequest, offer: Offer, key: str) -> None:
        """It is what was asked for, at a price that was agreed to, a value that can be, and signed by the provider."""
        if bought.receipt is None:
            self._check_free_root(bought, asked, offer, key)
            return
        self._check_is_asked(bought, bought.receipt, asked, key)
        if not self._is_answer(bought.answer, bought.level, offer):
            raise RemoteError(
                f"{self._url} has sold for {asked.attribute}, level {bought.level}, what is no value of its hierarchy "
                "there; ask the provider"
            )
        signed = bought.receipt.signed()
        self._check_signed(signed)
        if bought.price > self._ceilings[key]:
            raise OverchargedError(
                f"{self._url} charged {credits_words(bought.price)}{_when(signed.receipt)}, and no more than "
                f"{credits_words(self._ceilings[key])} was agreed to; ask the provider, unless that was earlier: then "
                "it was paid for under this key before, and the journal is an older copy",
                bought.price,
            )

    def _check_free_root(self, bought: Bought, asked: PurchaseRequest, offer: Offer, key: str) -> None:
        """What has no receipt is the root, for nothing: all else is signed."""
        root = offer.hierarchy
        told = (bought.id, bought.price, bought.level, bought.answer)
        if told != (key, 0, asked.level, root.root_label) or asked.level != root.height:
            raise RemoteError(f"{self._url} has sold something without a receipt; ask the provider")

    def _check_is_asked(self, bought: Bought, receipt: ReceiptDocument, asked: PurchaseRequest, key: str) -> None:
        sold = (receipt.answer, receipt.price, receipt.idempotency_key, receipt.tuple, receipt.attribute, receipt.level)
        expected = (bought.answer, bought.price, key, asked.tuple, asked.attribute, asked.level)
        if sold != expected or bought.level != asked.level:
            raise RemoteError(f"{self._url} has sold something else than was asked for, or gave a receipt for another")

    def _check_signed(self, signed: SignedReceipt) -> None:
        """By a key that is known; and, where there is a log, it is in one that all receipts agree about."""
        signatures = import_module("pacas.wire.signatures")  # and so cryptography, which takes a moment to load
        if not signatures.verify(signed, self._keys.of(signed.key_id)):
            raise RemoteError(f"{self._url}: a receipt is not signed with the key that is known; ask the provider")
        if signed.logged is None:
            return
        head = signed.logged.signed_head
        seen = self._heads.get(head.head.size)
        is_signed = head == seen or signatures.verify_head(head, self._keys.of(head.key_id))
        if not signed.is_in_log or not is_signed:
            raise RemoteError(f"{self._url}: a receipt does not prove that its sale is in the log; ask the provider")
        if self._heads.setdefault(head.head.size, head).head.root != head.head.root:
            raise RemoteError(f"{self._url} has shown two logs of {head.head.size:,} entries; ask the provider")

    def _is_answer(self, value: str, level: int, offer: Offer) -> bool:
        """Can a value be what is sold at a level? Where no values are published, any but the root's can, below it."""
        hierarchy = offer.hierarchy
        if value == ABSENT and offer.may_be_absent:
            return True
        if level < hierarchy.height and not hierarchy.ground_labels:
            return bool(value) and value != hierarchy.root_label
        if (offer.attribute, level) not in self._labels:
            self._labels[offer.attribute, level] = frozenset(hierarchy.at_level(level)) or {hierarchy.root_label}
        return value in hierarchy and hierarchy.label(hierarchy.code(value)) in self._labels[offer.attribute, level]


def _when(receipt: Receipt) -> str:
    """When something was sold, as its receipt says."""
    return "" if receipt.time is None else f" ({datetime.fromtimestamp(receipt.time, UTC):%Y-%m-%d %H:%M:%S} UTC)"
