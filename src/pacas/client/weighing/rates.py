"""How often, and how, a dependency's cells go wrong: learnt from the table itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pacas.core.distance import Floats

BINS = 12
"""Into so many parts the share of a group that a block covers is divided."""

MIDDLES: Floats = (np.arange(BINS) + 0.5) / BINS

FEW_BLOCKS: Floats = 4 * 2 * (1 - MIDDLES) / BINS
"""What is thought of blocks before any was seen, worth four of them: most cover the smaller part of their group."""


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Of the right-hand cells of one dependency."""

    wrong: float
    """How often a single cell is wrong (ε)."""
    unlike: float
    """How often a cell is not like its group, whether it is wrong or its row is from elsewhere."""
    overwritten: float
    """How often a block of a group's cells has been overwritten by one value (σ)."""
    confusion: Floats
    """Per code: how often a cell that is wrong shows it (q)."""
    shares: Floats = field(default_factory=lambda: FEW_BLOCKS)
    """How many blocks covered which share of their group, from little to all of it."""

    @classmethod
    def at_first(cls, values: int) -> Rates:
        return cls(0.05, 0.05, 0.0005, np.full(values, 1 / max(values, 1)))

    @property
    def log_confusion(self) -> Floats:
        return np.log(np.maximum(self.confusion, 1e-12))

    @property
    def taught(self) -> float:
        """How many blocks have been seen by purchases."""
        return float(self.shares.sum() - FEW_BLOCKS.sum())
