"""What it costs to write one text over another: the normalised Damerau-Levenshtein distance.

After Bohannon, Fan, Flaster and Rastogi, "A Cost-Based Model and Effective Heuristic for Repairing Constraints by
Value Modification" (SIGMOD 2005): the number of edits over the longer length. Costs are whole millionths, so that sums
are exact in any order and ties are ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacas.core.histogram import Ints

UNIT = 1_000_000
"""The cost of writing over a text that has nothing in common with the new one; also of any text over a null."""

MOST_IN_A_TABLE = 1024
"""Up to so many values, the costs of all pairs are kept."""


class EditCosts:
    """The costs between the values of one column, given by code: each its place in `values`."""

    def __init__(self, values: Sequence[str | None]) -> None:
        self._texts = ["" if value is None else value for value in values]
        self._lengths = np.fromiter(map(len, self._texts), dtype=np.int64)

    def between(self, one: Ints, other: Ints) -> Ints:
        """Per pair of codes, in millionths."""
        if len(self._texts) <= MOST_IN_A_TABLE:
            return self._table[one, other]
        pairs, place = np.unique(
            np.minimum(one, other) * len(self._texts) + np.maximum(one, other), return_inverse=True
        )
        return self._of_pairs(*np.divmod(pairs, len(self._texts)))[place]

    def of_writing(self, codes: Ints, weights: Ints) -> Ints:
        """Per code: what it costs to write it over cells of the other codes, each of its weight."""
        if len(self._texts) <= MOST_IN_A_TABLE:
            return self._table[np.ix_(codes, codes)] @ weights
        return np.array([self.between(np.full_like(codes, code), codes) @ weights for code in codes])

    @cached_property
    def _table(self) -> Ints:
        from rapidfuzz.distance import DamerauLevenshtein  # here: slow to import, rarely needed
        from rapidfuzz.process import cdist

        edits = cdist(self._texts, self._texts, scorer=DamerauLevenshtein.distance, dtype=np.int32)
        return _normalised(edits, np.maximum.outer(self._lengths, self._lengths))

    def _of_pairs(self, one: Ints, other: Ints) -> Ints:
        from rapidfuzz.distance import DamerauLevenshtein
        from rapidfuzz.process import cpdist

        texts = np.array(self._texts, dtype=object)
        edits = cpdist(texts[one].tolist(), texts[other].tolist(), scorer=DamerauLevenshtein.distance, dtype=np.int32)
        return _normalised(edits, np.maximum(self._lengths[one], self._lengths[other]))


def _normalised(edits: NDArray[np.int32], lengths: Ints) -> Ints:
    return np.rint(edits.astype(np.int64) * UNIT / np.maximum(lengths, 1)).astype(np.int64)
