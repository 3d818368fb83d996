"""How much a client may ask: bytes in a body, requests in a call, tuples in a minute."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from math import ceil
from threading import Lock
from time import monotonic

from starlette.requests import ClientDisconnect

from pacas.server.failures import Failure
from pacas.server.http_call import Call
from pacas.wire.error_code import ErrorCode

MINUTE = 60.0
_TUPLE = re.compile(rb'"tuple"\s*:\s*\{')


class QuoteLimit:
    """A token bucket per account: it holds a minute's worth, and fills up as time goes by.

    Every tuple that is asked about counts, refused or not: a refusal tells something, too. So does a purchase, which
    counts as well: with a ceiling of 0 it would be a question for free. One that was made before does not count again.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._rate, self._clock = float(per_minute), per_minute / MINUTE, clock
        self._left: dict[str, tuple[float, float]] = {}
        """By account: how many are left, and when that was so."""
        self._lock = Lock()

    def take(self, account: str, tuples: int) -> None:
        """Count tuples, or say when to come again; then nothing is counted."""
        with self._lock:
            now = self._clock()
            left, then = self._left.get(account, (self._most, now))
            left = min(self._most, left + (now - then) * self._rate)
            if tuples <= left:
                self._left[account] = left - tuples, now
                return
        seconds = max(1, ceil((tuples - left) / self._rate))
        message = f"this account may ask about {self._most:,.0f} tuples a minute; try again in {seconds} s"
        raise Failure(ErrorCode.RATE_LIMITED, message, {"Retry-After": str(seconds)})


async def read_body(call: Call, media_type: bytes, most: int) -> bytes:
    """The whole body, counted as it comes: a Content-Length may be missing, or lie."""
    given = call.header(b"content-type")
    if given != media_type and given.partition(b";")[0].strip().lower() != media_type:
        raise Failure(ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"the Content-Type must be {media_type.decode()}")
    claimed = call.header(b"content-length")
    if claimed.isdigit() and int(claimed[:20]) > most:
        raise _too_large(most)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await call.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return b"".join([*parts, part]) if parts else part
        parts.append(part)


def check_requests(body: bytes, most: int) -> None:
    """Refuse a body of too many requests before it is taken apart, which costs far more than to count them.

    A quote inside of a text is escaped, so what is counted are keys; only a request's tuple is an object.
    """
    if body.count(b'"tuple"') > most and next(islice(_TUPLE.finditer(body), most, None), None) is not None:
        raise Failure.too_many(most)


def check_batch(count: int, most: int) -> None:
    if count > most:
        raise Failure(ErrorCode.TOO_LARGE, f"{count:,} requests in one call, where {most:,} are allowed; send fewer")


def _too_large(most: int) -> Failure:
    return Failure(ErrorCode.TOO_LARGE, f"the body is larger than {most:,} bytes; send fewer requests at once")
