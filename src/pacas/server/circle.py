"""A clearing house over the wire: members of a circle read and add lines under keys that mean nothing here."""

from __future__ import annotations

import re

from pydantic import TypeAdapter

from pacas.protocol.circle import CircleLine, House
from pacas.provider.ledger.accounts import Account
from pacas.server.failures import Failure
from pacas.wire.shapes import CircleAnswer, CircleBody, ErrorCode

_KEY = re.compile("[0-9a-f]{64}")
_read = TypeAdapter(CircleBody).validator.validate_json


class CircleDesk:
    """Answers members. It waits for the store."""

    def __init__(self, house: House | None) -> None:
        self._house = house

    def read(self, key: str) -> bytes:
        return CircleAnswer.of(self._checked(key).read(key)).model_dump_json().encode()

    def reserve(self, key: str, body: bytes, account: Account) -> bytes:
        """Add a line in the name of the account that brings it: nobody adds one for others, or takes one away."""
        house, asked = self._checked(key), _read(body)
        if not house.reserve(key, asked.if_version, CircleLine(asked.attribute, asked.level, account.name)):
            raise Failure(ErrorCode.CONFLICT, "the key has another version by now; read it again, and judge again")
        return self.read(key)

    def _checked(self, key: str) -> House:
        if self._house is None:
            raise Failure(ErrorCode.NOT_FOUND, "this service keeps no clearing house")
        if not _KEY.fullmatch(key):
            raise Failure(ErrorCode.UNPROCESSABLE, "a key is the 64 hex digits of an HMAC with SHA-256")
        return self._house
