"""From the oracles' plain rows and trees to the package's relations and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from oracles import pricing
from oracles.cleaning import Dependency, Row
from oracles.matching import Match
from oracles.pricing import LiteralProvider
from oracles.tree import Tree
from oracles.worlds import World
from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency, MatchClause, MatchingDependency, Similarity
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.formats.provider.support_file import read_support
from pacas.protocol.messages import Request
from pacas.provider.provider import Provider
from pacas.provider.support.support_set import GivenSupport


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


def to_policy(policy: pricing.Policy, allow_linkage: bool = False) -> Policy:
    return Policy(policy.x, tuple(policy.levels), policy.levels, policy.k, allow_linkage)


def to_request(request: pricing.Request) -> Request:
    return Request(request.values, request.attribute, request.level)


def to_provider(world: World, **options: Any) -> Provider:
    """A provider whose support set is the world's, taken as it is; read from the lines of a file."""
    return _provider(world, support=_read(world), **options)


def to_generated(world: World, **options: Any) -> Provider:
    """A provider of the world's relation that makes its own support set."""
    return _provider(world, **options)


def _read(world: World) -> GivenSupport:
    lines = world.support_lines()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "support.jsonl"
        path.write_text(lines, "utf-8")
        return read_support(path, list(world.rows[0]), len(world.rows)) if lines else GivenSupport([])


def _provider(world: World, **options: Any) -> Provider:
    return Provider(
        to_relation(world.rows),
        match={a: to_match(match) for a, match in world.matches.items()},
        policies=[to_policy(policy, world.links(policy)) for policy in world.policies],
        hierarchies=to_hierarchies(world.trees),
        relations={name: to_relation(rows) for name, rows in world.others.items()},
        **options,
    )


def to_literal(provider: Provider, world: World, **options: Any) -> LiteralProvider:
    """The literal provider with the same support set, neighbour by neighbour, and the same weights."""
    stock = provider.stock
    ops: list[tuple[Mapping[str, Any], ...]] = []
    for attribute, cells in stock.support.cells.items():
        labels = [stock.columns[attribute].hierarchy.label(node) for node in cells.new]
        ops += [({"set": int(r), "values": {attribute: v}},) for r, v in zip(cells.rows, labels, strict=True)]
    edits = stock.support.edits
    changed = {a: dict(zip(c.patch.tolist(), c.code.tolist(), strict=True)) for a, c in edits.values.items()}
    for number in range(len(edits)):
        mine: list[Mapping[str, Any]] = []
        for patch in (edits.neighbour == number).nonzero()[0].tolist():
            values = {a: stock.columns[a].values[codes[patch]] for a, codes in changed.items() if patch in codes}
            row = int(edits.row[patch])
            if edits.gone[patch]:
                mine.append({"delete": row})
            else:
                mine.append({"set": row, "values": values} if row >= 0 else {"insert": values})
        ops.append(tuple(mine))
    neighbours = [pricing.Neighbour(o, w) for o, w in zip(ops, stock.weights.tolist(), strict=True)]
    return LiteralProvider(world.rows, world.trees, world.matches, world.policies, neighbours, **options)
