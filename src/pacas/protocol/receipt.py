"""What a provider vouches for after a sale: who bought what, at which level, for how much, and where it is recorded.

A receipt ties the sale to the ledger's chain of hashes, so that a provider cannot take a sale back without breaking its
ledger, and a buyer cannot claim one that was never made. Plain values; how one is signed is the service's matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pacas.protocol.tree_head import LoggedEntry


@dataclass(frozen=True, slots=True)
class Receipt:
    """One sale: `price` is in nanocredits, `sequence` and `hash` are those of its entry in the provider's ledger."""

    account: str
    attribute: str
    tuple: Mapping[str, str | None] = field(repr=False)
    level: int
    answer: str = field(repr=False)
    price: int
    idempotency_key: str = field(repr=False)
    sequence: int
    hash: str
    time: int | None = None
    """When it was sold, in seconds since 1970, UTC; None in a receipt of version 1."""

    @property
    def version(self) -> int:
        return 1 if self.time is None else 2

    def members(self) -> dict[str, Any]:
        """All that it says, by name."""
        members = {name: getattr(self, name) for name in _MEMBERS} | {"tuple": dict(self.tuple)}
        return members if self.time is None else members | {"time": self.time}


_MEMBERS = tuple(member.name for member in fields(Receipt) if member.name != "time")


@dataclass(frozen=True, slots=True)
class SignedReceipt:
    """A receipt with a signature over all of it (Ed25519, in base64) and the name of the key that made it."""

    receipt: Receipt
    key_id: str
    signature: str = field(repr=False)
    logged: LoggedEntry | None = field(default=None, compare=False, repr=False)
    """That its entry is in the provider's log, which has a signature of its own; None in one of an earlier release.
    Told again, the same receipt has the proof of a later head."""

    @property
    def is_in_log(self) -> bool:
        """Whether the proof that it brings is one of its own entry, for the head that it brings."""
        if self.logged is None:
            return False
        return self.logged.signed_head.head.has(self.receipt.sequence, self.receipt.hash, self.logged.path)
