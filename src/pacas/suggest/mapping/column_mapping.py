"""Which column of a client's is which of a provider's: by names, values and shapes, each at most once.

All are assigned together, so that the sum of their scores is largest; a pair below the floor is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.mapping.column_names import name_similarity
from pacas.suggest.mapping.sketch import ColumnSketch, shape_overlap, value_overlap

NAME, VALUES, SHAPE = 0.35, 0.5, 0.15
"""What each kind of evidence counts."""
FLOOR, FLOOR_BY_NAME = 0.25, 0.6
"""The least score of a pair; where names are all that is known, the least likeness of them."""
WRITTEN_ALIKE = 0.5
"""The share of what two columns have in common that has to be spelled alike, or their formats differ."""

Scores = NDArray[Any]


@dataclass(frozen=True, slots=True)
class MappedColumn:
    """A client's column, the provider's that it is, and why."""

    client: str
    provider: str
    score: float
    name: float
    values: float | None = None
    """None where the provider's values are not known here."""
    shape: float | None = None
    is_written_alike: bool = True
    """Whether equal values are equal texts, as a match by equality needs."""

    @property
    def why(self) -> str:
        """In a few words.

        >>> MappedColumn("zip", "ZIP", 0.9, 1.0, 0.85, 0.9).why
        'names 100 %, values 85 %'
        """
        named = f"names {self.name:.0%}".replace("%", " %")
        if self.values is None:
            return named
        return f"{named}, values {self.values:.0%}".replace("%", " %").replace("  ", " ")


def map_columns(
    client: Mapping[str, ProfiledColumn], provider: Mapping[str, ProfiledColumn], floor: float = FLOOR
) -> list[MappedColumn]:
    """By all that is known of both sides' columns, in the order of the client's."""
    ours, theirs = ([ColumnSketch.of(column) for column in side.values()] for side in (client, provider))
    names = _scores(client, provider, name_similarity)
    values = np.array([[value_overlap(a.normal, b.normal) for b in theirs] for a in ours]).reshape(names.shape)
    shapes = np.array([[shape_overlap(a, b) for b in theirs] for a in ours]).reshape(names.shape)
    scores = NAME * names + VALUES * values + SHAPE * shapes

    def alike(i: int, j: int) -> bool:
        return value_overlap(ours[i].written, theirs[j].written) >= WRITTEN_ALIKE * float(values[i, j])

    return [
        MappedColumn(ours[i].name, theirs[j].name, scores[i, j], names[i, j], values[i, j], shapes[i, j], alike(i, j))
        for i, j in _assigned(scores, floor)
    ]


def map_names(client: Sequence[str], provider: Sequence[str], floor: float = FLOOR_BY_NAME) -> list[MappedColumn]:
    """By names alone, where the provider is at the other end of a wire."""
    scores = _scores(client, provider, name_similarity)
    return [
        MappedColumn(client[i], provider[j], float(scores[i, j]), float(scores[i, j]))
        for i, j in _assigned(scores, floor)
    ]


def _scores(ours: Iterable[str], theirs: Iterable[str], how: Callable[[str, str], float]) -> Scores:
    right = list(theirs)
    left = list(ours)
    return np.array([[how(a, b) for b in right] for a in left], dtype=float).reshape(len(left), len(right))


def _assigned(scores: Scores, floor: float) -> list[tuple[int, int]]:
    """The pairs of the best assignment that reach the floor."""
    if not (scores >= floor).any():
        return []
    from scipy.optimize import linear_sum_assignment  # here: slow to import, rarely needed

    rows, columns = linear_sum_assignment(np.where(scores >= floor, scores, 0.0), maximize=True)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if scores[i, j] >= floor]
