"""How quotes, refusals and purchases read on the wire."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.protocol.messages import REASONS, Quote, Reason, Refusal, Request, refused
from pacas.protocol.receipt import Receipt
from pacas.provider.ledger.entry import Entry
from pacas.server.signing_key import SigningKey
from pacas.wire.shapes import ReceiptDocument

Prices = NDArray[np.int64]


class QuoteWriter:
    """Quotes and refusals as JSON has them, with the reasons for a refusal or without.

    Without, `ceiling` and `credit` read `refused` as well: they are judged after safety, and so would tell of it.
    """

    def __init__(self, reasons: bool) -> None:
        self._reasons = reasons
        words = {reason: reason.value if reasons else Reason.REFUSED.value for reason in REASONS}
        self._refusals = {reason: {"refused": word} for reason, word in words.items()}
        self._coded = {refused(reason): self._refusals[reason] for reason in REASONS}

    def quote(self, quote: Quote | Refusal) -> dict[str, Any]:
        return self._refusals[quote.reason] if isinstance(quote, Refusal) else {"price": quote.price}

    def refusal(self, refusal: Refusal) -> dict[str, Any]:
        return self._refusals[refusal.reason]

    def price(self, price: int) -> dict[str, Any]:
        """A price or refusal as `Ladders` holds it."""
        return {"price": price} if price >= 0 else self._coded[price]

    def prices(self, prices: Prices) -> Prices:
        """Prices and refusals of many requests, as they are sent in Arrow."""
        return prices if self._reasons else np.where(prices < 0, refused(Reason.REFUSED), prices)


class PurchaseWriter:
    """Ledger entries as a buyer gets them: with a signed receipt."""

    def __init__(self, signing: SigningKey) -> None:
        self._signing = signing

    def bought(self, entry: Entry) -> dict[str, Any]:
        purchase = entry.purchase
        signed = self._signing.sign(_receipt(entry))
        return {
            "id": purchase.idempotency_key,
            "price": purchase.price,
            "level": purchase.request.level,
            "answer": purchase.answer,
            "receipt": ReceiptDocument.of(signed),
        }

    def with_request(self, entry: Entry) -> dict[str, Any]:
        return self.bought(entry) | {"request": _request(entry.purchase.request)}


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
    )


def _request(request: Request) -> dict[str, Any]:
    return {"tuple": dict(request.tuple), "attribute": request.attribute, "level": request.level}
