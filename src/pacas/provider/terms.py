"""What a provider sells, and on what terms: all that its owner decides, checked against the relation.

An error names attributes, levels and counts, never a value (D1, D3, D5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import prod
from typing import Literal

import numpy as np

from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.money import CREDIT
from pacas.core.query import GeneralizedQuery
from pacas.core.rates.schedule import LIST, Schedule
from pacas.engine.contract import Hierarchies
from pacas.errors import HierarchyError, InputError, SchemaError, did_you_mean
from pacas.provider.column import Column
from pacas.provider.quote_mode import QuoteMode
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.support.support_set import Generated, GivenSupport
from pacas.provider.support.weights import Factor


class HistoryScope(Enum):
    """Whose purchases a sale is judged with (D8)."""

    POOLED = "pooled"
    PER_BUYER = "per_buyer"


@dataclass(frozen=True, slots=True)
class ViewPrice:
    """A view whose price is given, in nanocredits."""

    name: str
    view: GeneralizedQuery
    price: int


@dataclass(frozen=True)
class Terms:
    """All that a provider's owner decides.

    `total` is in nanocredits; None means that the given support set's weights say it.
    """

    hierarchies: Hierarchies = field(default_factory=dict, repr=False)
    match: Mapping[str, MatchingDependency] = field(default_factory=dict)
    policies: Sequence[Policy] = ()
    support: Generated | GivenSupport = Generated()  # noqa: RUF009  # it is frozen
    total: int | None = None
    sensitivity: Mapping[str, Factor] = field(default_factory=dict)
    points: Sequence[ViewPrice] = ()
    schedule: Schedule = LIST
    """What list prices cost who has bought so much."""
    history: HistoryScope = HistoryScope.POOLED
    max_matches: int = 1000
    sealing: Sealing | None = None
    """How quotes are sealed; None where they are the paper's."""
    floor: Mapping[str, int] = field(default_factory=dict)
    """By attribute the finest level that anybody may buy; what is not named is sold from the ground up."""
    common_trees: Mapping[str, str] = field(default_factory=dict)
    """By attribute the digest of the hierarchy that all members of a circle of providers have."""
    circle: str | None = None
    """By what a ledger knows the clearing house that all sales are made through; None where there is none."""
    published: Sequence[FunctionalDependency] = ()
    """Dependencies that hold exactly in the relation, and that everybody may know."""
    about: Literal["people", "things"] = "people"
    """What rows are about, by their owner's word: of things nobody is to be protected, and no policy is missed."""

    def __post_init__(self) -> None:
        """A policy that protects every row need name no X: everybody who is found by other values is a group."""
        found_by = tuple(sorted(self.found_by))
        named = tuple(policy if policy.x else replace(policy, x=found_by) for policy in self.policies)
        object.__setattr__(self, "policies", named)

    @property
    def quotes(self) -> QuoteMode:
        return QuoteMode.PAPER if self.sealing is None else QuoteMode.SEALED

    @property
    def dependencies(self) -> Sequence[DeclaredDependency]:
        """Those that are declared; with the paper's quotes none are."""
        return () if self.sealing is None else self.sealing.dependencies

    @property
    def sold(self) -> tuple[str, ...]:
        return tuple(self.match)

    @property
    def protected(self) -> tuple[str, ...]:
        """Sold and Y attributes: those whose cells have neighbours."""
        return tuple(dict.fromkeys([*self.match, *(a for policy in self.policies for a in policy.y)]))

    @property
    def found_by(self) -> set[str]:
        """The provider's columns that a client's tuple is matched with."""
        return {column for dependency in self.match.values() for column in dependency.provider_columns}

    @property
    def simple(self) -> tuple[str, ...]:
        """Protected attributes that nobody is grouped or found by: a change of a cell is seen in this cell alone."""
        grouped_by = {a for policy in self.policies for a in policy.x}
        return tuple(a for a in self.protected if a not in grouped_by and a not in self.found_by)

    @property
    def attributes(self) -> tuple[str, ...]:
        """All that requests and policies look at."""
        grouped_by = [a for policy in self.policies for a in policy.x]
        return tuple(dict.fromkeys([*self.protected, *grouped_by, *sorted(self.found_by)]))

    def weight_runs(self, cells: Mapping[str, int], edits: int) -> tuple[int, list[int], list[Factor] | None]:
        """The total, and runs of neighbours with one factor: that of the attribute they change, for edits the largest.

        `cells` says how many cell neighbours each attribute has, and `edits` how many others there are.
        """
        total = CREDIT if self.total is None else self.total
        if not self.sensitivity:
            return total, [sum(cells.values()) + edits], None
        factors = [self.sensitivity.get(a, 1) for a in cells]
        largest = max((self.sensitivity.get(a, 1) for a in self.protected), key=float)
        return total, [*cells.values(), edits], [*factors, largest]

    # ---- checks, before anything is read and after -------------------------------------------------------------

    def check_names(self, columns: Sequence[str], where: str) -> None:
        """An error unless every column that is named is there, and every policy can be kept while selling."""
        if self.max_matches < 1:
            raise InputError(f"max_matches must be at least 1, not {self.max_matches}")
        for attribute, dependency in self.match.items():
            for name in (attribute, *dependency.provider_columns):
                _check_column(name, columns, where, f"the match of {attribute!r}")
        for number, policy in enumerate(self.policies, start=1):
            for name in (*policy.x, *policy.y):
                _check_column(name, columns, where, f"policy {number}")
            self._check_policy(number, policy)
        for attribute in self.sensitivity:
            if attribute not in self.protected:
                raise SchemaError.missing(attribute, self.protected, "what is sold or protected")
        for attribute, level in self.floor.items():
            self._check_floor(attribute, level)

        for attribute, digest in self.common_trees.items():
            if problem := self._not_in_common(attribute, digest):
                raise InputError(f"the circle's tree of {attribute!r}: {problem}")

    def _not_in_common(self, attribute: str, digest: str) -> str | None:
        """Why an attribute cannot be sold in a circle with one tree, so that who is safe alone is safe together."""
        if attribute not in self.match:
            return f"it is not for sale; {did_you_mean(attribute, self.match)}"
        if attribute not in self.hierarchies:
            return "it has no hierarchy here; give it the one that all members have"
        if self.hierarchies[attribute].digest != digest:
            return f"the hierarchy here is another one, {self.hierarchies[attribute].digest}; take the common one"
        if not self.match[attribute].is_by_equality:
            return "a match by likeness may find another person elsewhere; match by equality"
        if any(one.dictionary and attribute in one.fd.attributes for one in self.dependencies):
            return "a dictionary lets other attributes tell of it, which members may sell otherwise; leave it out"
        for number, policy in enumerate(self.policies, start=1):
            if attribute in policy.y and policy.allow_linkage:
                return f"policy {number} has allow_linkage, so nodes with fewer than k values are sold; leave it out"
            if attribute in policy.y and len(policy.y) > 1 and self.circle is None:
                return f"policy {number} is over several attributes: that takes a clearing house; write one for each"
        return None

    def _check_floor(self, attribute: str, level: int) -> None:
        if attribute not in self.match:
            raise SchemaError(f"floor: {SchemaError.missing(attribute, self.sold, 'what is sold')}")
        root = self.hierarchies[attribute].height if attribute in self.hierarchies else 1
        if not 0 <= level < root:
            raise HierarchyError(
                f"the floor of {attribute!r} must be a level from 0 to {root - 1}, not {level}: at level {root} "
                "nothing is told; leave it out of what is sold instead"
            )

    def _check_policy(self, number: int, policy: Policy) -> None:
        if not policy.y:
            raise InputError(f"policy {number} has no Y; say which attributes its groups must stay linked to")
        for attribute, level in policy.y_levels.items():
            height = self.hierarchies[attribute].height if attribute in self.hierarchies else 1
            if not 0 <= level <= height:
                raise HierarchyError.no_such_level(level, height, f"the hierarchy of {attribute!r} (policy {number})")
        for attribute in policy.y:
            if attribute in self.match and not policy.allow_linkage and policy.scope != "row":
                self._check_linkage(number, policy, attribute)

    def _check_linkage(self, number: int, policy: Policy, attribute: str) -> None:
        """D5: who is found by more than X can be singled out in an X-group that is diverse enough."""
        if beyond := linking_columns(self.match[attribute], policy):
            raise InputError(
                f"{attribute!r} is matched by {', '.join(map(repr, beyond))}, outside X of policy {number}, so a buyer "
                f"can single out one person in an X-group; add to X, or set allow_linkage = true to accept it"
            )

    def check_values(self, columns: Mapping[str, Column]) -> None:
        """D1: sold and Y columns hold known ground values only. D3: every policy can hold."""
        problems = [text for a in self.protected if (text := _unusable(columns[a]))]
        if problems:
            raise InputError(
                f"sold and policy-protected columns must hold ground values that the hierarchy knows: "
                f"{'; '.join(problems)}; clean these rows or complete the hierarchy"
            )
        if len(next(iter(columns.values()))):
            self.check_can_hold({a: columns[a].domain for a in self.protected})

    def check_can_hold(self, domains: Hierarchies) -> None:
        """D3: for every policy the hierarchies have k values at levels L."""
        for number, policy in enumerate(self.policies, start=1):
            _check_can_hold(number, policy, domains)


def linking_columns(dependency: MatchingDependency, policy: Policy) -> list[str]:
    """The columns of a match that are not in X."""
    return [column for column in dependency.provider_columns if column not in policy.x]


def _check_column(name: str, columns: Sequence[str], where: str, who: str) -> None:
    if name not in columns:
        raise SchemaError(f"{who}: {SchemaError.missing(name, columns, where)}")


def _unusable(column: Column) -> str | None:
    """How many of a column's cells are unknown, general or null."""
    domain = column.domain
    used = column.counts
    counts = {"unknown": 0, "general": 0, "null": 0}
    for code in np.flatnonzero(used).tolist():
        value = column.values[code]
        if value is None:
            counts["null"] += int(used[code])
        elif value not in domain:
            counts["unknown"] += int(used[code])
        elif not domain.is_ground[domain.code(value)]:
            counts["general"] += int(used[code])
    found = [f"{n:,} {kind}" for kind, n in counts.items() if n]
    return f"{column.attribute!r} has {', '.join(found)}" if found else None


def _check_can_hold(number: int, policy: Policy, domains: Hierarchies) -> None:
    sizes = {}
    for attribute, level in policy.y_levels.items():
        domain = domains[attribute]
        sizes[attribute] = len(np.unique(domain.ancestors[level, domain.is_ground]))
    if prod(sizes.values()) >= policy.k:
        return
    found = " and ".join(f"level {policy.y_levels[a]} of {a!r} has {n} value{'s' * (n != 1)}" for a, n in sizes.items())
    raise InputError(f"policy {number} asks for {policy.must_hold}, which can never hold: {found}")
