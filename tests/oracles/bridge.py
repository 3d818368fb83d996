"""From the oracles' plain rows and trees to the package's relations and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from oracles import pricing
from oracles.cleaning import Dependency, Row
from oracles.matching import Match
from oracles.tree import Tree
from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency, MatchClause, MatchingDependency, Similarity
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.protocol.messages import Request


def to_relation(rows: Sequence[Row]) -> Relation:
    return Relation.of({a: pa.array([row[a] for row in rows], pa.string()) for a in rows[0]})


def to_hierarchy(tree: Tree) -> Hierarchy:
    return Hierarchy.from_rows(tree.rows, numeric=tree.numeric)


def to_hierarchies(trees: Mapping[str, Tree]) -> dict[str, Hierarchy]:
    return {a: to_hierarchy(tree) for a, tree in trees.items()}


def to_fds(fds: Sequence[Dependency]) -> list[FunctionalDependency]:
    return [FunctionalDependency(fd.lhs, fd.rhs) for fd in fds]


def to_match(match: Match) -> MatchingDependency:
    return MatchingDependency(
        tuple(MatchClause(c.client, c.provider, Similarity(c.how), float(c.threshold)) for c in match)
    )


def to_policy(policy: pricing.Policy) -> Policy:
    return Policy(policy.x, tuple(policy.levels), policy.levels, policy.k)


def to_request(request: pricing.Request) -> Request:
    return Request(request.values, request.attribute, request.level)
