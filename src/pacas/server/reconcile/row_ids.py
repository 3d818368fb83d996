"""What a candidate is called: its tuple, sealed, so that nobody but the provider reads it or makes one up.

The same tuple has the same id in every process that has the provider's key. It names what a client has sent, found or
not, and says nothing about the relation.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from pacas.server.signing_key import SigningKey

PURPOSE = b"pacas reconcile row ids"
Tuple = Mapping[str, str]


class RowIds:
    """Ids of tuples, encrypted with AES-SIV: equal for equal tuples, and none is believed that was not made here."""

    def __init__(self, signing: SigningKey) -> None:
        self._cipher = AESSIV(signing.derived(PURPOSE, 64))

    def of(self, row: Tuple) -> str:
        """The id of a tuple."""
        text = json.dumps(sorted(row.items()), ensure_ascii=False, separators=(",", ":"))
        return urlsafe_b64encode(self._cipher.encrypt(text.encode(), None)).decode("ascii")

    def row(self, id_: str) -> dict[str, str] | None:
        """The tuple of an id; None if it is not one of ours."""
        try:
            text = self._cipher.decrypt(urlsafe_b64decode(id_.encode("ascii")), None)
        except (InvalidTag, ValueError):  # not ASCII, not base64, too short, of another key
            return None
        return dict(json.loads(text))
