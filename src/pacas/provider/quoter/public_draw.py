"""A lot for each unit, drawn in public: it follows from a salt and the values that the unit has in the index.

So it is the same for every order of rows, and for some of them as for all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pacas.engine.grouping import Ints
from pacas.engine.lots import Lots, lots, spelled
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.units import Units

Draw = Callable[[Ints], Lots]
"""64 random bits for each of some units."""


def public_draw(salt: bytes, index: PublicIndex, units: Units) -> Draw:
    """The lots of units: those that are asked for are worked out, once."""
    drawn = np.zeros(len(units), dtype=np.uint64)
    is_drawn = np.zeros(len(units), dtype=np.bool_)
    columns = [index.columns[name] for name in units.told_apart_by]

    def draw(of: Ints) -> Lots:
        missing = of[~is_drawn[of]]
        rows = units.first_rows[missing]
        texts = [map(list(map(spelled, c.values)).__getitem__, c.codes[rows].tolist()) for c in columns]
        drawn[missing] = lots(salt.hex(), zip(*texts, strict=True))
        is_drawn[missing] = True
        return drawn[of]

    return draw
