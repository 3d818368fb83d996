"""What buyers have learned: which neighbours their purchases have ruled out. One buyer's, or that of all together (D8).

Paper: §5.3, the history. A neighbour that changes one cell with divergence d is ruled out iff the cell was bought below
level d, so of each cell only the lowest level matters. Edits are ruled out one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Levels = NDArray[np.int8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class ConflictSets:
    """For each of many requests for one attribute: the neighbours that its answer can rule out.

    Request i is about the rows `rows[offsets[i] : offsets[i + 1]]`: a neighbour of one of these cells is told from R at
    every level below its divergence. So is an edit: `edit[j]` by request `edit_request[j]`, below `edit_divergence[j]`.
    """

    attribute: str
    offsets: Ints
    rows: Ints
    edit_request: Ints
    edit: Ints
    edit_divergence: Levels

    def __len__(self) -> int:
        return len(self.offsets) - 1


class Known:
    """What has been bought: per attribute and row how many levels below the root, and which edits are ruled out."""

    def __init__(self, heights: Mapping[str, int], rows: int, edits: int) -> None:
        # Zeros cost no memory until they are written to: a buyer of few values takes little.
        self.heights = heights
        self.revealed: dict[str, Levels] = {a: np.zeros(rows, dtype=np.int8) for a in heights}
        self.ruled_out: Mask = np.zeros(edits, dtype=np.bool_)

    def level(self, attribute: str, rows: Ints) -> Levels:
        """The lowest level at which each cell was bought; the root's where it was not."""
        return np.int8(self.heights[attribute]) - self.revealed[attribute][rows]

    def learn(self, sets: ConflictSets, level: int | Ints) -> None:
        """Take the answers of some requests to what is known: all at one level, or each at its own."""
        if len(sets.rows) == 1 and not len(sets.edit) and isinstance(level, int):
            revealed, row = self.revealed[sets.attribute], sets.rows[0]
            revealed[row] = max(revealed[row], self.heights[sets.attribute] - level)
            return
        depth = self.heights[sets.attribute] - (
            level if isinstance(level, int) else np.repeat(level, np.diff(sets.offsets))
        )
        np.maximum.at(self.revealed[sets.attribute], sets.rows, np.asarray(depth, dtype=np.int8))
        if len(sets.edit):
            below = level if isinstance(level, int) else level[sets.edit_request]
            self.ruled_out[sets.edit[sets.edit_divergence > below]] = True
