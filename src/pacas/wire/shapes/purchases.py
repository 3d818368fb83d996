"""What is bought: one purchase, several, or a run of them in one step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from pydantic import Discriminator, FailFast, Field, Tag, TypeAdapter
from pydantic import create_model as model_of

from pacas.protocol.messages import LARGEST, MOST_QUOTED, REASONS, Payment, QuotedLadder, Request
from pacas.wire.shapes.base import Amount, ClientShape, Level, Name, ServerShape, Tuple
from pacas.wire.shapes.quotes import Refused
from pacas.wire.shapes.receipts import ReceiptDocument

LARGEST_RUN = 4 * 1024 * 1024
"""Bytes of a run of purchases: it is read as a whole, and others wait meanwhile."""
MOST_LEVELS = 1000
"""Levels of a hierarchy that quotes are told of."""


class PurchaseRequest(ClientShape):
    """A value to be bought, at a level."""

    tuple: Tuple
    attribute: Name
    level: Level

    def request(self) -> Request:
        return Request(self.tuple, self.attribute, self.level)


class PurchaseBody(ClientShape):
    """One purchase, and the most that it may cost."""

    request: PurchaseRequest
    ceiling: Amount


class PurchasesBody(ClientShape):
    """Several purchases, paid in order. The key of each is that of the call, a slash, and its place from 0."""

    purchases: Annotated[list[PurchaseBody], FailFast()]


class QuotedTuple(ClientShape):
    """What a tuple was quoted, by which a purchase was planned."""

    tuple: Tuple
    attribute: Name
    prices: list[Annotated[int, Field(ge=-len(REASONS), le=LARGEST)]] = Field(
        description="At each level, from ground to root; a refusal is below 0, as in Arrow.", max_length=MOST_LEVELS
    )


class RunPurchase(PurchaseBody):
    """One of several purchases that are made as long as all comes as it was planned."""

    key: str = Field(description="Its idempotency key.")
    quoted: Annotated[list[QuotedTuple], FailFast()] = Field(
        default=[],
        max_length=MOST_QUOTED,
        description="Quotes by which it was planned: if one is another by then, it is not made.",
    )

    def payment(self) -> Payment:
        quoted = (QuotedLadder(one.attribute, one.tuple, tuple(one.prices)) for one in self.quoted)
        return Payment(self.request.request(), self.ceiling, self.key, tuple(quoted))


class RunBody(ClientShape):
    """Several purchases, paid in order and in one step, up to the first that does not cost its ceiling."""

    run: Annotated[list[RunPurchase], FailFast(), Field(min_length=1)]


@cache
def run_reader(most: int) -> Callable[[bytes], RunBody]:
    """Reads a RunBody, and no further than to the first purchase that is one too many."""
    run = Annotated[list[RunPurchase], FailFast(), Field(min_length=1, max_length=most)]
    body = model_of("RunBody", __base__=RunBody, run=(run, ...))
    return TypeAdapter(body).validator.validate_json


def _one_or_many(given: Any) -> str:
    many = "purchases" in given if isinstance(given, dict) else isinstance(given, PurchasesBody)
    return "many" if many else "one"


@cache
def purchases_reader(most: int) -> Callable[[bytes], PurchaseBody | PurchasesBody]:
    """Reads a PurchaseBody or a PurchasesBody, and no further than to the first purchase that is one too many."""
    purchases = Annotated[list[PurchaseBody], FailFast(), Field(max_length=most)]
    many: Any = model_of("PurchasesBody", __base__=PurchasesBody, purchases=(purchases, ...))
    either: Any = Annotated[PurchaseBody, Tag("one")] | Annotated[many, Tag("many")]
    return TypeAdapter(Annotated[either, Discriminator(_one_or_many)]).validator.validate_json


class Bought(ServerShape):
    """A purchase: what was bought, for how much, and the provider's word for it."""

    id: str = Field(description="Its idempotency key: GET /v1/purchases/{id} tells of it again.")
    price: Amount
    level: Level
    answer: str
    receipt: ReceiptDocument | None = Field(
        None, description="None of a root that costs nothing: it would prove who is in the table, and is not recorded."
    )


class PurchaseAnswer(ServerShape):
    """The answer to one purchase."""

    purchase: Bought | Refused


class PurchasesAnswer(ServerShape):
    """The answers to several, in order."""

    purchases: list[Bought | Refused]


class RunAnswer(ServerShape):
    """The answers to the first of a run's purchases; the others were not made."""

    purchases: list[Bought | Refused]


class PastPurchase(Bought):
    """A purchase, with the request that it was for."""

    request: PurchaseRequest
