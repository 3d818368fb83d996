"""Private offers over the wire: what an account asks for, what it is offered, and that it accepts."""

from __future__ import annotations

from time import time

from pydantic import TypeAdapter

from pacas.core.rates.schedule import Schedule, Step
from pacas.core.rates.tab import Tab
from pacas.errors import InputError
from pacas.protocol.messages import Refusal
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.offers import (
    OfferState,
    PrivateOffer,
    PrivateOffers,
    ask,
    claim,
    new_offer_id,
    offer_named,
    withdraw,
)
from pacas.provider.provider import Provider
from pacas.provider.till import DAY
from pacas.server.authentication import Authentication
from pacas.server.http.failures import Failure
from pacas.wire.shapes.accounts import OfferAnswer, OfferBody, OfferDocument, OffersAnswer, TermsDocument
from pacas.wire.shapes.catalogue import RateStep
from pacas.wire.shapes.failures import ErrorCode

STANDS = 30
"""Days that a wish waits for an answer."""
_read = TypeAdapter(OfferBody).validator.validate_json


class Offering:
    """Answers what accounts ask of offers. It waits for the store."""

    def __init__(self, provider: Provider, offers: PrivateOffers, authentication: Authentication) -> None:
        self._provider, self._offers, self._authentication = provider, offers, authentication

    def list(self, account: Account) -> bytes:
        now = time()
        mine = [_document(offer, now) for offer in self._offers.list(account.name)]
        return OffersAnswer(offers=mine).model_dump_json().encode()

    def ask(self, body: bytes, account: Account) -> bytes:
        asked = _read(body)
        schedule, until = Schedule((Step(0, asked.rate),)), int(time()) + STANDS * DAY
        wish = PrivateOffer(new_offer_id(), account.name, schedule, asked.prepaid, asked.days, OfferState.ASKED, until)
        ask(self._offers, wish, time())
        return OfferAnswer(offer=_document(wish, time())).model_dump_json().encode()

    def accept(self, id: str, account: Account) -> bytes:
        """Write an offer's terms into the ledger; durable when this returns."""
        offer, now = self._named(id, account), time()
        try:
            claim(self._offers, offer, now)
        except InputError as error:
            raise Failure(ErrorCode.CONFLICT, str(error)) from None
        try:
            agreed = self._provider.till.agree(
                offer.key,
                offer.schedule,
                offer.prepaid,
                offer.days,
                buyer=account.name,
                credit=lambda: self._authentication.now(account.token_hash).credit,
            )
        except InputError as error:
            self._offers.change(offer.id, OfferState.ACCEPTED, OfferState.MADE)
            raise Failure(ErrorCode.CONFLICT, str(error)) from None
        if isinstance(agreed, Refusal):
            self._offers.change(offer.id, OfferState.ACCEPTED, OfferState.MADE)
            raise Failure(ErrorCode.CONFLICT, "what is prepaid is beyond the account's credit; ask for more of it")
        return self._answer(offer, account)

    def withdraw(self, id: str, account: Account) -> bytes:
        offer = self._named(id, account)
        try:
            withdraw(self._offers, offer)
        except InputError as error:
            raise Failure(ErrorCode.CONFLICT, str(error)) from None
        return self._answer(offer, account)

    def _answer(self, offer: PrivateOffer, account: Account) -> bytes:
        return OfferAnswer(offer=_document(self._named(offer.id, account), time())).model_dump_json().encode()

    def _named(self, id: str, account: Account) -> PrivateOffer:
        try:
            return offer_named(id, self._offers.list(account.name))
        except InputError as error:
            raise Failure(ErrorCode.NOT_FOUND, str(error)) from None


def terms_document(tab: Tab, standing: Schedule) -> TermsDocument | None:
    """The terms that an account buys on, if they are its own."""
    agreed = tab.agreed
    if agreed is None:
        return None
    steps = RateStep.all_of(agreed.schedule)
    return TermsDocument(schedule=steps, prepaid=agreed.prepaid, unused=tab.unused(standing), until=agreed.until)


def _document(offer: PrivateOffer, now: float) -> OfferDocument:
    return OfferDocument(
        id=offer.id,
        state=offer.state.value,
        stands=offer.stands(now),
        schedule=RateStep.all_of(offer.schedule),
        prepaid=offer.prepaid,
        days=offer.days,
        stands_until=offer.stands_until,
    )
