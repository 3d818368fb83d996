"""Grades: which dependencies are worth declaring, which only a look. One set of thresholds for all tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from statistics import median

from pacas.suggest.dependencies.evidence import DependencyEvidence

FEWEST_GROUPS, FEWEST_ROWS = 3, 20
LEAST_SUPPORT = 0.03
"""The share of rows that must share a group."""
SYSTEMATIC = 0.5
"""Of the exceptions of large groups, the share that may be blocks."""
NEARLY_EXACT, ITS_BLOCKS = 0.99, 0.003
"""A score with which blocks may be all the exceptions there are, and the share of rows that these may be."""
KIN, KIN_BLOCKS, KIN_FACTOR, KIN_LEAST = 3, 0.005, 1.5, 0.005
"""An entity's key is strong for so many columns; another column may be in so many blocks, and disagree so much more."""


class Grade(IntEnum):
    """How far a dependency is to be trusted."""

    NONE = 0
    WEAK = 1
    STRONG = 2


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The scores that make a dependency strong and weak, and the share of rows that blocks may be."""

    strong: float
    weak: float
    blocks: float


ORDINARY = Thresholds(0.75, 0.4, 0.006)
MEASURED = Thresholds(0.98, 0.9, 0.002)
"""For left sides of numbers, times and dates, which agree by chance."""
PAIR = Thresholds(0.85, 0.85, 0.006)


def grade(evidence: DependencyEvidence, thresholds: Thresholds) -> Grade:
    """The grade of a dependency by its own evidence."""
    if evidence.groups < FEWEST_GROUPS or evidence.rows < FEWEST_ROWS or evidence.support < LEAST_SUPPORT:
        return Grade.NONE
    without_blocks = evidence.block_share <= thresholds.blocks and evidence.systematic <= SYSTEMATIC
    nearly_exact = evidence.score >= NEARLY_EXACT and evidence.block_share <= ITS_BLOCKS
    if evidence.score >= thresholds.strong and (without_blocks or nearly_exact):
        return Grade.STRONG
    return Grade.WEAK if evidence.score >= thresholds.weak else Grade.NONE


Side = tuple[tuple[int, ...], int]
"""A left side and a right side, by the numbers of their columns."""


def inherited(evidence: Mapping[Side, DependencyEvidence], grades: Mapping[Side, Grade]) -> dict[Side, int]:
    """Weak dependencies that are strong by their kin: the key of an entity fixes a column that is too even to tell.

    Of each the number of columns for which its left side is strong by itself.
    """
    strong: dict[tuple[int, ...], list[float]] = {}
    for side, graded in grades.items():
        if graded is Grade.STRONG:
            strong.setdefault(side[0], []).append(evidence[side].disagreement)
    usual = {left: median(kin) for left, kin in strong.items() if len(kin) >= KIN}
    return {
        side: len(strong[side[0]])
        for side, graded in grades.items()
        if graded is Grade.WEAK and side[0] in usual and _like_kin(evidence[side], usual[side[0]])
    }


def _like_kin(evidence: DependencyEvidence, usual: float) -> bool:
    few_blocks = evidence.block_share <= KIN_BLOCKS and evidence.systematic <= SYSTEMATIC
    return few_blocks and evidence.disagreement <= KIN_FACTOR * max(KIN_LEAST, usual)
