"""How often, and how, a dependency's cells go wrong: learnt from the table itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.block_lean import AT_FIRST, mean_lean
from pacas.core.distance import Floats

COMMON = 0.05
"""The share of groups with a block from which on blocks are common."""

HOLDS = np.log(0.99 / 0.01)
"""The log odds, before anything is seen, that a dependency that was given holds."""
LOOKS_MIXED = np.log(0.9 / 0.1)
"""And if most of its groups look mixed, and the left side still tells much: sources that contradict each other."""
BALANCE = 9
"""As many groups say, before any is seen, that few are mixed where it holds, and few are not where it does not."""


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
    """Per code: how often a cell that is unlike its group shows it, whichever side of its row is wrong (q)."""
    own_confusion: Floats
    """Per code: how often a right-hand cell that is itself wrong shows it."""
    lean: float = mean_lean(AT_FIRST)
    """How much blocks lean to the smaller part of their group (λ)."""
    mixed: float = 0.0
    """How likely the dependency does not hold: its groups are mixed as a rule, and each is what it is (κ)."""

    @classmethod
    def at_first(cls, confusion: Floats) -> Rates:
        """Before anything is weighed: errors show what outvoted cells do."""
        return cls(0.05, 0.05, 0.0005, confusion, confusion)

    def moved(self, before: Rates, after: Rates) -> Rates:
        """These rates, moved as what is learnt has moved: what is learnt again from the same evidence moves nothing."""
        return Rates(
            _kept(self.wrong * after.wrong / before.wrong),
            _kept(self.unlike * after.unlike / before.unlike),
            _kept(self.overwritten * after.overwritten / before.overwritten),
            _whole(self.confusion * after.confusion / before.confusion),
            _whole(self.own_confusion * after.own_confusion / before.own_confusion),
            self.lean,
            float(np.clip(self.mixed + after.mixed - before.mixed, 0, 1)),
        )

    @property
    def blocks_are_rare(self) -> bool:
        """Then a group's majority is believed, unless much speaks against it."""
        return self.overwritten < COMMON

    @property
    def blocks_are_likelier(self) -> bool:
        """Is a block in a group likelier than that one of its cells is wrong by itself?"""
        return self.overwritten > self.wrong

    @property
    def holds(self) -> bool:
        """Else the dependency says nothing about a row."""
        return self.mixed <= 0.5

    @property
    def log_confusion(self) -> Floats:
        return np.log(np.maximum(self.confusion, 1e-12))


def _kept(rate: float) -> float:
    return float(np.clip(rate, 1e-4, 0.6))


def _whole(shares: Floats) -> Floats:
    return np.asarray(shares / shares.sum())


def mixed_by_answers(both: int, one: int) -> float:
    """How likely a dependency does not hold, most of whose groups have two camps.

    Of so many groups, answers about rows of each camp said that both are right as they stand; of the others, that one
    is wrong.

    >>> [round(mixed_by_answers(*said), 3) for said in ((0, 0), (1, 0), (2, 0), (0, 1), (0, 2))]
    [0.1, 0.526, 0.859, 0.011, 0.002]
    """
    return float(1 / (1 + np.exp(LOOKS_MIXED - _by_groups(both, both + one))))


def _by_groups(mixed: float, groups: float) -> float:
    """The log odds that a dependency does not hold, of whose groups so many are mixed."""
    each = np.arange(1, BALANCE + 1)
    return float(np.log(mixed + each).sum() - np.log(groups - mixed + each).sum())


def chance_of_mixtures(mixed: float, groups: int, exceptions: float = 0.0) -> float:
    """How likely a dependency does not hold, of whose groups so many look mixed.

    Where it holds, the share of mixed groups is Beta(1, 1 + b): accidents are rare; where not, it is Beta(1 + b, 1).
    Or other columns tell which cells are unlike their groups, with the log odds `exceptions`, if these are positive:
    groups of a column that nearly always holds the same do not look mixed.

    >>> [round(chance_of_mixtures(n, 30), 3) for n in (10, 20, 30)]
    [0.0, 0.523, 1.0]
    """
    by_groups = _by_groups(mixed, groups)
    return float(1 / (1 + np.exp(HOLDS - (max(by_groups, exceptions) if exceptions > 0 else by_groups))))
