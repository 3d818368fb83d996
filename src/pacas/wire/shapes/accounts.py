"""An account: what it has bought, and terms of its own."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from pacas.wire.shapes.base import Amount, ClientShape, ServerShape
from pacas.wire.shapes.catalogue import RateStep
from pacas.wire.shapes.purchases import PastPurchase

LEAST_RATE = 100
"""The least that is asked for, in hundredths of a per cent."""
LEAST_PREPAID = 1_000_000
"""The least that is prepaid where anything is, in nanocredits: credits that are taken for them are fewer."""


class OfferBody(ClientShape):
    """Terms that an account wishes for."""

    rate: int = Field(
        ge=LEAST_RATE, le=10_000, description="In hundredths of a per cent: 8000 is 80 % of the list. At least 1 %."
    )
    prepaid: Amount = Field(default=0, description="In nanocredits: 40000000000 is 40 credits. At least 1000000, or 0.")
    days: int = Field(ge=1, le=3660, description="How long they are to last.")

    @field_validator("rate", mode="before")
    @classmethod
    def _in_its_unit(cls, rate: object) -> object:
        """80 and 0.8 are 80 % in another unit, and not what anybody wishes for in this one."""
        if isinstance(rate, float) or (isinstance(rate, int) and rate < LEAST_RATE):
            raise PydanticCustomError(
                "unit", "it is in hundredths of a per cent, and at least 1 %; 8000 asks for 80 % of the list"
            )
        return rate

    @field_validator("prepaid", mode="before")
    @classmethod
    def _in_nanocredits(cls, prepaid: object) -> object:
        """40 and 0.5 are credits, and nothing worth prepaying in nanocredits."""
        if isinstance(prepaid, float) or (isinstance(prepaid, int) and 0 < prepaid < LEAST_PREPAID):
            raise PydanticCustomError(
                "unit", "it is in nanocredits, and at least 0.001 credits, or 0; 40000000000 is 40 credits"
            )
        return prepaid


class OfferDocument(ServerShape):
    """A private offer, or what the account has asked for."""

    id: str
    state: Literal["asked", "answered", "made", "accepted", "withdrawn"]
    stands: bool = Field(description="Whether it can be accepted.")
    schedule: list[RateStep]
    prepaid: Amount = Field(description="The least that is paid for purchases while the terms last, in nanocredits.")
    days: int = Field(description="How long the terms last, once accepted.")
    stands_until: int = Field(description="Until when it can be accepted: seconds since 1970, UTC.")


class OfferAnswer(ServerShape):
    """One offer, as it is now."""

    offer: OfferDocument


class OffersAnswer(ServerShape):
    """The offers of an account, in the order in which they were made."""

    offers: list[OfferDocument]


class TermsDocument(ServerShape):
    """Terms that an account has accepted, as long as they last."""

    schedule: list[RateStep]
    prepaid: Amount
    unused: Amount = Field(description="What is prepaid and not used, in nanocredits.")
    until: int | None = Field(description="When they end: seconds since 1970, UTC.")


class AccountAnswer(ServerShape):
    """The caller's account, and a page of its purchases in the order in which they were made."""

    account: str
    role: Literal["client", "operator"]
    credit: Amount | None = Field(description="The most that may be spent, in nanocredits; null: no limit.")
    spent: Amount
    remaining: Amount | None
    listed: Amount = Field(default=0, description="List credits: what all its purchases cost by the list.")
    schedule: list[RateStep] = Field(default=[], description="What list prices cost this account, as in the catalogue.")
    terms: TermsDocument | None = Field(default=None, description="Its own terms, where it has accepted an offer.")
    purchases: list[PastPurchase]
    next: str | None = Field(description="`after` for the next page; null on the last.")


class AccountLine(ServerShape):
    """An account, as an operator sees it."""

    account: str
    role: Literal["client", "operator", "reconcile", "member"]
    credit: Amount | None
    spent: Amount
    purchases: int
    listed: Amount = Field(default=0, description="List credits: what all its purchases cost by the list.")
    terms: TermsDocument | None = Field(default=None, description="Its own terms, where it has accepted an offer.")
    revoked: bool
    quotes_per_minute: int | None = Field(default=None, description="A rate of its own; null: that of the service.")
