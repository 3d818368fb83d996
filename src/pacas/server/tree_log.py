"""The ledger as a log that others can check: its Merkle tree, the heads that the provider signs, and proofs.

The tree follows from the ledger's entries and is kept in memory, 64 bytes an entry. A head counts only what is durable.
Until the first sale a ledger may begin anew: the log is empty then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock

from pacas.protocol.merkle_tree import MerkleTree
from pacas.protocol.tree_head import LoggedEntry, SignedTreeHead, TreeHead
from pacas.provider.ledger.chain import EMPTY, Head
from pacas.provider.ledger.entry import Entry
from pacas.provider.ledger.ledger import Ledger
from pacas.server.http.failures import Failure
from pacas.server.signing_key import SigningKey
from pacas.storage.database import utc_seconds
from pacas.wire.shapes.failures import ErrorCode

FRESH = 60
"""Seconds for which a head that was signed is given again, if the log has not grown."""

STEP, SOON = 8, 64


class TreeLog:
    """The log of one ledger. It may be used from several threads."""

    def __init__(self, ledger: Ledger, signing: SigningKey, clock: Callable[[], int] = utc_seconds) -> None:
        self._ledger, self._signing, self._clock = ledger, signing, clock
        self._lock = Lock()
        self._tree, self._last = MerkleTree(), EMPTY
        self._signed: SignedTreeHead | None = None

    @property
    def longest(self) -> int:
        """More hashes than an inclusion proof has, or soon will have: answers are padded to it, and so it grows by
        `STEP`, seldom, with the number of all sales, which receipts tell."""
        return ((self._tree.size + SOON).bit_length() // STEP + 1) * STEP

    def head(self) -> SignedTreeHead:
        """The log as it is now, signed."""
        with self._lock:
            self._catch_up()
            return self._head()

    def take_in(self, entries: Iterable[Entry]) -> None:
        """Durable entries that were sold together: one head has them all, and is signed once."""
        with self._lock:
            for entry in entries:
                self._take_in(entry)

    def _take_in(self, entry: Entry) -> None:
        if (entry.sequence, entry.previous) == self._last:
            self._extend([entry.hash])
        elif entry.sequence >= self._last.entries:
            self._catch_up()

    def logged(self, entry: Entry) -> LoggedEntry:
        """A head that has a durable entry, and the proof that it has it."""
        with self._lock:
            self._take_in(entry)
            signed = self._head()
            path = self._tree.inclusion(entry.sequence, signed.head.size)
        return LoggedEntry(signed, tuple(map(bytes.hex, path)))

    def proofs(self, size: int, heads: Sequence[int], entries: Sequence[int]) -> tuple[list[list[str]], ...]:
        """Consistency proofs of earlier heads, and inclusion proofs of entries, in the log as it was at a size."""
        with self._lock:
            if size > self._last.entries:
                self._catch_up()
            if size > self._last.entries or max(heads, default=1) > size or max(entries, default=1) >= size:
                known = f"the log has {self._last.entries:,} entries, and not all that is asked about"
                raise Failure(ErrorCode.UNPROCESSABLE, known)
            consistency = [self._tree.consistency(before, size) for before in heads]
            inclusion = [self._tree.inclusion(sequence, size) for sequence in entries]
        return [list(map(bytes.hex, path)) for path in consistency], [list(map(bytes.hex, path)) for path in inclusion]

    def _head(self) -> SignedTreeHead:
        size, now = self._tree.size if self._tree.size > 1 else 0, self._clock()
        kept = self._signed
        if kept is None or kept.head.size != size or not 0 <= now - kept.head.time < FRESH:
            kept = self._signed = self._signing.sign_head(TreeHead(size, self._tree.root(size).hex(), now))
        return kept

    def _catch_up(self) -> None:
        """Take in what is in the ledger; an opening alone may be another by the time something is sold."""
        if self._last.entries == 1:
            self._tree, self._last = MerkleTree(), EMPTY
        for some in self._ledger.hashes_after(self._last):
            self._extend(some)

    def _extend(self, hashes: Sequence[str]) -> None:
        self._tree.extend(map(bytes.fromhex, hashes))
        self._last = Head(self._tree.size, hashes[-1])
