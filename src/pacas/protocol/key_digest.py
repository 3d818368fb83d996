"""A tuple's values in the columns of a match as one number that tells nobody the values who does not know them.

Provider and client must come to the same number: so it is the values as equality compares them that are hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import canonical_number
from pacas.errors import InputError

Digests = NDArray[np.uint64]
NOTHING = 0
"""In place of a digest: a value is null, and a null is like nothing."""


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A client's column that a match compares for equality: as text, or as numbers."""

    name: str
    is_numeric: bool


class KeyDigest:
    """A salted hash of 64 bits (BLAKE2b) of the values in some columns.

    >>> key = KeyDigest(b"salt", [KeyColumn("NAME", False), KeyColumn("AGE", True)])
    >>> key.of(["ann", "51"]) == key.of(["ann", "51.0"]) != key.of(["ann5", "1"])
    True
    """

    def __init__(self, salt: bytes, columns: Sequence[KeyColumn]) -> None:
        self.salt, self.columns = salt, tuple(columns)
        self._numeric = [column.is_numeric for column in columns]
        self._keyed = hashlib.blake2b(key=salt, digest_size=8)

    def of(self, values: Sequence[str | None]) -> int:
        """The digest of one tuple's values in these columns."""
        digest = self._keyed.copy()
        try:
            for value, numeric in zip(values, self._numeric, strict=True):
                if not value:
                    return NOTHING
                text = canonical_number(value) if numeric else value
                digest.update((str(len(text)) + ":" + text).encode())
        except (TypeError, UnicodeEncodeError):
            raise InputError("a request holds something else than text in valid Unicode, and null") from None
        return int.from_bytes(digest.digest(), "little")

    def of_all(self, tuples: Iterable[Sequence[str | None]]) -> Digests:
        """The digests of many."""
        return np.fromiter(map(self.of, tuples), dtype=np.uint64)
