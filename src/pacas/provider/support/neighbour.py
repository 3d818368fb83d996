"""A neighbour as somebody gives it: what it makes of R's rows, by their numbers and values.

Operations come in order, and a later one may undo what an earlier one did. What counts is their net effect; pricing and
files share it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Values = Mapping[str, str | None]
"""Some columns' values; None is the null."""


@dataclass(frozen=True, slots=True, repr=False)
class Neighbour:
    """One neighbour of R: the rows it changes, with their new values or None where the row is deleted, and new rows.

    A changed row keeps what its values do not name. A new row has null there.
    """

    rows: Mapping[int, Values | None] = field(default_factory=dict)
    inserted: Sequence[Values] = ()

    def __repr__(self) -> str:  # no values: they may be the provider's
        return f"Neighbour(rows={len(self.rows)}, inserted={len(self.inserted)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GivenSupport:
    """A support set that is taken as it is: its neighbours, and what each weighs, in nanocredits, if they say so."""

    neighbours: Sequence[Neighbour]
    weights: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.neighbours)
