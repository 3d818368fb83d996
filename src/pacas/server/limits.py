"""What a client may ask: how many requests in a call and tuples in a minute, and with which columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import ceil
from threading import Lock
from time import monotonic

from pacas.errors import InputError
from pacas.protocol.messages import Offer
from pacas.provider.ledger.accounts import Account
from pacas.server.http.failures import Failure
from pacas.wire.shapes.failures import ErrorCode

MEBIBYTE = 1 << 20
MINUTE = 60.0
BYTES = 1024
"""Of a body, so many count like a tuple: a tuple has fewer as a rule."""
SHOWN = 50
"""Characters of a column's name that a client gets back."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The limits of a service, the same for each account but for a rate of its own."""

    quotes_per_minute: int = 600_000
    """Tuples that an account may ask about, refusals included; so many may come at once after a quiet minute."""
    max_body_bytes: int = 16 * MEBIBYTE
    max_batch: int = 100_000
    """Requests in one call."""
    reasons: bool | None = None
    """Whether a refusal says why; if nothing is said, where quotes are sealed: their reasons are public."""
    publish_prices: bool = True
    """Whether clients get price lists, where there are any: they need not ask, and no limit holds."""
    reconcile: bool | str = False
    """Whether the reconciliation API is served; a text is the address at which clients find the service."""

    @property
    def batch(self) -> int:
        """Requests in one call; never more than an account may ask in a minute, or the call could not be answered."""
        return min(self.max_batch, self.quotes_per_minute)


class QuoteLimit:
    """A token bucket per account: it holds a minute's worth, and fills up as time goes by.

    Every tuple that is asked about counts, refused or not: a refusal tells something, too. So does a purchase, which
    counts as well: with a ceiling of 0 it would be a question for free. One that was made before does not count again.
    What else takes work counts by it: a body, when it is there, by its bytes, and then only the tuples beyond that.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = monotonic) -> None:
        self._per_minute, self._clock = per_minute, clock
        self._left: dict[str, tuple[float, float]] = {}
        """By account: how many are left, and when that was so."""
        self._lock = Lock()

    def take_body(self, account: Account, size: int) -> None:
        """Count a body before it is taken apart, however few tuples are in it."""
        self.take(account, self._of_body(account, size))

    def _of_body(self, account: Account, size: int) -> int:
        return min(size // BYTES, self.of(account))

    def take(self, account: Account, tuples: int, size: int = 0) -> None:
        """Count tuples, or say when to come again; then nothing is counted. `size` is that of a body counted before."""
        most = self.of(account)
        if tuples > most:  # that many never come together
            raise Failure.too_many(most)
        tuples = max(0, tuples - self._of_body(account, size))
        with self._lock:
            now = self._clock()
            left, then = self._left.get(account.name, (float(most), now))
            left = min(most, left + (now - then) * most / MINUTE)
            if tuples <= left:
                self._left[account.name] = left - tuples, now
                return
        seconds = max(1, ceil((tuples - left) * MINUTE / most))
        message = f"this account may ask about {most:,} tuples a minute; try again in {seconds} s"
        raise Failure(ErrorCode.RATE_LIMITED, message, {"Retry-After": str(seconds)})

    def of(self, account: Account) -> int:
        """How many tuples an account may ask about in a minute."""
        return self._per_minute if account.quotes_per_minute is None else account.quotes_per_minute


class NeededColumns:
    """What each match needs. More would be nobody's business, and be kept in the ledger for ever."""

    def __init__(self, catalogue: Mapping[str, Offer]) -> None:
        self._offers = catalogue
        self._needed = {attribute: frozenset(offer.columns) for attribute, offer in catalogue.items()}

    def are(self, attribute: str, given: AbstractSet[str]) -> bool:
        """Whether a tuple has just the columns that the match for an attribute needs."""
        return given == self._needed.get(attribute)

    def check(self, attribute: str, given: AbstractSet[str]) -> None:
        """Refuse a column that is not needed; what is missing, or not for sale, is the provider's to say."""
        needed = self._needed.get(attribute)
        if needed is None or given <= needed:
            return
        other = next(column for column in given if column not in needed)
        raise InputError(
            f"column {other[:SHOWN]!r} is not one that the match of {attribute} needs; it needs "
            f"{', '.join(self._offers[attribute].columns)}"
        )


def check_batch(count: int, most: int) -> None:
    if count > most:
        raise Failure(ErrorCode.TOO_LARGE, f"{count:,} requests in one call, where {most:,} are allowed; send fewer")
