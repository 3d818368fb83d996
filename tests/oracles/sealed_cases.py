"""Random cases of sealed quotes: what is public, two private relations that fit it, and what two buyers do.

Two attributes A and B are sold, found by K; policies protect one of them in the groups of X; Z may say which tuples are
possible, or determine both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count, product
from math import prod
from typing import Any, NamedTuple

import pyarrow as pa
from engines import Roomless
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from lanes import many_examples

import pacas
from oracles import criteria as literal
from oracles.sealed_market import Rule, SealedMarket, likely
from oracles.strategies import criteria
from oracles.tree import Tree
from pacas.core.criteria.named import criterion_named
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.core.sealed.coverage import NeighbourSpread
from pacas.engine.duck.engine import DuckEngine
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.quoter.public_view import SALT, Reserve

ENGINE, ROOMLESS = DuckEngine(threads=1), Roomless()
MATCH = {"A": "K = K", "B": "K = K"}
TOTAL = 1000


class Operation(NamedTuple):
    buyer: str
    pays: bool
    attribute: str
    key: str
    level: int


class Inputs(NamedTuple):
    """What is public: rows of (K, X, Z), hierarchies, policies, how quotes are sealed."""

    rows: list[tuple[str, str, str]]
    hierarchies: dict[str, Hierarchy]
    policies: list[pacas.Policy]
    dictionaries: dict[str, list[tuple[str, ...]]] | None
    """The tuples of (A, B) that go with each Z; `given` says whether Z is on the left side of the dependency."""
    given: bool
    tied: bool
    operations: list[Operation]
    listed: bool
    """Whether the rows are a registry, of which the relation has some; which, and how many, is private."""
    reserve: Reserve
    apart: bool
    """Whether the second of two providers has no room for its index, which stays on the engine."""
    spread: NeighbourSpread
    sensitivity: dict[str, int]
    prior: dict[str, dict[str, int]]
    """Per attribute how often values are believed to occur; only where no dictionary says what is possible."""

    def domain(self, z: str) -> list[tuple[str, ...]]:
        """What is possible for a row."""
        if self.dictionaries is None:
            return [*product(*(self.hierarchies[a].ground_labels for a in "AB"))]
        return self.dictionaries[z]

    @property
    def sealing(self) -> Sealing:
        declared = []
        if self.dictionaries and self.given:
            told = [dict(zip("ZAB", (z, *v), strict=True)) for z, listed in self.dictionaries.items() for v in listed]
            declared.append(DeclaredDependency(FunctionalDependency(("Z", "A"), "B"), tuple(told)))
        elif self.dictionaries:
            told = [dict(zip("AB", values, strict=True)) for values in next(iter(self.dictionaries.values()))]
            declared.append(DeclaredDependency(FunctionalDependency(("A",), "B"), tuple(told)))
        if self.tied:
            declared += [DeclaredDependency(FunctionalDependency(("Z",), a)) for a in "AB"]
        columns = {name: list(column) for name, column in zip("KXZ", zip(*self.rows, strict=True), strict=True)}
        registry = Relation.of(pa.table(columns)) if self.listed else None
        return Sealing(declared, self.prior, spread=self.spread, reserve=self.reserve, registry=registry)

    def weigh(self, possible: Iterable[tuple[str, ...]], y: str) -> Counter[tuple[str | None, ...]]:
        """How likely each value of an attribute is, where tuples are possible."""
        return values_of(possible, y, self.prior)


class Private(NamedTuple):
    """The values behind each row, or behind each Z where that determines them, and the order of the file."""

    values: list[tuple[str, ...]]
    order: list[int]
    """Of the rows that are in the relation."""


Case = tuple[Inputs, Private, Private]


@st.composite
def inputs(draw: st.DrawFn) -> Inputs:
    hierarchies = {a: draw(TREES) for a in "AB"}
    drawn = _drawn(draw(st.sampled_from([2, 30])))
    rows = draw(drawn.rows)
    every = [*product(*(h.ground_labels for h in hierarchies.values()))]
    given, tied = draw(st.booleans()), draw(st.booleans())
    linked = None
    if draw(st.booleans()):
        listed = st.lists(st.sampled_from(every), min_size=2, max_size=5, unique_by=lambda values: values[0])
        first = draw(listed)
        linked = {z: draw(listed) if given and z != "z0" else first for z in ("z0", "z1", "z2")}
    steps = {a: draw(st.integers(0, 3)) for a in ("" if linked else "AB")}
    prior = {a: _frequencies(hierarchies[a], step) for a, step in steps.items() if step}
    policies = []
    for y in draw(st.sampled_from(["", "A", "B", "AB", "BA"])):
        domains = [values_of(domain, y, prior) for domain in ([every] if linked is None else linked.values())]
        (name, parameters), keep, scope = draw(RULES)
        criterion = criterion_named(name, parameters)
        if all(literal.holds(criterion.name, criterion.parameters, found, found) for found in domains):
            policies.append(pacas.Policy(("X",), (y,), {y: 0}, 2, True, keep, scope, criterion))
    is_listed = not tied and all(policy.scope == "group" for policy in policies)
    return Inputs(
        rows,
        hierarchies,
        policies,
        linked,
        given,
        tied,
        draw(drawn.operations),
        is_listed and draw(st.booleans()),
        draw(st.sampled_from(Reserve)),
        draw(st.sampled_from([False] * 19 + [True])),
        draw(st.sampled_from(NeighbourSpread)),
        draw(st.sampled_from([{}, {"A": 3}, {"A": 1, "B": 2}])),
        prior,
    )


class Drawn(NamedTuple):
    """What is drawn of rows with so many keys, one choice each: choices are what drawing costs."""

    rows: st.SearchStrategy[list[tuple[str, str, str]]]
    operations: st.SearchStrategy[list[Operation]]


@cache
def _drawn(most: int) -> Drawn:
    keys = [f"k{number}" for number in range(most + 1)]
    rows = st.sampled_from([*product(keys, ("x0", "x1"), ("z0", "z1", "z2"))])
    operations = st.sampled_from([Operation(*one) for one in product("uv", (False, True), "AB", keys, range(3))])
    return Drawn(st.lists(rows, min_size=1, max_size=8), st.lists(operations, max_size=8))


Rows = list[list[str]]


def _trees(children: int) -> Iterator[Rows]:
    """All trees of two levels whose root has so many children, each with one to three; the first child of a node may
    have its name."""
    nodes = product(product((False, True), (1, 2, 3)), repeat=children)
    for root_repeats, below in product((False, True), nodes):
        number, rows = count(), []
        for child, (repeats, leaves) in enumerate(below):
            name = "*" if root_repeats and not child else f"v{next(number)}"
            rows += [[name if repeats and not leaf else f"v{next(number)}", name, "*"] for leaf in range(leaves)]
        yield rows


def _of_two_values(trees: Iterable[Rows]) -> st.SearchStrategy[Hierarchy]:
    lengthened = ([[_lengthened(label) for label in row] for row in rows] for rows in trees)
    made = [Hierarchy.from_rows(rows) for rows in lengthened if any(row[0] != "*" for row in rows)]
    return st.sampled_from([tree for tree in made if len(tree.ground_labels) >= 2])


def _frequencies(tree: Hierarchy, step: int) -> dict[str, int]:
    """Some numbers for some values: what is left out, or said never to occur, counts as one."""
    return {value: number * step % 5 for number, value in enumerate(tree.ground_labels) if number * step % 5 != 3}


def values_of(
    possible: Iterable[tuple[str, ...]], y: str, prior: dict[str, dict[str, int]]
) -> Counter[tuple[str | None, ...]]:
    """How likely each value of an attribute is, where tuples are possible."""
    found: Counter[tuple[str | None, ...]] = Counter()
    for values in possible:
        found[(values["AB".index(y)],)] += prod(likely(prior, a, v) for a, v in zip("AB", values, strict=True))
    return found


def _lengthened(label: str) -> str:
    """Labels of several lengths: who sees the length of one learns something."""
    return label if label == "*" else label + '"é' * (int(label[1:]) % 3)


@st.composite
def privates(draw: st.DrawFn, public: Inputs) -> Private:
    units = sorted({row[2] for row in public.rows}) if public.tied else [row[2] for row in public.rows]
    values = [draw(st.sampled_from(public.domain(z))) for z in units]
    present = draw(st.integers(1, len(public.rows))) if public.listed else len(public.rows)
    return Private(values, draw(_orders(len(public.rows)))[:present])


@cache
def _orders(rows: int) -> st.SearchStrategy[list[int]]:
    return st.permutations(range(rows))


def table(public: Inputs, private: Private) -> pa.Table:
    named = sorted({row[2] for row in public.rows})
    lines = []
    for number in private.order:
        k, x, z = public.rows[number]
        a, b = private.values[named.index(z) if public.tied else number]
        lines.append((k, x, z, a, b))
    return pa.table({name: pa.array(column) for name, column in zip("KXZAB", zip(*lines, strict=True), strict=True)})


def opened(public: Inputs, private: Private, **how: Any) -> pacas.Provider:
    return pacas.Provider(
        table(public, private),
        match=MATCH,
        policies=public.policies,
        hierarchies=public.hierarchies,
        total=TOTAL,
        sensitivity=public.sensitivity,
        **{"engine": ENGINE} | how,
    )


FLAT = [[[f"v{number}", "*"] for number in range(leaves)] for leaves in (2, 3)]
TREES = st.one_of(*(_of_two_values(trees) for trees in (FLAT, *map(_trees, (1, 2, 3)))))
RULES = st.tuples(
    st.just(("distinct", {"k": "2"})) | criteria(), st.sampled_from([1, 2]), st.sampled_from(["group", "group", "row"])
)
CASES = inputs().flatmap(lambda public: st.tuples(st.just(public), privates(public), privates(public)))
GATE = many_examples(2000, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=3000, suppress_health_check=list(HealthCheck), database=None, phases=[Phase.generate])


def literal_market(public: Inputs) -> SealedMarket:
    rules = []
    for policy in public.policies:
        (y,), must = policy.y, policy.must_hold
        rules.append(Rule(y, must.name, must.parameters, policy.keep, policy.scope))
    return SealedMarket(
        public.rows,
        {a: Tree([list(row) for row in tree.rows()]) for a, tree in public.hierarchies.items()},
        public.domain,
        linked=public.dictionaries is not None,
        by_z=public.dictionaries is not None and public.given,
        tied=public.tied,
        rules=rules,
        total=TOTAL * 10**9,
        spread=public.spread.value,
        sensitivity=public.sensitivity,
        prior=public.prior,
        last=public.reserve is Reserve.LAST,
        listed=public.listed,
        salt=SALT,
    )
