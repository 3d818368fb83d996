"""Lots: 64 bits for each row, from a public salt and the row's values; who draws them in SQL draws the same.

The values are spelled so that none can be taken for a part of another; what is hashed is a text, as SQL has no bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

Lots = NDArray[np.uint64]
DIGITS = 16
"""Of the hash, written in hexadecimal: 64 bits."""


def lots(salt: str, lines: Iterable[Iterable[str]]) -> Lots:
    """The lot of each line of spelled values.

    >>> lots("salt", [[spelled("F"), spelled(None)]]).tolist()
    [7778455626922893682]
    """
    drawn = [sha256(f"{salt} {''.join(line)}".encode()).digest()[: DIGITS // 2] for line in lines]
    return np.frombuffer(b"".join(drawn), dtype=">u8").astype(np.uint64)


def spelled(value: str | None) -> str:
    """A value as it is hashed.

    >>> spelled("F"), spelled(None)
    ('1:F', '-')
    """
    return "-" if value is None else f"{len(value)}:{value}"


def lot_sql(salt: str, columns: Sequence[str]) -> str:
    """The lot of a row, from columns that SQL knows by these names: its digits, whose order is that of the numbers."""
    values = " || ".join(f"coalesce(length({column}) || ':' || {column}, '-')" for column in columns)
    return f"substr(sha256('{salt} ' || {values}), 1, {DIGITS})"
