"""A policy that is suggested, and the trade-off that it was chosen from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pacas.core.anonymity import Policy
from pacas.suggest.policies.rows_for_sale import RowsForSale


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
    found: RowsForSale
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
    def why_none(self) -> str | None:
        """Why no policy is suggested, and what to try; None if one is."""
        rows = self.found
        if self.chosen is not None:
            return None
        if rows.alone < self.share * rows.rows:
            return (
                f"{rows.alone:,} of {rows.rows:,} rows are found alone by {', '.join(self.match)}; find people by more "
                f"columns, or declare what determines {self.attribute}"
            )
        if not self.points:
            return f"the hierarchy of {self.attribute} has one value only"
        best = max(self.points, key=lambda point: point.shares[-2])
        return (
            f"no k above 1 keeps {self.share:.0%} of the rows for sale below the root, {best.shares[-2]:.1%} at best; "
            "give a hierarchy whose families are larger (pacas hierarchy balance), or a smaller share"
        )

    @property
    def larger_k(self) -> tuple[PolicyPoint, int] | None:
        """The largest k that would do if nothing had to be for sale below a coarser level, and that level."""
        if self.chosen is None:
            return None
        doing = [point for point in self.points if point.k > self.chosen.k and point.shares[-2] >= self.share]
        if not doing:
            return None
        point = max(doing, key=lambda point: (point.k, -point.safe_level, point.level))
        return point, next(level for level, share in enumerate(point.shares) if share >= self.share)

    @property
    def policy(self) -> Policy | None:
        if self.chosen is None:
            return None
        levels = {self.attribute: self.chosen.level}
        return Policy(self.x, (self.attribute,), levels, self.chosen.k, self.allow_linkage, scope=self.scope)

    def __repr__(self) -> str:
        said = "none" if self.chosen is None else f"k={self.chosen.k}, level={self.chosen.level}"
        return f"SuggestedPolicy({self.attribute}: {said}, {len(self.points)} points)"
