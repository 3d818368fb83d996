"""What buyers have learned: which neighbours their purchases have ruled out. One buyer's, or that of all together (D8).

Paper: §5.3, the history. A neighbour that changes one cell with divergence d is ruled out iff the cell was bought below
level d, so of each cell only the lowest level matters. Edits are ruled out one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pacas.engine.grouping import Ints, Mask
from pacas.provider.pricing.conflicts import ConflictSets, Levels


class Knowledge:
    """What has been bought: per attribute and row how many levels below the root, and which edits are ruled out."""

    def __init__(self, heights: Mapping[str, int], rows: int, edits: int) -> None:
        # Zeros cost no memory until they are written to: a buyer of few values takes little.
        self.heights = heights
        self.revealed: dict[str, Levels] = {a: np.zeros(rows, dtype=np.int8) for a in heights}
        self.ruled_out: Mask = np.zeros(edits, dtype=np.bool_)
        self.marked: dict[str, Mask] = {}
        """Per attribute with a `QuoteCache`: the slots of which something has been bought."""

    def level(self, attribute: str, rows: Ints) -> Levels:
        """The lowest level at which each cell was bought; the root's where it was not."""
        return np.int8(self.heights[attribute]) - self.revealed[attribute][rows]

    def learn(self, sets: ConflictSets, levels: Ints) -> None:
        """Take the answers of some requests to what is known, each at its level."""
        if len(sets) == 1:
            self.learn_rows(sets.attribute, sets.rows, int(levels[0]))
        else:
            revealed = self.revealed[sets.attribute]
            rows, lowest = sets.lowest(levels)
            revealed[rows] = np.maximum(revealed[rows], self.heights[sets.attribute] - lowest)
        if len(sets.edit):
            self.ruled_out[sets.edit[sets.edit_divergence > levels[sets.edit_request]]] = True

    def learn_rows(self, attribute: str, rows: Ints, level: int) -> None:
        """Take in the answer of one request that no edit has to do with."""
        revealed, depth = self.revealed[attribute], self.heights[attribute] - level
        if len(rows) == 1:  # what is most common goes without arrays
            revealed[rows[0]] = max(int(revealed[rows[0]]), depth)
        else:
            revealed[rows] = np.maximum(revealed[rows], depth)
