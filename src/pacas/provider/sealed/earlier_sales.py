"""What was sold from earlier ledgers: that their levels mean what they mean now, and that none of them is missing."""

from __future__ import annotations

from collections.abc import Sequence

from pacas.errors import InputError
from pacas.protocol.messages import Request
from pacas.provider.quoter.declared import EarlierSales
from pacas.provider.shop.fingerprint import terms_digests, text_digest
from pacas.provider.terms import Terms

Bought = Sequence[tuple[str, Request]]
PART = "sold before"
"""What the fingerprint of a ledger calls it."""


def earlier_requests(earlier: Sequence[EarlierSales], terms: Terms) -> list[tuple[str, Request]]:
    """Who has bought what from earlier ledgers, the oldest first; an error where that could not be counted."""
    now = terms_digests(terms)
    found: list[tuple[str, Request]] = []
    for number, (bought, fingerprint) in enumerate(earlier, start=1):
        if fingerprint.get(PART) != sold_before_digest(found).get(PART):
            raise InputError(
                f"sold_before: ledger {number} was opened with the sales of others before it; name them all, "
                "the oldest first"
            )
        if bought and fingerprint.get("circle") != now.get("circle"):
            raise InputError(
                f"sold_before: ledger {number} has sold in another circle, or in none: others do not know of it; "
                "leave out the house, or the ledger"
            )
        for attribute in dict.fromkeys(request.attribute for _, request in bought):
            if attribute not in terms.match:
                raise InputError(f"sold_before: {attribute!r} was sold and is not for sale now; sell it, to count it")
            part = f"hierarchy of {attribute}"
            if fingerprint.get(part) != now.get(part):
                raise InputError(
                    f"sold_before: {attribute!r} was sold by another hierarchy, with other levels; give it that one"
                )
        found += bought
    return found


def sold_before_digest(bought: Bought) -> dict[str, str]:
    """What the ledger keeps of it; nothing where nothing was sold."""
    told = [[buyer, one.attribute, one.level, sorted(one.tuple.items())] for buyer, one in bought]
    return {PART: text_digest(told)} if told else {}
