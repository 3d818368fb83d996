"""Private offers: terms that a provider holds out to one account, and what an account has asked for.

An offer is no entry of the ledger: it may be withdrawn, and after some days it can be accepted no longer. Accepting it
writes its terms into the ledger. It is marked as accepted before that, so that nobody can withdraw it meanwhile; where
a crash comes in between, accepting it again brings it to an end.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock
from typing import Protocol

from pacas.core.rates.schedule import Schedule
from pacas.errors import InputError
from pacas.protocol.messages import LARGEST
from pacas.protocol.names import check_buyer

LONGEST = 3660
"""Days."""
MOST_ASKED = 20
"""What an account may have asked for that nobody has answered yet, or that was taken back before its time was over: who
asks and takes back for ever would fill the ledger's disk."""


class OfferState(StrEnum):
    """What has become of an offer."""

    ASKED = "asked"
    """The account wishes for it; the provider has said nothing yet."""
    ANSWERED = "answered"
    """The account wished for it, and was made an offer since."""
    MADE = "made"
    """The account may accept it."""
    ACCEPTED = "accepted"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class PrivateOffer:
    """Terms for one account. Money in nanocredits, times in seconds since 1970."""

    id: str
    buyer: str
    schedule: Schedule
    prepaid: int
    days: int
    """How long they last, once accepted."""
    state: OfferState
    stands_until: int
    """Until when it can be accepted, or answered."""

    def __post_init__(self) -> None:
        check_buyer(self.buyer)
        if type(self.prepaid) is not int or not 0 <= self.prepaid <= LARGEST:
            raise InputError(f"what is prepaid must be a whole number of nanocredits from 0 to {LARGEST}")
        if type(self.days) is not int or not 1 <= self.days <= LONGEST:
            raise InputError(f"terms last a whole number of days, from 1 to {LONGEST:,}")

    def stands(self, now: float) -> bool:
        """Can it still be accepted?"""
        return self.state is OfferState.MADE and now < self.stands_until

    def is_open(self, now: float) -> bool:
        """Is something still to come of it?"""
        return self.state in (OfferState.ASKED, OfferState.MADE) and now < self.stands_until

    @property
    def key(self) -> str:
        """The key of its terms in the ledger."""
        return f"offer/{self.id}"


def new_offer_id() -> str:
    """A name that no other offer has."""
    return secrets.token_hex(6)


class PrivateOffers(Protocol):
    """Where offers are kept: in the ledger's own database. It may be used from several threads."""

    def add(self, offer: PrivateOffer) -> None:
        """Keep another offer."""

    def list(self, buyer: str | None = None) -> list[PrivateOffer]:
        """All offers, or those to one account, in the order in which they were made."""

    def change(self, id: str, before: OfferState, after: OfferState) -> bool:
        """Let an offer be in another state, if it is in this one: at once, whoever else tries."""

    def close(self) -> None:
        """Let go of the store."""


def offer_named(id: str, offers: Iterable[PrivateOffer]) -> PrivateOffer:
    """The offer of this name; an InputError if there is none."""
    for offer in offers:
        if offer.id == id:
            return offer
    raise InputError("there is no such offer; pacas offer list says which there are")


def ask(offers: PrivateOffers, wished: PrivateOffer, now: float) -> None:
    """Keep what an account wishes for."""
    kept = (OfferState.ASKED, OfferState.WITHDRAWN)
    if sum(one.state in kept and now < one.stands_until for one in offers.list(wished.buyer)) >= MOST_ASKED:
        raise InputError(
            f"{MOST_ASKED} wishes wait for an answer or were taken back; each counts until its time is over"
        )
    offers.add(wished)


def make(offers: PrivateOffers, offer: PrivateOffer) -> None:
    """Hold terms out to an account; what it has asked for before is answered by them."""
    offers.add(offer)
    for one in offers.list(offer.buyer):
        if one.state is OfferState.ASKED:
            offers.change(one.id, OfferState.ASKED, OfferState.ANSWERED)


def withdraw(offers: PrivateOffers, offer: PrivateOffer) -> None:
    """Take an offer or a wish back, whichever of the two parties does."""
    if not any(offers.change(offer.id, state, OfferState.WITHDRAWN) for state in (OfferState.MADE, OfferState.ASKED)):
        raise InputError(f"the offer {offer.id} can no longer be withdrawn: it is {offer.state.value}")


def claim(offers: PrivateOffers, offer: PrivateOffer, now: float) -> None:
    """Mark an offer as accepted, if it still stands or was accepted before."""
    if offer.stands(now) and offers.change(offer.id, OfferState.MADE, OfferState.ACCEPTED):
        return
    state = offer_named(offer.id, offers.list(offer.buyer)).state
    if state is not OfferState.ACCEPTED:
        why = "it has expired" if state is OfferState.MADE else f"it is {state.value}"
        raise InputError(f"the offer {offer.id} cannot be accepted: {why}")


class MemoryOffers:
    """Offers that last as long as their process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._offers: dict[str, PrivateOffer] = {}

    def add(self, offer: PrivateOffer) -> None:
        with self._lock:
            self._offers[offer.id] = offer

    def list(self, buyer: str | None = None) -> list[PrivateOffer]:
        with self._lock:
            return [offer for offer in self._offers.values() if buyer in (None, offer.buyer)]

    def change(self, id: str, before: OfferState, after: OfferState) -> bool:
        with self._lock:
            found = self._offers.get(id)
            if found is None or found.state is not before:
                return False
            self._offers[id] = replace(found, state=after)
            return True

    def close(self) -> None:
        pass
