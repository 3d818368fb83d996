"""Codes by their first characters, cut where letters change to digits or signs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.hierarchies.built_tree import DraftHierarchy, built

_CODE = re.compile(r"[^\s*]{1,32}")
"""What is cut; whatever else stands in the column is `other`."""
LEAST_MERGED = 2.5
"""Codes of the level below that a prefix brings together, at least, on the average."""
CLOSE = 8
"""A cut where characters change is taken instead of one that leaves this many times as many prefixes, or fewer."""
SIGN = "sign"


def prefixes_of(column: ProfiledColumn) -> DraftHierarchy | None:
    codes = [value for value in column.values if _CODE.fullmatch(value)]
    keep = cuts(codes)
    if not keep:
        return None
    said = ", ".join(map(str, keep))
    how = f"the first {said} characters"

    def read(value: str) -> str | None:
        return value if _CODE.fullmatch(value) else None

    return built(column, read, how, "prefix", keep=keep)


def cuts(codes: Sequence[str]) -> list[int]:
    """The numbers of characters to keep, from fine to coarse.

    >>> cuts([f"{letter}{number}.{last}" for letter in "ABC" for number in range(10, 22) for last in "0123"])
    [3, 1]
    """
    if not codes:
        return []
    length = Counter(map(len, codes)).most_common(1)[0][0]
    usual = [_usual_class(codes, at) for at in range(length)]
    bounds = {at for at in range(1, length) if usual[at] != usual[at - 1]}
    prefixes = {n: len({code[:n] for code in codes}) for n in range(1, length)}
    keep: list[int] = []
    last = len(codes)

    def merges(n: int) -> bool:
        return prefixes[n] >= 2 and last / prefixes[n] >= LEAST_MERGED

    for n in range(length - 1, 0, -1):
        close = (m for m in bounds if m < n and merges(m) and prefixes[m] * CLOSE >= prefixes[n])
        if merges(n) and (n in bounds or not any(close)):
            last = prefixes[n]
            keep.append(n - (usual[n - 1] == SIGN and n > 1))
    return keep


def _usual_class(codes: Sequence[str], at: int) -> str:
    """What most codes have at a place: a letter, a digit, or a sign."""
    return Counter(_class_of(code[at]) for code in codes if len(code) > at).most_common(1)[0][0]


def _class_of(character: str) -> str:
    return "digit" if character.isdigit() else "letter" if character.isalpha() else SIGN
