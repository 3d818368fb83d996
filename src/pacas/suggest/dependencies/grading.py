"""Grades: which dependencies are worth declaring, which only a look. One set of thresholds for all tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from statistics import median

from pacas.suggest.dependencies.evidence import DependencyEvidence
from pacas.suggest.kind import Kind

FEWEST_GROUPS, FEWEST_ROWS = 3, 20
LEAST_SUPPORT = 0.03
"""The share of rows that must share a group."""
SYSTEMATIC = 0.5
"""Of the exceptions of large groups, the share that may be blocks."""
NEARLY_EXACT, ITS_BLOCKS = 0.99, 0.003
"""A score with which blocks may be all the exceptions there are, and the share of rows that these may be."""
EVENLY_SYSTEMATIC, EVEN_BLOCKS, UNEVEN = 0.05, 0.02, 0.002
"""What exceptions may show of blocks, and of groups that have more of them, and be as even as errors."""
MANY_VALUES = 1 / 3
"""How likely two rows of a column agree that numbers of things may tell, and evenness."""
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
    if_even: float = 1.1
    """The score that suffices where exceptions are as even as errors; more than 1: none does."""


ORDINARY = Thresholds(0.75, 0.4, 0.006, 0.6)
NUMBERED = Thresholds(0.75, 0.4, 0.005, 0.6)
"""For left sides of numbers that seem to number things: each stands in many rows, and tells a column of many values."""
MEASURED = Thresholds(0.98, 0.9, 0.002)
"""For other numbers, times and dates: small groups agree by chance, and ranges tell few values apart."""
PAIR = Thresholds(0.85, 0.85, 0.006)


def thresholds_for(kind: Kind, evidence: DependencyEvidence) -> Thresholds:
    """What is asked of a left side of one attribute."""
    if not kind.is_measured:
        return ORDINARY
    numbers_things = kind is Kind.MEASURE and evidence.has_large_groups and evidence.chance <= MANY_VALUES
    return NUMBERED if numbers_things else MEASURED


def grade(evidence: DependencyEvidence, thresholds: Thresholds) -> Grade:
    """The grade of a dependency by its own evidence."""
    if evidence.groups < FEWEST_GROUPS or evidence.rows < FEWEST_ROWS or evidence.support < LEAST_SUPPORT:
        return Grade.NONE
    if evidence.score >= thresholds.strong and _has_few_blocks(evidence, thresholds):
        return Grade.STRONG
    if evidence.score >= thresholds.if_even and _tells_by_evenness(evidence):
        return Grade.STRONG
    return Grade.WEAK if evidence.score >= thresholds.weak else Grade.NONE


def doubts(evidence: DependencyEvidence, thresholds: Thresholds) -> str:
    """What speaks against a weak dependency, in words."""
    if not _has_few_blocks(evidence, thresholds):
        return "other values stand in blocks"
    return "numbers, times and dates agree by chance" if thresholds is MEASURED else "many exceptions"


def _has_few_blocks(evidence: DependencyEvidence, thresholds: Thresholds) -> bool:
    few = evidence.block_share <= thresholds.blocks and evidence.systematic <= SYSTEMATIC
    return few or (evidence.score >= NEARLY_EXACT and evidence.block_share <= ITS_BLOCKS)


def _tells_by_evenness(evidence: DependencyEvidence) -> bool:
    """Where most rows have one value anyway, the few groups of another are as even whatever they follow from."""
    return evidence.has_large_groups and evidence.chance <= MANY_VALUES and _is_even(evidence)


def _is_even(evidence: DependencyEvidence) -> bool:
    """Do exceptions look like errors: hardly any in blocks, and no group with more than its share?"""
    is_spread = evidence.systematic <= EVENLY_SYSTEMATIC and evidence.block_share <= EVEN_BLOCKS
    return is_spread and evidence.uneven <= UNEVEN


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
