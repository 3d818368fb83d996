"""Slips of the pen: how likely one text is written where another was meant."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints

RARE = 5
"""A text may be a slip for one that stands here so many times as often."""


def written_for(column: WeighedColumn, shown: Ints, meant: Ints) -> Floats:
    """How likely `shown` is written where `meant` was: as any value of the column, or as a slip, if it is rare."""
    rows = max(len(column.codes), 1)
    chance = np.maximum(column.frequency[shown] / rows, 0.5 / rows)
    rare = np.flatnonzero(column.frequency[shown] * RARE <= column.frequency[meant])
    if not len(rare):
        return chance
    pairs, at = np.unique(shown[rare] * len(column) + meant[rare], return_inverse=True)
    slips = _slips(column.labels((pairs // len(column)).tolist()), column.labels((pairs % len(column)).tolist()))
    chance[rare] = np.maximum(chance[rare], slips[at])
    return chance


def _slips(shown: list[str], meant: list[str]) -> Floats:
    from rapidfuzz.distance import DamerauLevenshtein  # here: slow to import, rarely needed
    from rapidfuzz.process import cpdist

    edits = cpdist(shown, meant, scorer=DamerauLevenshtein.distance, score_cutoff=CUTOFF, dtype=np.int32)
    return slip_chances(edits, np.array([len(text) for text in meant]))


def slip_chances(edits: NDArray[Any], length: Ints) -> Floats:
    """How likely a slip in a text of some length is just one that takes so many edits; 0 where it is no slip."""
    near = (edits <= np.maximum(2, length // 8)) & (edits <= CUTOFF) & (length > 4)
    return np.where(edits == 0, 0.0, np.where((edits == 1) & (length > 2), 0.05, np.where(near, 0.01, 0.0)))


def is_another_number(column: WeighedColumn, shown: Ints, meant: Ints) -> Mask:
    """Do texts differ in their numbers alone? A number means something by itself, and is no slip for another."""
    pairs = zip(column.labels(shown.tolist()), column.labels(meant.tolist()), strict=True)
    return np.array([_DIGITS.sub("0", one) == _DIGITS.sub("0", other) for one, other in pairs], dtype=np.bool_)


_DIGITS = re.compile(r"\d+")

CUTOFF = 3
"""More edits than these are no slip."""
