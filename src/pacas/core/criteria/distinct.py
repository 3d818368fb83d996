"""At least k values: (X,Y,L)-anonymity (Def. 4) which, where all counts, is distinct l-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacas.core.criteria.criterion import Bools, Criterion, whole
from pacas.core.histogram import GroupHistogram, Ints


@dataclass(frozen=True, slots=True)
class DistinctValues(Criterion):
    """A group has at least k values. A mixture has all the values of its parts."""

    name: ClassVar[str] = "distinct"
    strictest_of: ClassVar[str] = "k"
    strictest_is: ClassVar[str] = "largest k that holds"
    spans_components: ClassVar[bool] = True

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole(self.k, "k"))

    def holds(self, histogram: GroupHistogram) -> Bools:
        return np.asarray(linked_values(histogram) >= self.k)

    def strictest(self, histogram: GroupHistogram) -> int | None:
        return self.left(histogram) if histogram.groups else None

    @property
    def fewest_values(self) -> int:
        return self.k

    @property
    def enough(self) -> int:
        return self.k

    def left(self, histogram: GroupHistogram) -> int:
        """The values of the group that has fewest; over independent attributes their numbers multiply."""
        return int(linked_values(histogram).min())

    def linked_to(self, y: str) -> str:
        return f"linked to at least {self.k} of {y}"

    def __str__(self) -> str:
        return f"k = {self.k}"


def linked_values(histogram: GroupHistogram) -> Ints:
    """|Gᵗ(R)| per group: its distinct Y-values."""
    return np.bincount(histogram.group, minlength=histogram.groups).astype(np.int64)
