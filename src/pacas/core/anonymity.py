"""How many values a group of people is linked to, and whether that is enough.

Paper: Defs 2–4, Theorem 1; other criteria than a number of values as the literature has them (`core.criteria`). Each is
decided from a histogram: how often each Y-value, generalized to its level, occurs in each X-group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pacas.core.criteria.criterion import Criterion
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.histogram import GroupHistogram
from pacas.errors import InputError, did_you_mean

SCOPES = ("group", "row")
DEFAULT_K = 2


@dataclass(frozen=True, slots=True)
class Policy:
    """(X, Y, L) with value k: every X-group must be linked to at least k values of Y at levels L.

    Without Y it asks for k tuples a group, which is k-anonymity; an attribute of Y without a level has level 0.
    `allow_linkage` lets a provider sell Y to who knows more of a person than X (D5).
    """

    x: tuple[str, ...]
    y: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    k: int = DEFAULT_K
    allow_linkage: bool = False
    keep: int = 1
    """With sealed quotes: how many rows of every X-group nobody is sold more of than is safe."""
    scope: str = "group"
    """With sealed quotes: whether that protects each X-group, or each of its rows (`row`)."""
    criterion: Criterion | None = None
    """What the values must be like, where k of them are not enough; it is for sale with sealed quotes only."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", _names(self.x))
        object.__setattr__(self, "y", _names(self.y))
        if not self.x and self.scope != "row":
            raise InputError('a policy needs at least one attribute in X, unless scope = "row" protects every row')
        self._settle_criterion()
        if self.keep < 1:
            raise InputError(f"keep must be at least 1, not {self.keep}")
        if self.scope not in SCOPES:
            raise InputError(f"no scope {self.scope!r}; {did_you_mean(self.scope, SCOPES)}")
        if both := set(self.x) & set(self.y):
            raise InputError(f"{sorted(both)[0]!r} stands both in X and in Y")
        if strange := set(self.levels) - set(self.y):
            raise InputError(f"a level is given for {sorted(strange)[0]!r}, which is not in Y")

    def _settle_criterion(self) -> None:
        """Where a number of values is the criterion, k is that number, and else the one that the criterion implies."""
        if self.criterion is None:
            DistinctValues(self.k)
            return
        implied = self.criterion.fewest_values
        if self.k not in (DEFAULT_K, implied):
            raise InputError(f"k = {self.k} and {self.criterion} are both given; leave one out")
        object.__setattr__(self, "k", implied)
        if isinstance(self.criterion, DistinctValues):
            object.__setattr__(self, "criterion", None)
        elif not self.y:
            raise InputError(f"{self.criterion} needs an attribute in Y to be about")

    @property
    def must_hold(self) -> Criterion:
        """The criterion: k values, unless another one is given."""
        return DistinctValues(self.k) if self.criterion is None else self.criterion

    @property
    def asks(self) -> str:
        """What it asks for, in words."""
        y = ", ".join(f"{attribute} at level {level}" for attribute, level in self.y_levels.items()) or "tuples"
        return f"({', '.join(self.x)}) {self.must_hold.linked_to(y)}"

    @property
    def y_levels(self) -> dict[str, int]:
        return {attribute: self.levels.get(attribute, 0) for attribute in self.y}


def _names(attributes: Sequence[str]) -> tuple[str, ...]:
    """Attributes as they are given, in any sequence; one of them may stand alone."""
    return (attributes,) if isinstance(attributes, str) else tuple(dict.fromkeys(attributes))


@dataclass(frozen=True, slots=True)
class Anonymity:
    """Whether a relation keeps a policy, and by how much.

    `k` is the largest that holds; it is None where there is no X-group, so that any does.
    """

    policy: Policy
    k: int | None
    groups: int
    failing_groups: int
    unlinked_rows: int
    strictest: float | None
    """The strictest criterion of the policy's kind that holds, by the parameter that says how strict it is."""

    @property
    def holds(self) -> bool:
        return self.failing_groups == 0


def check_anonymity(histogram: GroupHistogram, policy: Policy) -> Anonymity:
    """(X,Y,L)-anonymity, (X,Y) where all levels are 0, k-anonymity where Y is empty; or another criterion."""
    if not policy.y:
        sizes = histogram.sizes
        least = int(sizes.min()) if histogram.groups else None
        return Anonymity(policy, least, histogram.groups, int((sizes < policy.k).sum()), histogram.unlinked, least)
    held = policy.must_hold.holds(histogram)
    return Anonymity(
        policy,
        DistinctValues(1).strictest(histogram),
        histogram.groups,
        int((~held).sum()),
        histogram.unlinked,
        policy.must_hold.strictest(histogram),
    )
