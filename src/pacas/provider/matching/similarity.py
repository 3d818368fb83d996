"""`edit`, `jaro_winkler`, `qgram`: similarity of texts at least θ, without scoring all of the provider's texts.

Two bounds that follow from θ leave few texts to be scored. One is on lengths. The other is on how many characters or
2-grams the two texts share (see `bags`), for all texts at once. Both are necessary conditions, with room for rounding;
the score itself decides.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np
from cachetools import LRUCache, cached

from pacas.core.hierarchy import Mask
from pacas.engine.grouping import Array
from pacas.provider.matching.bags import Bags, ExactBags, Signatures, code_points
from pacas.provider.matching.clause import ClauseIndex

Scorer = Callable[..., float]

SLACK = 1e-6
"""How much a bound is loosened: more than rounding can amount to, less than one character."""

REMEMBERED = 4_000_000
"""Codes that a clause remembers of what it found for values seen before."""


def _kept_numbers(array: Array) -> int:
    """What keeping an array costs, the text and the bookkeeping counted as some numbers more."""
    return len(array) + 32


class SimilarityIndex(ClauseIndex):
    """A provider column's texts in order of length, and the clause's measure and threshold θ."""

    gram: int
    """1 if the measure's bound counts common characters, 2 if it counts common 2-grams."""

    def __init__(self, values: Sequence[str | None], threshold: float) -> None:
        self._threshold = threshold
        self._order = np.array(sorted((c for c, v in enumerate(values) if v), key=lambda c: len(values[c] or "")), int)
        self._texts = [values[code] or "" for code in self._order.tolist()]
        self._position = np.full(len(values), -1, dtype=np.int64)
        self._position[self._order] = np.arange(len(self._order))
        self._sizes = np.fromiter(map(self._size, self._texts), dtype=np.int64, count=len(self._texts))
        self._bags = self._bags_of(self._texts)
        self.recent = LRUCache[str, Array](REMEMBERED, getsizeof=_kept_numbers)
        self._found = cached(self.recent, key=str, lock=Lock())(lambda value: self._order[self._search(value)])

    def find(self, value: str) -> Array:
        if self._threshold <= 0:
            return self._order
        return self._found(value)

    def accepts(self, value: str, codes: Array) -> Mask:
        asked, place = np.unique(self._position[codes], return_inverse=True)
        if len(asked) <= self.few and value not in self.recent:
            like: Mask = self._scores(value, asked, None) >= self._threshold
            return like[place]
        accepted = np.zeros(len(self._position), dtype=np.bool_)
        accepted[self.find(value)] = True
        return accepted[codes]

    def _search(self, value: str) -> Array:
        """The positions of the texts that the value is like."""
        start, end = self._window(self._size(value))
        window = slice(start, end)
        common = self._bags.common(value, window)
        left = np.flatnonzero(common >= self._least_common(value, window) - SLACK)
        return left[self._scores(value, left + start, common[left]) >= self._threshold] + start

    def _size(self, text: str) -> int:
        """How many elements the text's bag has."""
        return len(text) + self.gram - 1

    def _window(self, size: int) -> tuple[int, int]:
        """Where the texts stand that are neither too short nor too long."""
        ratio = self._ratio()
        start = np.searchsorted(self._sizes, size * ratio - SLACK)
        end = np.searchsorted(self._sizes, size / ratio + SLACK, "right") if ratio > 0 else len(self._sizes)
        return int(start), int(end)

    @abstractmethod
    def _bags_of(self, texts: Sequence[str]) -> Bags: ...

    @abstractmethod
    def _ratio(self) -> float:
        """The least that the smaller bag's size can be of the larger one's."""

    @abstractmethod
    def _least_common(self, value: str, window: slice) -> Array:
        """For each text in the window: how many elements it shares with the value, at least, if they are alike."""

    @abstractmethod
    def _scores(self, value: str, positions: Array, common: Array | None) -> Array:
        """The similarities between the value and some texts; below the threshold, 0 will do."""


class ScoredIndex(SimilarityIndex):
    """A measure that rapidfuzz computes."""

    few = 2048

    @abstractmethod
    def _scorer(self) -> Scorer:
        """rapidfuzz's function."""

    def _bags_of(self, texts: Sequence[str]) -> Bags:
        return Signatures(texts, self.gram)

    def _scores(self, value: str, positions: Array, common: Array | None) -> Array:
        from rapidfuzz.process import cdist  # here: slow to import, rarely needed

        texts, cutoff = [self._texts[i] for i in positions.tolist()], max(0.0, self._threshold - SLACK)
        scores = cdist([value], texts, scorer=self._scorer(), score_cutoff=cutoff, dtype=np.float64)
        return np.asarray(scores[0])


class EditIndex(ScoredIndex):
    """1 − d / longer length ≥ θ, d being Levenshtein's distance.

    One edit changes at most two of a text's 2-grams, or one of its characters. The first bound is the sharper one for
    high θ, and says nothing from 0.5 down.
    """

    def __init__(self, values: Sequence[str | None], threshold: float) -> None:
        self.gram = 2 if threshold >= MANY_EDITS else 1
        super().__init__(values, threshold)

    def _ratio(self) -> float:
        return self._threshold

    def _least_common(self, value: str, window: slice) -> Array:
        largest = np.maximum(self._sizes[window], self._size(value))
        edits = np.floor((1 - self._threshold) * (largest - self.gram + 1) + SLACK)
        return np.asarray(largest - self.gram * edits)

    def _scorer(self) -> Scorer:
        from rapidfuzz.distance import Levenshtein  # here: slow to import, rarely needed

        return Levenshtein.normalized_similarity


MANY_EDITS = 0.65
"""The θ below which common characters leave fewer texts than common 2-grams do."""


class JaroWinklerIndex(ScoredIndex):
    """Jaro's similarity j, raised to j + l/10·(1 − j) where j > 0.7, is at least θ; l ≤ 4 is the common prefix.

    With m matching characters, 3j ≤ m/|a| + m/|b| + 1, and m is at most the number of common characters.
    """

    gram = 1

    def __init__(self, values: Sequence[str | None], threshold: float) -> None:
        super().__init__(values, threshold)
        self._least_jaro = np.array([_least_jaro(threshold, prefix) for prefix in range(PREFIX + 1)])
        padded = code_points("".join(text[:PREFIX].ljust(PREFIX, "\0") for text in self._texts))
        self._beginnings = np.ascontiguousarray(padded.reshape(-1, PREFIX).T)  # one line per character

    def _ratio(self) -> float:
        return float(3 * self._least_jaro[PREFIX] - 2)

    def _least_common(self, value: str, window: slice) -> Array:
        sizes = self._sizes[window]
        agree, prefix = np.ones(len(sizes), dtype=np.bool_), np.zeros(len(sizes), dtype=np.int64)
        for character, theirs in zip(code_points(value[:PREFIX]), self._beginnings[:, window], strict=False):
            agree &= theirs == character
            prefix += agree
        return np.asarray((3 * self._least_jaro - 1)[prefix] * (sizes * len(value) / (sizes + len(value))))

    def _scorer(self) -> Scorer:
        from rapidfuzz.distance import JaroWinkler  # here: slow to import, rarely needed

        return JaroWinkler.similarity


PREFIX = 4
RAISED = 0.7


def _least_jaro(threshold: float, prefix: int) -> float:
    """The least Jaro similarity that a common prefix of this length raises to the threshold."""
    if threshold <= RAISED:
        return threshold
    return max(RAISED, (threshold - prefix / 10) / (1 - prefix / 10))


class QGramIndex(SimilarityIndex):
    """Dice over multisets of 2-grams, 2·|P ∩ Q| / (|P| + |Q|) ≥ θ: what the index counts is all it takes."""

    gram = 2
    few = 0

    def _bags_of(self, texts: Sequence[str]) -> Bags:
        return ExactBags(texts, self.gram)

    def _ratio(self) -> float:
        return self._threshold / (2 - self._threshold)

    def _least_common(self, value: str, window: slice) -> Array:
        return np.asarray(self._threshold * (self._sizes[window] + self._size(value)) / 2)

    def _scores(self, value: str, positions: Array, common: Array | None) -> Array:
        shared = self._bags.common(value, slice(None))[positions] if common is None else common
        return np.asarray(2 * shared / (self._sizes[positions] + self._size(value)))
