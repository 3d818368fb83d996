"""A clearing house over the wire: members of a circle read and add lines under keys that mean nothing here."""

from __future__ import annotations

import re

from pydantic import TypeAdapter

from pacas.protocol.circle import CircleLine, House
from pacas.provider.ledger.accounts import Account
from pacas.server.http.failures import Failure
from pacas.server.limits import QuoteLimit
from pacas.wire.shapes.circle import CircleAnswer, CircleBody
from pacas.wire.shapes.failures import ErrorCode

_KEY = re.compile("[0-9a-f]{64}")
_read = TypeAdapter(CircleBody).validator.validate_json
LINES = 100
"""Lines of a key that count like a tuple that is asked about."""


class CircleDesk:
    """Answers members. It waits for the store.

    A call counts like a tuple that is asked about, and so do so many lines: a member that asks about all whom it can
    name is bounded like a buyer who does.
    """

    def __init__(self, house: House | None, limit: QuoteLimit) -> None:
        self._house, self._limit = house, limit

    def read(self, key: str, account: Account) -> bytes:
        house = self._checked(key)
        self._limit.take(account, 1)
        return self._lines(house, key, account)

    def reserve(self, key: str, body: bytes, account: Account) -> bytes:
        """Add a line in the name of the account that brings it: nobody adds one for others, or takes one away."""
        house, asked = self._checked(key), _read(body)
        self._limit.take(account, 1)
        if not house.reserve(key, asked.if_version, CircleLine(asked.attribute, asked.level, account.name)):
            raise Failure(ErrorCode.CONFLICT, "the key has another version by now; read it again, and judge again")
        return self._lines(house, key, account)

    def _lines(self, house: House, key: str, account: Account) -> bytes:
        found = house.read(key)
        self._limit.take(account, min(len(found.lines) // LINES, self._limit.of(account)))
        return CircleAnswer.of(found).model_dump_json().encode()

    def _checked(self, key: str) -> House:
        if self._house is None:
            raise Failure(ErrorCode.NOT_FOUND, "this service keeps no clearing house")
        if not _KEY.fullmatch(key):
            raise Failure(ErrorCode.UNPROCESSABLE, "a key is the 64 hex digits of an HMAC with SHA-256")
        return self._house
