"""A ledger as a log whose growth others can check: its heads, and the proof that an entry is in it.

The ledger's entries, the opening among them, are the leaves of a Merkle tree (RFC 6962): the content of a leaf is the
entry's hash, 32 bytes. Entries are salted, so that nobody finds out by guessing what another has bought. Who has kept a
signed head can have it proved that a later one has grown out of it. Plain values; how a head is signed is the service's
matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pacas.protocol.merkle_tree import includes, is_consistent


class TreeHead(NamedTuple):
    """So many entries, and the root over them in hex, as of a time in seconds since 1970, UTC."""

    size: int
    root: str
    time: int

    def members(self) -> dict[str, Any]:
        """All that it says, by name."""
        return self._asdict()

    def has_grown_out_of(self, before: TreeHead, path: Sequence[str]) -> bool:
        """Whether a consistency proof shows that nothing of an earlier head was forgotten or altered."""
        try:
            old, new = bytes.fromhex(before.root), bytes.fromhex(self.root)
            return is_consistent((before.size, old), (self.size, new), list(map(bytes.fromhex, path)))
        except ValueError:
            return False

    def has(self, sequence: int, entry_hash: str, path: Sequence[str]) -> bool:
        """Whether an inclusion proof shows that an entry is in the log under this number."""
        try:
            content, root = bytes.fromhex(entry_hash), bytes.fromhex(self.root)
            return includes(root, self.size, sequence, content, list(map(bytes.fromhex, path)))
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class SignedTreeHead:
    """A head with a signature over all of it (Ed25519, in base64) and the name of the key that made it."""

    head: TreeHead
    key_id: str
    signature: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """That an entry is in the log: a signed head, and the inclusion proof, hashes in hex from the leaf to the root."""

    signed_head: SignedTreeHead
    path: tuple[str, ...] = field(repr=False)
