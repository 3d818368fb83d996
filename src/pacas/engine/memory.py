"""How much memory a user gives, such as "2GB"."""

from __future__ import annotations

import re

from pacas.errors import InputError

_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
LEAST = 10_000_000
"""Bytes below which no engine runs."""


def memory_bytes(text: str) -> int:
    """The bytes that a text means.

    >>> memory_bytes("2GB"), memory_bytes("512MiB")
    (2000000000, 536870912)
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise InputError(f"cannot read an amount of memory from {text!r}; give one such as 2GB or 512MB")
    number, power, binary = found.groups()
    amount = int(float(number) * (1024 if binary else 1000) ** _POWERS[power.upper()])
    if amount < LEAST:
        raise InputError(f"{text!r} is too little memory to work in; give some more, such as 2GB or 512MB")
    return amount
