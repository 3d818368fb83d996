"""A Merkle tree over a log that only grows, as RFC 6962 has it: its root, and proofs that speak for themselves.

A leaf is hashed behind a byte 0x00, two nodes behind 0x01, with SHA-256; a tree splits at the largest power of two that
is smaller than its size. An inclusion proof shows that an entry is in the tree with a given root, a consistency proof
that a tree has grown out of an earlier one and that nothing in it was altered. Both are some 2 · log₂ n hashes at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import count

BYTES = 32
EMPTY_ROOT = sha256(b"").digest()
"""The root of a tree without leaves."""


def leaf_hash(content: bytes) -> bytes:
    return sha256(b"\0" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


class MerkleTree:
    """The hashes of all whole subtrees, 64 bytes for each leaf; to add one takes two hashes on average."""

    def __init__(self) -> None:
        self.size = 0
        self._levels: list[bytearray] = [bytearray()]
        """Per height h: of every 2ʰ leaves in turn, the hash of their subtree."""

    def extend(self, contents: Iterable[bytes]) -> None:
        """Add leaves; many at a time take less each."""
        found, first = [leaf_hash(content) for content in contents], self.size
        self.size += len(found)
        for height in count():
            if not found:
                return
            if height == len(self._levels):
                self._levels.append(bytearray())
            level = self._levels[height]
            level += b"".join(found)
            first, whole = first >> 1, len(level) // (2 * BYTES)
            found = [
                sha256(b"\1" + level[place : place + 2 * BYTES]).digest()
                for place in range(first * 2 * BYTES, whole * 2 * BYTES, 2 * BYTES)
            ]

    def root(self, size: int | None = None) -> bytes:
        """The root of the first `size` leaves, or of all."""
        return self._root(0, self.size if size is None else self._checked(size))

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """PATH(index, D[0:size]): that a leaf is among the first `size`."""
        start, end, path = 0, self._checked(size), []
        if not 0 <= index < size:
            raise ValueError("a leaf that is not there")
        while end - start > 1:
            split = start + _split(end - start)
            if index < split:
                path.append(self._root(split, end))
                end = split
            else:
                path.append(self._root(start, split))
                start = split
        return path[::-1]

    def consistency(self, before: int, size: int) -> list[bytes]:
        """PROOF(before, D[0:size]): that the first `size` leaves begin with the first `before`."""
        start, end, path = 0, self._checked(size), []
        if not 0 < before <= size:
            raise ValueError("a size that is not smaller")
        while before < end:
            split = start + _split(end - start)
            if before <= split:
                path.append(self._root(split, end))
                end = split
            else:
                path.append(self._root(start, split))
                start = split
        return [*([self._root(start, end)] if start else ()), *path[::-1]]

    def _checked(self, size: int) -> int:
        if not 0 <= size <= self.size:
            raise ValueError("a size that the tree does not have")
        return size

    def _root(self, start: int, end: int) -> bytes:
        """MTH(D[start:end]), where `start` is a multiple of a power of two that is no smaller than the rest."""
        found, count = None, end - start
        for height in range(count.bit_length()):
            if count >> height & 1:
                whole = self._whole(height, (start + (count >> (height + 1) << (height + 1))) >> height)
                found = whole if found is None else node_hash(whole, found)
        return EMPTY_ROOT if found is None else found

    def _whole(self, height: int, index: int) -> bytes:
        return bytes(self._levels[height][index * BYTES : (index + 1) * BYTES])


def includes(root: bytes, size: int, index: int, content: bytes, path: Sequence[bytes]) -> bool:
    """Whether a path proves that a leaf is at `index` in the tree of that size with that root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf_hash(content)
    for one in path:
        if not last:
            return False
        if place & 1 or place == last:
            found = node_hash(one, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, one)
        place, last = place >> 1, last >> 1
    return not last and found == root


def is_consistent(before: tuple[int, bytes], now: tuple[int, bytes], path: Sequence[bytes]) -> bool:
    """Whether a path proves that a tree (size, root) has grown out of an earlier one (RFC 9162, 2.1.4.2)."""
    (first, old), (second, new) = before, now
    if first == second or not first:
        return not path and first <= second and (old == new if first == second else old == EMPTY_ROOT)
    if first > second:
        return False
    given = list(path) if first & (first - 1) else [old, *path]
    if not given:
        return False
    place, last = first - 1, second - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    earlier = later = given[0]
    for one in given[1:]:
        if not last:
            return False
        if place & 1 or place == last:
            earlier, later = node_hash(one, earlier), node_hash(one, later)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            later = node_hash(later, one)
        place, last = place >> 1, last >> 1
    return not last and earlier == old and later == new


def _split(count: int) -> int:
    """The largest power of two that is smaller."""
    return 1 << ((count - 1).bit_length() - 1)
