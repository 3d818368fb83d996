"""How many characters, or pairs of neighbouring characters, a text shares with each of many texts.

A text is a multiset (a bag) of units: with `gram` 1 its characters, with 2 the 2-grams of the text between `#` and `$`.
The second occurrence of a unit is another element than the first, which turns multisets into sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pacas.engine.grouping import Array, spread


class Bags(Protocol):
    """The bags of some texts."""

    def common(self, text: str, window: slice) -> Array:
        """For each text in the window: |its bag ∩ this text's bag|, or an upper bound of it."""
        ...


class ExactBags:
    """An inverted index of texts by what is in them: counts exactly."""

    def __init__(self, texts: Sequence[str], gram: int) -> None:
        self._gram, self._texts = gram, len(texts)
        owner, unit, occurrence = _numbered(*_units(texts, gram))
        self._most = int(occurrence.max(initial=0)) + 1
        self._units, number = np.unique(unit, return_inverse=True)
        element = number * self._most + occurrence
        order = np.argsort(element, kind="stable")
        self._owners = owner[order].astype(np.int32)
        self._elements, starts = np.unique(element[order], return_index=True)
        self._starts = np.append(starts, len(order))

    def common(self, text: str, window: slice) -> Array:
        at = self._find(text)
        owners = self._owners[spread(self._starts[at], self._starts[at + 1] - self._starts[at])]
        return np.bincount(owners, minlength=self._texts)[window]

    def _find(self, text: str) -> Array:
        """Where the elements stand that some text shares with this one."""
        units, times = np.unique(_units([text], self._gram)[1], return_counts=True)
        number, known = _lookup(self._units, units)
        times = np.minimum(times[known], self._most)
        elements = np.repeat(number * self._most, times) + spread(np.zeros_like(times), times)
        return _lookup(self._elements, elements)[0]


class Signatures:
    """Bags as sets of 256 bits, one or more elements to a bit: quick, and never below what is common.

    Each bit that is set for one text and not for the other stands for an element that the other does not have.
    """

    def __init__(self, texts: Sequence[str], gram: int) -> None:
        self._gram = gram
        self._sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + gram - 1
        self._words = _signatures(texts, gram)

    def common(self, text: str, window: slice) -> Array:
        mine_only = np.zeros(len(self._sizes[window]), dtype=np.int64)
        theirs_only = np.zeros_like(mine_only)
        for mine, theirs in zip(_signatures([text], self._gram)[:, 0], self._words[:, window], strict=True):
            mine_only += np.bitwise_count(mine & ~theirs)
            theirs_only += np.bitwise_count(theirs & ~mine)
        return np.asarray(np.minimum(len(text) + self._gram - 1 - mine_only, self._sizes[window] - theirs_only))


WORDS = 4


def _signatures(texts: Sequence[str], gram: int) -> Array:
    """The texts' bits, in words of 64: one line per word, one column per text."""
    owner, unit, occurrence = _numbered(*_units(texts, gram))
    scattered = (unit.astype(np.uint64) + (occurrence.astype(np.uint64) << 53)) * SCATTER
    place = (scattered >> 56).astype(np.int64)  # 0 to 255
    words = np.zeros((WORDS, len(texts)), dtype=np.uint64)
    np.bitwise_or.at(words, (place >> 6, owner), np.left_shift(np.uint64(1), (place & 63).astype(np.uint64)))
    return words


SCATTER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, as an odd number: multiplying by it spreads neighbours apart."""


def code_points(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _units(texts: Sequence[str], gram: int) -> tuple[Array, Array]:
    """The texts' units, text after text, with the number of the text that each is in."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    if gram == 1:
        return np.repeat(np.arange(len(texts)), lengths), code_points("".join(texts)).astype(np.int64)
    points = code_points("".join(f"#{text}$" for text in texts)).astype(np.int64)
    pairs = (points[:-1] << 32) | points[1:]
    across = np.cumsum(lengths + 2)[:-1] - 1  # the pairs of one text's end and the next one's beginning
    return np.repeat(np.arange(len(texts)), lengths + 1), np.delete(pairs, across)


def _numbered(owner: Array, unit: Array) -> tuple[Array, Array, Array]:
    """Owners and units in order, and the how-manieth of its kind in its text each unit is, from 0."""
    order = np.lexsort((unit, owner))
    owner, unit = owner[order], unit[order]
    index = np.arange(len(order))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (owner[1:] != owner[:-1]) | (unit[1:] != unit[:-1])
    return owner, unit, index - np.maximum.accumulate(np.where(first, index, 0))


def _lookup(known: Array, wanted: Array) -> tuple[Array, Array]:
    """Where those of the wanted that are known stand, and which of the wanted are known."""
    at = np.searchsorted(known, wanted)
    is_known = known.take(at, mode="clip") == wanted if len(known) else np.zeros(len(wanted), dtype=np.bool_)
    return at[is_known], is_known
