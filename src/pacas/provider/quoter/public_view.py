"""All that free questions are answered from: what the provider's owner has decided, and the public index.

Nothing of a sold or protected column is here, nor can be: a quoter that is made from it alone gives the same bytes for
every relation that fits it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from typing import Any, TypeVar

from pacas.core.anonymity import Policy
from pacas.core.dependency import MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.sealed.coverage import NeighbourSpread
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_index import PublicIndex

T = TypeVar("T")


class Tables:
    """Answers by what was asked."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, the first time that it is asked for."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made


SALT = b"pacas sealed 1"
DRAW = "pacas draw 2"
"""The rule by which units of several rows are kept back; whoever changes it changes this: what was sold by one rule may
be what another would keep back."""


Factor = int | float | str | Decimal | Fraction
"""How sensitive an attribute is, as it is written."""


class Reserve(Enum):
    """Which rows keep an X-group's secret: some that are drawn beforehand, or whichever are left unsold."""

    FIXED = "fixed"
    LAST = "last"


@dataclass(frozen=True, eq=False, repr=False)
class PublicView:
    """pub(R). `left` names the public columns that determine an attribute: rows that agree on them are sold as one."""

    hierarchies: Mapping[str, Hierarchy]
    components: Sequence[LinkedAttributes]
    """Every sold or protected attribute is in one of them."""
    match: Mapping[str, MatchingDependency]
    policies: Sequence[Policy]
    total: int
    """What everything costs together, in nanocredits."""
    index: PublicIndex
    """Of the relation; or of a registry, where who is in the relation is private, and components may be absent."""
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sensitivity: Mapping[str, Factor] = field(default_factory=dict)
    spread: NeighbourSpread = NeighbourSpread.EVEN
    reserve: Reserve = Reserve.FIXED
    salt: bytes = SALT
    max_matches: int = 1000
    floor: Mapping[str, int] = field(default_factory=dict)
    """The finest levels that anybody may buy."""
    tables: Tables = field(default_factory=Tables)

    def component_of(self, attribute: str) -> LinkedAttributes:
        return next(component for component in self.components if attribute in component.attributes)

    def digests(self) -> dict[str, str]:
        """A hex digest of each thing that sealed quotes follow from, besides the owner's other terms."""
        linked = [
            [*given, case.attributes, case.prior.tolist(), [path.tolist() for path in case.paths]]
            for component in self.components
            for given, case in zip(component.values, component.cases, strict=True)
        ]
        pricing = [self.total, {a: str(f) for a, f in self.sensitivity.items()}, self.spread.value, self.max_matches]
        drawn = bool(self.left) and self.reserve is Reserve.FIXED and any(p.scope == "group" for p in self.policies)
        return {
            "dependencies": _digest([linked, {a: list(columns) for a, columns in self.left.items()}]),
            "prices": _digest(pricing),
            "reserve": _digest([self.reserve.value, self.salt.hex(), [[p.keep, p.scope] for p in self.policies]]),
            **({"draw": _digest(DRAW)} if drawn else {}),
        }


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
