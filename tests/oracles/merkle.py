"""RFC 6962, section 2.1, word by word: tree hashes, audit paths and consistency proofs over lists of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def largest_power_of_two_below(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def mth(leaves: Sequence[bytes]) -> bytes:
    n = len(leaves)
    if n == 0:
        return sha256(b"").digest()
    if n == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = largest_power_of_two_below(n)
    return sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    n = len(leaves)
    if n == 1:
        return []
    k = largest_power_of_two_below(n)
    if m < k:
        return [*path(m, leaves[:k]), mth(leaves[k:])]
    return [*path(m - k, leaves[k:]), mth(leaves[:k])]


def proof(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    return subproof(m, leaves, True)


def subproof(m: int, leaves: Sequence[bytes], is_whole: bool) -> list[bytes]:
    n = len(leaves)
    if m == n:
        return [] if is_whole else [mth(leaves)]
    k = largest_power_of_two_below(n)
    if m <= k:
        return [*subproof(m, leaves[:k], is_whole), mth(leaves[k:])]
    return [*subproof(m - k, leaves[k:], False), mth(leaves[:k])]
