"""How quotes, refusals and purchases read on the wire.

Where quotes are sealed, what is told of a request has one length, whatever is told: JSON's white space makes it up. Who
sees only the sizes of encrypted answers learns what was asked from them, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from pydantic_core import to_json

from pacas.protocol.messages import ABSENT, LARGEST, REASONS, Offer, Quote, Reason, Refusal, Request, refused
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import LoggedEntry, SignedTreeHead, TreeHead
from pacas.provider.ledger.entry import GENESIS, Entry, Purchase
from pacas.server.signing_key import SigningKey
from pacas.server.tree_log import TreeLog
from pacas.wire.shapes.receipts import ReceiptDocument

Prices = NDArray[np.int64]
KEPT = 20_000
"""Signed receipts that are kept."""


@dataclass(frozen=True, slots=True)
class Widest:
    """What takes most room in an answer: the highest price, and of each attribute the longest label."""

    price: int
    labels: Mapping[str, str]

    @classmethod
    def of(cls, price: int, offers: Mapping[str, Offer]) -> Widest:
        return cls(price, {attribute: max(_answers(offer), key=_length_in_json) for attribute, offer in offers.items()})


class QuoteWriter:
    """Quotes and refusals as JSON has them, with the reasons for a refusal or without.

    Without, `ceiling` and `credit` read `refused` as well: they are judged after safety, and so would tell of it.
    """

    def __init__(self, reasons: bool, widest: Widest | None = None) -> None:
        self._reasons = reasons
        words = {reason: reason if reasons else Reason.REFUSED for reason in REASONS}
        plain = {reason: to_json({"refused": word.value}) for reason, word in words.items()}
        length = 0 if widest is None else max(len(b'{"price":%d}' % widest.price), *map(len, plain.values()))
        self._price = b'{"price":%%-%dd}' % max(1, length - len(b'{"price":}'))
        self._refusals = {reason: padded(refusal, length) for reason, refusal in plain.items()}
        self._coded = {refused(reason): self._refusals[reason] for reason in REASONS}

    def quote(self, quote: Quote | Refusal) -> bytes:
        return self._refusals[quote.reason] if isinstance(quote, Refusal) else self._price % quote.price

    def price(self, price: int) -> bytes:
        """A price or refusal as `Ladders` holds it."""
        return self._price % price if price >= 0 else self._coded[price]

    def ladder(self, prices: Iterable[int]) -> bytes:
        """One tuple's prices and refusals at all levels."""
        return b'{"levels":[%b]}' % b",".join(map(self.price, prices))

    def prices(self, prices: Prices) -> Prices:
        """Prices and refusals of many requests, as they are sent in Arrow."""
        return prices if self._reasons else np.where(prices < 0, refused(Reason.REFUSED), prices)


class PurchaseWriter:
    """Ledger entries as a buyer gets them, with a signed receipt; and refusals, as long as they where that is asked."""

    def __init__(self, signing: SigningKey, log: TreeLog, quotes: QuoteWriter, widest: Widest | None = None) -> None:
        self._signing, self._log, self._quotes, self._widest = signing, log, quotes, widest
        self._told = LRUCache[str, bytes](KEPT)
        """What was bought, with its receipt, by the hash of its entry: to tell it again costs a lookup."""
        self._lock = Lock()

    def sold_together(self, entries: Iterable[Entry]) -> None:
        """These are told next, and one head proves them all."""
        self._log.take_in(entries)

    def bought(self, entry: Entry) -> bytes:
        with self._lock:
            told = self._told.get(entry.hash)
        if told is None:
            signed = replace(self._signing.sign(_receipt(entry)), logged=self._log.logged(entry))
            told = _document(entry.purchase, signed)
            with self._lock:
                self._told[entry.hash] = told
        return padded(told, self._length(entry.purchase))

    def free_root(self, request: Request, root: str, buyer: str, key: str) -> bytes:
        """What costs nothing and tells no value: an answer without a receipt, as long as one with it."""
        purchase = Purchase(buyer, key, request, 0, root)
        return padded(_document(purchase, None), self._length(purchase))

    def with_request(self, entry: Entry) -> bytes:
        return b'%b,"request":%b}' % (self.bought(entry)[:-1], to_json(_request(entry.purchase.request)))

    def refused(self, refusal: Refusal, request: Request, buyer: str, key: str) -> bytes:
        return padded(self._quotes.quote(refusal), self._length(Purchase(buyer, key, request, 0, "")))

    def _length(self, asked: Purchase) -> int:
        """How long the answer to a purchase is at most, whatever it tells; 0 where its own length may be seen."""
        if self._widest is None:
            return 0
        label = self._widest.labels[asked.request.attribute]
        named = (asked.buyer, asked.idempotency_key)
        widest = Purchase(*named, asked.request, self._widest.price, label, time=LATEST)
        receipt = _receipt(Entry(LARGEST, GENESIS, GENESIS, widest))
        named = (self._signing.key_id, UNSIGNED)
        logged = LoggedEntry(SignedTreeHead(TreeHead(LARGEST, GENESIS, LATEST), *named), (GENESIS,) * self._log.longest)
        return len(_document(widest, SignedReceipt(receipt, *named, logged)))


LATEST = 9_999_999_999
"""The last second, in the year 2286, that is written with ten digits."""
UNSIGNED = "=" * 88
"""As long as any signature is in base64."""


def padded(document: bytes, length: int) -> bytes:
    """A JSON object made longer with white space."""
    return document[:-1].ljust(length - 1) + document[-1:]


def _document(purchase: Purchase, signed: SignedReceipt | None) -> bytes:
    told = {
        "id": purchase.idempotency_key,
        "price": purchase.price,
        "level": purchase.request.level,
        "answer": purchase.answer,
    }
    return to_json(told if signed is None else told | {"receipt": ReceiptDocument.of(signed)})


def _receipt(entry: Entry) -> Receipt:
    purchase = entry.purchase
    return Receipt(
        account=purchase.buyer,
        attribute=purchase.request.attribute,
        tuple=purchase.request.tuple,
        level=purchase.request.level,
        answer=purchase.answer,
        price=purchase.price,
        idempotency_key=purchase.idempotency_key,
        sequence=entry.sequence,
        hash=entry.hash,
        time=purchase.time,
    )


def _request(request: Request) -> dict[str, Any]:
    return {"tuple": dict(request.tuple), "attribute": request.attribute, "level": request.level}


def _answers(offer: Offer) -> Iterator[str]:
    """All that a purchase can be answered."""
    yield from filter(None, offer.hierarchy.labels)
    if offer.may_be_absent:
        yield ABSENT


def _length_in_json(label: str) -> int:
    return len(to_json(label))
