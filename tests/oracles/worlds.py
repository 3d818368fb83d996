"""Random providers: a few rows, trees, matches, policies and neighbours, and buyers who ask.

Columns: G and H are what people are grouped and found by, K is a name, M and N are sensitive. Two to eight rows, many
of them alike; sold and Y columns hold known ground values only, the others also nulls and what no tree knows. Weights
are multiples of 100 nanocredits, zero included.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from hypothesis import strategies as st

from oracles.cleaning import tree_of
from oracles.matching import Clause, Match
from oracles.pricing import (
    MAIN,
    LiteralProvider,
    Neighbour,
    Policy,
    Question,
    Request,
    Rows,
    bundle,
    materialise,
    query,
    short_groups,
)
from oracles.queries import OPERATORS, Column
from oracles.strategies import tree_rows, uniform_rows
from oracles.tree import Tree, Value

NAMES = ["anna", "anne", "hanna", "ann", "otto", "toto", "Anna", "OTTO"]
AGES = Tree([[str(n), f"[{n // 2 * 2},{n // 2 * 2 + 1}]", "*"] for n in range(6)], numeric=True)
PLACES = Tree([["p1", "P", "*"], ["p2", "P", "*"], ["q1", "Q", "*"]])


@dataclass
class World:
    """All that a provider is made of, and the requests that come in, in order."""

    rows: list[dict[str, Value]]
    trees: dict[str, Tree]
    matches: dict[str, Match]
    policies: list[Policy]
    neighbours: list[Neighbour]
    others: dict[str, list[dict[str, Value]]]
    """Further relations, for joins."""
    requests: list[tuple[str, Request]] = field(default_factory=list)
    """(buyer, what they ask for)"""

    def provider(self, **options: Any) -> LiteralProvider:
        return LiteralProvider(self.rows, self.trees, self.matches, self.policies, self.neighbours, **options)

    def support(self) -> dict[int, Rows]:
        return {number: materialise(self.rows, n.ops) for number, n in enumerate(self.neighbours)}

    def weights(self) -> dict[int, int]:
        return {number: n.weight for number, n in enumerate(self.neighbours)}

    def links(self, policy: Policy) -> bool:
        """Does the policy need `allow_linkage`, as some match for its Y uses a column that is not in X (D5)?"""
        sold = [self.matches[a] for a in policy.levels if a in self.matches]
        return any(clause.provider not in policy.x for match in sold for clause in match)

    def support_lines(self) -> str:
        """The support-set file (SPEC §5), weights in credits, exactly."""
        lines = [{"ops": list(n.ops), "weight": n.weight / 10**9} for n in self.neighbours]
        return "".join(json.dumps(line) + "\n" for line in lines)


def domain(attribute: str, rows: Rows, trees: Mapping[str, Tree]) -> list[str]:
    """The ground values that a sold or Y cell may have: the tree's, or, without one, those of the column."""
    if attribute in trees:
        return sorted(trees[attribute].base(trees[attribute].root))
    return sorted({str(row[attribute]) for row in rows})


def values_at(attribute: str, level: int, rows: Rows, trees: Mapping[str, Tree]) -> int:
    return len({tree_of(attribute, trees).generalize(v, level) for v in domain(attribute, rows, trees)})


# ---- the parts ----------------------------------------------------------------------------------------------------


def _often(usual: list[Any], rare: list[Any]) -> st.SearchStrategy[Any]:
    """A rare one is drawn about once in twelve times."""
    return st.sampled_from(usual * (12 * len(rare) // len(usual)) + rare)


def _several(tree: Tree) -> bool:
    return len(tree.base(tree.root)) > 1


def hierarchies() -> st.SearchStrategy[Tree]:
    """Two to four levels; labels that stand on several of them, too."""
    return st.builds(Tree, uniform_rows(max_height=3) | tree_rows(max_height=3)).filter(_several)


@st.composite
def _relations(draw: st.DrawFn) -> tuple[list[dict[str, Value]], dict[str, Tree], list[str]]:
    """Rows, trees, and the sensitive columns."""
    columns = draw(st.sampled_from(["GMN", "GHM", "GMNH", "GKM", "GMNHK"]))
    trees = {"M": draw(hierarchies())}
    if "N" in columns and draw(st.booleans()):
        trees["N"] = draw(hierarchies())
    if "H" in columns and draw(st.booleans()):
        trees["H"] = AGES
    if draw(st.booleans()):
        trees["G"] = PLACES
    values: dict[str, st.SearchStrategy[Value]] = {
        "G": _often(["p1", "p2", "q1"], ["zz", None]),
        "H": _often(["1", "2", "3"], ["2.0", None]),
        "K": _often(NAMES, [None]),
        "M": st.sampled_from(domain("M", [], trees)),
        "N": st.sampled_from(domain("N", [], trees) if "N" in trees else ["n1", "n2", "n3"]),
    }
    row = st.fixed_dictionaries({a: values[a] for a in columns})
    first = draw(st.lists(row, min_size=2, max_size=5))
    again = draw(st.lists(st.sampled_from(first), max_size=3))  # duplicates, the same or changed in one column
    rows = first + [r | {a: draw(values[a])} for r in again if (a := draw(st.sampled_from(columns)))]
    return draw(st.permutations(rows)), trees, [a for a in "MN" if a in columns]


def clauses(column: str, trees: Mapping[str, Tree]) -> st.SearchStrategy[Clause]:
    """Ways in which a column is matched; the client may call it by another name."""
    ways: dict[str, list[tuple[str, float]]] = {
        "G": [("=", 0.0), ("compatible", 0.0), ("normalized", 0.0)],
        "H": [("=", 0.0), ("within", 1.0), ("within", 0.0), ("normalized mdy", 0.0)]
        + ([("compatible", 0.0)] if "H" in trees else []),
        "K": [("=", 0.0), ("edit", 0.7), ("jaro_winkler", 0.85), ("qgram", 0.6), ("normalized", 0.0)],
    }
    name = st.sampled_from([column, f"my_{column}"])
    return st.builds(lambda n, how: Clause(n, column, *how), name, st.sampled_from(ways.get(column, [("=", 0.0)])))


@st.composite
def _policies(draw: st.DrawFn, rows: Rows, trees: Mapping[str, Tree], sensitive: list[str]) -> list[Policy]:
    """Mostly one; X may hold a sensitive column, so that a changed value also moves a row to another group."""
    found = []
    for _ in range(draw(_often([1, 1, 2], [0]))):
        y = draw(st.lists(st.sampled_from(sensitive), min_size=1, max_size=2, unique=True))
        free = [a for a in rows[0] if a not in y and (a in "GH" or a in sensitive)]
        x = draw(st.lists(st.sampled_from(free), min_size=1, max_size=2, unique=True))
        levels = {a: draw(st.integers(0, tree_of(a, trees).height - draw(_often([1], [0])))) for a in y}
        most = prod(values_at(a, level, rows, trees) for a, level in levels.items())
        found.append(Policy(tuple(x), levels, min(draw(_often([2, 2, 3], [1])), most)))
    return found


# ---- neighbours ---------------------------------------------------------------------------------------------------


@st.composite
def _neighbours(
    draw: st.DrawFn, rows: Rows, trees: Mapping[str, Tree], sensitive: list[str], sold: list[str]
) -> tuple[Mapping[str, Any], ...]:
    """The operations of one neighbour: up to three things happen to it, or nothing does."""
    ops: list[Mapping[str, Any]] = []
    alive = list(range(len(rows)))
    touchable = sorted({*sensitive, *sold})
    kinds = ["cell", "cell", "cell", "cells", "move", "swap", "insert", "delete", "same"]
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=draw(st.sampled_from([1, 1, 1, 3])))):
        if kind == "insert" or not alive:
            ops.append({"insert": _changed(draw, draw(st.sampled_from(rows)), touchable, rows, trees)})
            continue
        row = draw(st.sampled_from(alive))
        match kind:
            case "cell":
                a = draw(st.sampled_from(touchable))
                others: list[Value] = [v for v in domain(a, rows, trees) if v != rows[row][a]]
                ops.append({"set": row, "values": {a: draw(st.sampled_from(others or [rows[row][a]]))}})
            case "cells":
                for r in draw(st.lists(st.sampled_from(alive), min_size=1, max_size=3)):
                    ops.append({"set": r, "values": _changed(draw, {}, touchable, rows, trees)})
            case "move":
                a = draw(st.sampled_from([c for c in rows[0] if c in "GHK"]))
                there = draw(st.sampled_from(rows))[a]
                new = there if a in sold else draw(st.sampled_from([there, there, "zz", None]))
                ops.append({"set": row, "values": {a: new}})
            case "swap":
                a, other = draw(st.sampled_from(touchable)), draw(st.sampled_from(alive))
                ops.append({"set": row, "values": {a: rows[other][a]}})
                ops.append({"set": other, "values": {a: rows[row][a]}})
            case "delete":
                ops.append({"delete": row})
                alive.remove(row)
            case "same":
                a = draw(st.sampled_from(touchable))
                ops.append({"set": row, "values": {a: rows[row][a]}})
    return tuple(ops)


def _changed(
    draw: st.DrawFn, row: Mapping[str, Value], touchable: list[str], rows: Rows, trees: Mapping[str, Tree]
) -> dict[str, Value]:
    changed = draw(st.sets(st.sampled_from(touchable), min_size=1))
    return {**row, **{a: draw(st.sampled_from(domain(a, rows, trees))) for a in sorted(changed)}}


@st.composite
def _covering(draw: st.DrawFn, world: World) -> list[tuple[Mapping[str, Any], ...]]:
    """For most groups that are short of values, some neighbours in which a row of theirs has others."""
    ops: list[tuple[Mapping[str, Any], ...]] = []
    for number, group in short_groups(world.rows, world.support(), world.policies, world.trees):
        policy = world.policies[number]
        keys = [tuple(tree_of(a, world.trees).key(row[a]) for a in policy.x) for row in world.rows]
        members = [row for row, key in enumerate(keys) if key == group]
        for _ in range(draw(st.integers(policy.k - 1, policy.k + 2))):
            row = draw(st.sampled_from(members))
            values = {a: draw(st.sampled_from(domain(a, world.rows, world.trees))) for a in policy.levels}
            ops.append(({"set": row, "values": values},))
    return ops


def weights() -> st.SearchStrategy[int]:
    return st.sampled_from([100, 100, 200, 400, 800, 1600, 10**8, 0])


# ---- worlds, requests and queries ---------------------------------------------------------------------------------


@st.composite
def worlds(draw: st.DrawFn, max_neighbours: int = 12, max_requests: int = 8) -> World:
    """A provider, and what up to three buyers ask of it."""
    rows, trees, sensitive = draw(_relations())
    sold = draw(st.lists(st.sampled_from(sensitive), min_size=1, max_size=2, unique=True))
    if all(row["G"] in ("p1", "p2", "q1") for row in rows) and draw(st.booleans()):
        sold.append("G")  # what people are grouped by is for sale, too
    policies = draw(_policies(rows, trees, sensitive))
    matches = {}
    for a in sold:
        usable = [c for c in "KHGNM" if c in rows[0] and c != a]
        columns = draw(st.lists(st.sampled_from(usable), min_size=2, max_size=2, unique=True))
        columns = columns[: draw(st.sampled_from([2, 2, 1]))]
        matches[a] = tuple(draw(clauses(c, trees)) for c in columns)
    doctors = [{"G": row["G"], "D": draw(st.sampled_from(["d1", "d2"]))} for row in rows[:2]]
    world = World(rows, trees, matches, policies, [], {"doctors": doctors})
    size = draw(st.sampled_from([*range(max_neighbours, -1, -1)]))
    ops = [draw(_neighbours(rows, trees, sensitive, sold)) for _ in range(size)]
    world.neighbours = [Neighbour(o, draw(weights())) for o in ops]
    if size > 1 and draw(_often([True, True, True, False], [False])):
        world.neighbours += [Neighbour(o, draw(weights())) for o in draw(_covering(world))]
    buyers = st.sampled_from(["ann", "bob", "cyd"][: draw(st.integers(1, 3))])
    world.requests = draw(st.lists(st.tuples(buyers, requests(world)), min_size=1, max_size=max_requests))
    return world


@st.composite
def fragile_worlds(draw: st.DrawFn) -> World:
    """Few groups, each row found by its key, one or two changed cells a row: each sale is safe, all together seldom."""
    trees = {"M": Tree([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"], ["d", "D", "*"]])}
    row = st.fixed_dictionaries({"G": _often(["p1"], ["p2"]), "M": st.sampled_from("abcd")})
    rows = [{"K": str(n), **r} for n, r in enumerate(draw(st.lists(row, min_size=2, max_size=5)))]
    level = draw(st.integers(0, 1))
    policies = [Policy(("G",), {"M": level}, draw(_often([2], [3])))]
    changes = st.tuples(st.sampled_from(range(len(rows))), st.sampled_from("abcd"), weights())
    neighbours = [
        Neighbour(({"set": n, "values": {"M": value}},), weight)
        for n, value, weight in draw(st.lists(changes, min_size=2, max_size=6))
    ]
    world = World(rows, trees, {"M": (Clause("K", "K"),)}, policies, neighbours, {"doctors": [{"G": "p1", "D": "d1"}]})
    asked = st.builds(
        lambda r, at: Request({"K": r["K"]}, "M", at), st.sampled_from(rows), st.sampled_from([0, 0, 0, 1, 2])
    )
    world.requests = draw(st.lists(st.tuples(st.sampled_from(["ann", "bob", "cyd"]), asked), min_size=2, max_size=8))
    return world


@st.composite
def requests(draw: st.DrawFn, world: World) -> Request:
    """Mostly about a row that is there; sometimes with a value that is general, misspelt, unknown or null."""
    attribute = draw(st.sampled_from(sorted(world.matches)))
    row = draw(st.sampled_from(world.rows))
    values = {}
    for clause in world.matches[attribute]:
        value = row[clause.provider]
        if draw(_often([False], [True])):
            tree = tree_of(clause.provider, world.trees)
            strange = ["anna", "annie", "2", "2.00", "P", "zz", "*", None]
            value = draw(st.sampled_from([tree.generalize(value, draw(st.integers(0, tree.height))), *strange]))
        values[clause.client] = value
    height = tree_of(attribute, world.trees).height
    return Request(values, attribute, draw(st.sampled_from([*range(height), *range(height + 1)])))


@dataclass
class Query:
    """A generalized query as it is written, so that others can be made from it."""

    outputs: list[tuple[Column, int]]
    conditions: list[tuple[Column, str, Column | str]]
    sources: list[tuple[str, str]]

    def question(self, world: World) -> Question:
        return query(self.outputs, self.conditions, self.sources, world.trees, world.others)


@st.composite
def queries(draw: st.DrawFn, world: World) -> Query:
    """Over the relation, joined now and then with itself or with one that never changes."""
    names = draw(st.sampled_from([[MAIN], [MAIN], [MAIN, MAIN], [MAIN, "doctors"]]))
    sources = list(zip("pq", names, strict=False))
    tables: dict[str, Rows] = {MAIN: world.rows, **world.others}
    columns = [(alias, a) for alias, name in sources for a in tables[name][0]]
    outputs = [
        ((alias, a), draw(st.integers(0, tree_of(a, world.trees).height)))
        for alias, a in draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3))
    ]
    conditions: list[tuple[Column, str, Column | str]] = []
    if len(sources) > 1:
        conditions.append((("p", "G"), "=", ("q", "G")))
    for alias, a in draw(st.lists(st.sampled_from(columns), max_size=2)):
        constant = draw(st.sampled_from(world.rows)).get(a) or "d1"
        conditions.append(((alias, a), draw(st.sampled_from(["=", "=", *sorted(OPERATORS)])), constant))
    return Query(outputs, conditions, sources)


@st.composite
def determined_pairs(draw: st.DrawFn, world: World) -> tuple[Question, Question]:
    """Two questions, the first of which determines the second over every instance."""
    whole, other = draw(queries(world)), draw(queries(world))
    one, two = whole.question(world), other.question(world)
    kind = draw(st.sampled_from(["same", "coarser", "projection", "selection", "part", "product"]))
    match kind:
        case "coarser":
            coarser = [
                (column, draw(st.integers(level, tree_of(column[1], world.trees).height)))
                for column, level in whole.outputs
            ]
            return one, Query(coarser, whole.conditions, whole.sources).question(world)
        case "projection":
            fewer = draw(st.lists(st.sampled_from(whole.outputs), min_size=1, max_size=3))
            return one, Query(fewer, whole.conditions, whole.sources).question(world)
        case "selection":  # on an output at ground level
            column, _ = draw(st.sampled_from(whole.outputs))
            ground = Query([*whole.outputs, (column, 0)], whole.conditions, whole.sources)
            constant = draw(st.sampled_from(["p1", "2", "n1", *domain("M", world.rows, world.trees)]))
            sign = draw(st.sampled_from(sorted(OPERATORS)))
            selected = Query(ground.outputs, [*ground.conditions, (column, sign, constant)], ground.sources)
            return ground.question(world), selected.question(world)
        case "part":
            return bundle(one, two), draw(st.sampled_from([one, two]))
        case "product":
            return bundle(one, two), lambda instance: {(a, b) for a in one(instance) for b in two(instance)}
        case _:
            return one, one
