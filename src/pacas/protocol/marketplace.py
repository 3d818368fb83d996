"""The seam between the parties: all that a client can ask of a provider, wherever that provider runs.

Paper: §4.2. `quote` is AskPrice and `pay` is Pay. A client that knows nothing but this cannot tell a provider in its
own process from one at the other end of a wire; `tests/contracts/test_marketplace.py` states what each of them must do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias, cast, runtime_checkable

from pacas.errors import InputError, did_you_mean
from pacas.protocol.messages import (
    MAX_MATCHES,
    Answer,
    Ladders,
    Offer,
    Payment,
    Quote,
    QuotedLadder,
    Reason,
    Refusal,
    Request,
    refused,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from pacas.core.dependency import FunctionalDependency

Columns: TypeAlias = "Mapping[str, Sequence[str | None] | pa.Array | pa.ChunkedArray]"
"""Client tuples by column: tuple i is the i-th value of each."""


class Marketplace(Protocol):
    """A provider as one buyer sees it."""

    def catalogue(self) -> Mapping[str, Offer]:
        """What is for sale, by attribute."""
        ...

    def quote(self, request: Request) -> Quote | Refusal:
        """What a request costs now, or that it is refused. A quote changes nothing."""
        ...

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        """What each of many tuples costs at each level, in one call."""
        ...

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        """Buy at the price of this moment, if it is at most `ceiling` nanocredits.

        The purchase is recorded before the answer is given. The same request with the same idempotency key gets the
        same answer again and is charged once; a KeyReusedError says that the key was another request's.
        """
        ...


class SellingMany(Marketplace, Protocol):
    """A marketplace that sells several values in one durable step."""

    @property
    def most_at_once(self) -> int:
        """How many it sells so; 1: one by one."""
        ...

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        """Pay in order, and stop at the first surprise: what was not planned for is answered, and nothing after it.

        A surprise is a refusal, a price below the ceiling, or, before a purchase is made, a quote that is another one
        than that it was planned by. All that is sold is recorded in one step. Keys are as with `pay`.
        """
        ...


def most_at_once(marketplace: Marketplace) -> int:
    """How many values a marketplace sells in one step."""
    most: int = getattr(marketplace, "most_at_once", 1)
    return most


def why_away(marketplace: Marketplace) -> str | None:
    """Why nobody was there when a marketplace was last called; None where somebody may be."""
    away: str | None = getattr(marketplace, "away", None)
    return away


def pay_in_order(marketplace: Marketplace, payments: Sequence[Payment]) -> list[Answer | Refusal]:
    """What `pay_many` does, one by one."""
    told: list[Answer | Refusal] = []
    for payment in payments:
        if not all(is_as_quoted(_ladder(marketplace, quoted), quoted.prices) for quoted in payment.quoted):
            break
        told.append(answer := marketplace.pay(payment.request, payment.ceiling, payment.key))
        if isinstance(answer, Refusal) or answer.price != payment.ceiling:
            break
    return told


def is_as_quoted(ladder: Sequence[int], quoted: Sequence[int]) -> bool:
    """Whether a tuple is quoted what it was; a refusal without a reason may have any."""
    if ladder == quoted:
        return True
    pairs = zip(ladder, quoted, strict=False)
    return len(ladder) == len(quoted) and all(now == then or (now < 0 and then == _REFUSED) for now, then in pairs)


_REFUSED = refused(Reason.REFUSED)


def _ladder(marketplace: Marketplace, quoted: QuotedLadder) -> list[int]:
    tuples = {column: [value] for column, value in quoted.tuple.items()}
    ladder: list[int] = marketplace.quote_batch(quoted.attribute, tuples).prices[0].tolist()
    return ladder


@runtime_checkable
class Publishing(Protocol):
    """A marketplace whose provider may say which dependencies hold in its own table."""

    def dependencies(self) -> Sequence[FunctionalDependency]:
        """Those that it publishes."""
        ...


def published_by(marketplace: object) -> Sequence[FunctionalDependency]:
    """The dependencies that a provider publishes; most publish none."""
    return marketplace.dependencies() if isinstance(marketplace, Publishing) else ()


def with_cause(refusal: Refusal, request: Request, marketplace: Marketplace) -> Refusal:
    """The refusal of a request, with why its rows are ambiguous: the root's quote tells, which is free."""
    if refusal.reason is not Reason.AMBIGUOUS:
        return refusal
    offer = offer_of(request.attribute, marketplace.catalogue())
    if offer.may_be_absent:
        return refusal
    at_root = marketplace.quote(Request(request.tuple, request.attribute, offer.hierarchy.height))
    return Refusal(refusal.reason, MAX_MATCHES if at_root == refusal else None)


def check_request(request: Request, offers: Mapping[str, Offer]) -> Offer:
    """The attribute is for sale, and has such a level: what is offered of it."""
    offer = offer_of(request.attribute, offers)
    if not 0 <= request.level <= offer.hierarchy.height:
        offer.hierarchy.check_level(request.level, f"the hierarchy of {request.attribute!r}")
    return offer


def offer_of(attribute: str, offers: Mapping[str, Offer]) -> Offer:
    """What is offered of an attribute."""
    try:
        return offers[attribute]
    except KeyError:
        raise InputError(f"{attribute!r} is not for sale; {did_you_mean(attribute, offers)}") from None


def lacks_column(column: str, given: Iterable[str]) -> InputError:
    """A tuple cannot be looked up by what it has."""
    return InputError(
        f"the match needs column {column!r}, which the client's tuple does not have; {did_you_mean(column, given)}"
    )


class Forwarding:
    """A marketplace that passes everything on to the one behind it; a subclass says what it does otherwise."""

    def __init__(self, marketplace: Marketplace) -> None:
        self._marketplace = marketplace

    def catalogue(self) -> Mapping[str, Offer]:
        return self._marketplace.catalogue()

    def dependencies(self) -> Sequence[FunctionalDependency]:
        return published_by(self._marketplace)

    def quote(self, request: Request) -> Quote | Refusal:
        return self._marketplace.quote(request)

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return self._marketplace.quote_batch(attribute, tuples)

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        return self._marketplace.pay(request, ceiling, key)

    @property
    def most_at_once(self) -> int:
        return most_at_once(self._marketplace)

    @property
    def away(self) -> str | None:
        return why_away(self._marketplace)

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        return cast(SellingMany, self._marketplace).pay_many(payments)


class NobodySells:
    """The marketplace of a client without a provider."""

    def catalogue(self) -> Mapping[str, Offer]:
        return {}

    def quote(self, request: Request) -> NoReturn:
        raise self._not_sold(request.attribute)

    def quote_batch(self, attribute: str, tuples: Columns) -> NoReturn:
        raise self._not_sold(attribute)

    def pay(self, request: Request, ceiling: int, key: str) -> NoReturn:
        raise self._not_sold(request.attribute)

    @staticmethod
    def _not_sold(attribute: str) -> InputError:
        return InputError(f"{attribute!r} is not for sale: there is no provider")
