"""A policy that is suggested, and the trade-off that it was chosen from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pacas.core.anonymity import Policy
from pacas.suggest.policies.found_rows import FoundRows


@dataclass(frozen=True, slots=True)
class PolicyPoint:
    """What one k and one level L leave for sale."""

    k: int
    level: int
    safe_level: int
    """From which level on rows that are kept back are sold: the root's means not at all."""
    shares: tuple[float, ...]
    """Per level from ground to the root: the share of rows that are for sale before anything is sold."""


@dataclass(frozen=True, eq=False, repr=False)
class SuggestedPolicy:
    """The largest k, with its level, that keeps a share of the rows for sale at the finest level that any does."""

    attribute: str
    x: tuple[str, ...]
    match: tuple[str, ...]
    found: FoundRows
    share: float
    chosen: PolicyPoint | None
    """None: no k above 1 keeps the share for sale below the root."""
    sold_from: int | None
    """The finest level at which the share is kept by it."""
    points: Sequence[PolicyPoint]
    """All there are: by level L, then k; of several k that leave the same, the largest."""
    per_cell: int | None
    """Neighbours a cell with which a paper provider sells from the safe level on, too; None: no number helps."""
    scope: str = "group"

    @property
    def allow_linkage(self) -> bool:
        """Whether rows are found by more than X, which a policy has to allow (D5)."""
        return not set(self.match) <= set(self.x)

    @property
    def policy(self) -> Policy | None:
        if self.chosen is None:
            return None
        levels = {self.attribute: self.chosen.level}
        return Policy(self.x, (self.attribute,), levels, self.chosen.k, self.allow_linkage, scope=self.scope)

    def __repr__(self) -> str:
        said = "none" if self.chosen is None else f"k={self.chosen.k}, level={self.chosen.level}"
        return f"SuggestedPolicy({self.attribute}: {said}, {len(self.points)} points)"
