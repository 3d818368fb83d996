"""What members of a circle of providers tell a clearing house: of a person it cannot name, which levels were sold.

A line is an attribute, a level, and who has sold it; no value is in it. A key is an HMAC of whom it is about, under a
secret that the members share and the house does not have.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple, Protocol

from pacas.core.hierarchy import canonical_number
from pacas.errors import InputError

SHORTEST = 32
"""Bytes of the members' secret."""


class CircleLine(NamedTuple):
    """One sale, or one that was about to be made."""

    attribute: str
    level: int
    member: str


class CircleLines(NamedTuple):
    """All lines of a key, and how often there was a new one."""

    version: int = 0
    lines: tuple[CircleLine, ...] = ()


class House(Protocol):
    """A clearing house. It raises a HouseError where it cannot be asked: then nothing is sold."""

    def read(self, key: str) -> CircleLines:
        """The lines of a key."""
        ...

    def reserve(self, key: str, if_version: int, line: CircleLine) -> bool:
        """Add a line, durably, if the key's version is still this one; a line that is there is not added again."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def circle_key(secret: bytes, person: Mapping[str, str]) -> str:
    """Whom a line is about: the members' columns and what they hold, numbers in their one spelling.

    >>> key = circle_key(b"s" * 32, {"AGE": "51.0", "GEN": "male"})
    >>> key == circle_key(b"s" * 32, {"GEN": "male", "AGE": "51"}), len(key)
    (True, 64)
    """
    spelled = {column: canonical_number(value) for column, value in sorted(person.items())}
    text = "pacas circle person\n" + json.dumps(spelled, ensure_ascii=False, separators=(",", ":"))
    return hmac.new(secret, text.encode("utf-8", "surrogatepass"), sha256).hexdigest()


def circle_digest(secret: bytes, member: str) -> str:
    """What a ledger remembers of the circle that all its sales were made in."""
    return hmac.new(secret, f"pacas circle member\n{member}".encode(), sha256).hexdigest()


def check_secret(secret: bytes) -> None:
    """An InputError unless nobody can guess it."""
    if len(secret) < SHORTEST:
        raise InputError(f"the members' secret must have at least {SHORTEST} bytes, drawn at random")
