"""Codes with their last characters masked: P0T2T0, P0T2T*, P0T2**, …

As in ARX's redaction, codes are aligned on the left, padded with blanks to one length, and masked from the right. A
level keeps the first n characters of every code, so codes of uneven length still form levels of uniform depth. Padding
with the mask itself, which ARX also offers, would give "AB" and "ABC" the label "AB*" on different levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.errors import HierarchyError

MOST_LEVELS = 16
"""Beyond this many characters, the caller has to say which levels it wants."""


def prefix(values: Sequence[str], *, keep: Sequence[int] | None = None, mask: str = "*") -> Hierarchy:
    """One level per number of leading characters kept, then the root; unless given, one level per character.

    >>> list(prefix(["P0T2T0", "P01"], keep=[3, 1]).rows())
    [('P01', 'P01***', 'P*****', '*'), ('P0T2T0', 'P0T***', 'P*****', '*')]
    """
    longest = max(map(len, values), default=0)
    kept = _every_length(longest) if keep is None else keep
    _check_keep(kept, longest)
    _check_mask(values, mask)
    rows = [(v, *(f"{v[:n]:<{n}}{mask * (longest - n)}" for n in kept), ROOT) for v in sorted(set(values))]
    return Hierarchy.from_rows(rows)


def _every_length(longest: int) -> Sequence[int]:
    if longest > MOST_LEVELS:
        raise HierarchyError(
            f"values of up to {longest} characters would make {longest} levels; say which to have, e.g. keep = [3, 1]"
        )
    return range(longest - 1, 0, -1)


def _check_keep(keep: Sequence[int], longest: int) -> None:
    if any(n < 1 for n in keep) or any(fewer >= more for more, fewer in pairwise(keep)):
        raise HierarchyError("keep must name numbers of characters, 1 or more, decreasing, e.g. keep = [3, 1]")
    if any(n >= longest for n in keep):
        raise HierarchyError(f"keep = {max(keep)} masks nothing: the longest value has {longest} characters")


def _check_mask(values: Sequence[str], mask: str) -> None:
    if len(mask) != 1:
        raise HierarchyError("mask must be one character")
    masked = sum(mask in v or v == ROOT for v in values)
    if masked:
        raise HierarchyError(f"{masked:,} of {len(values):,} values contain the mask {mask!r}; choose another mask")
