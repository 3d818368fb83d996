"""Entropy l-diversity (Machanavajjhala et al. 2007): a group's values are as uncertain as l equally likely ones."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacas.core.criteria.criterion import Bools, Criterion, Number, exact
from pacas.core.histogram import GroupHistogram
from pacas.errors import InputError

TOLERANCE = 1e-9
"""Entropies are floats, in nats: one that is so little below log l counts as log l, on every machine."""


@dataclass(frozen=True, slots=True)
class EntropyDiversity(Criterion):
    """A group's entropy is at least log l. Entropy is concave."""

    name: ClassVar[str] = "entropy"
    strictest_of: ClassVar[str] = "l"
    strictest_is: ClassVar[str] = "largest l that holds"

    l: Number  # noqa: E741  # the literature's letter

    def __post_init__(self) -> None:
        if exact(self.l, "l") < 1:
            raise InputError(f"l must be at least 1, not {self.l}")

    def holds(self, histogram: GroupHistogram) -> Bools:
        l = exact(self.l, "l")  # noqa: E741
        return np.asarray(_entropy(histogram) >= log(l.numerator) - log(l.denominator) - TOLERANCE)

    def strictest(self, histogram: GroupHistogram) -> float | None:
        return exp(_entropy(histogram).min()) if histogram.groups else None

    @property
    def fewest_values(self) -> int:
        return ceil(exact(self.l, "l"))


def _entropy(histogram: GroupHistogram) -> NDArray[np.float64]:
    share = histogram.n / histogram.sizes[histogram.group]
    parts = np.bincount(histogram.group, weights=-share * np.log(share), minlength=histogram.groups)
    return parts.astype(np.float64)
