"""The provider's side (§5, Alg. 1 and 2, D4, D7, D8), one instance after the other.

An instance is a list of rows. A question is a function from an instance to its answers: a generalized query, a request
of a client, or a bundle of several. A neighbour is the operations that make it from R, and its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from oracles.anonymity import answers, linked_tuples, x_group
from oracles.cleaning import Row, tree_of
from oracles.matching import Match, matching_rows
from oracles.queries import Column, evaluate
from oracles.tree import Tree, Value

MAIN = "relation"
"""The name of the relation that has neighbours; no other relation ever changes."""

UNSAFE = inf

Rows = Sequence[Row]
Question = Callable[[Rows], Any]
Support = Mapping[int, Rows]
"""Instances by their number; a history takes some away, and the others keep their numbers."""


# ---- neighbours ---------------------------------------------------------------------------------------------------


class Neighbour(NamedTuple):
    """`{"set": row, "values": {…}}`, `{"delete": row}`, `{"insert": {…}}`, in order; and what it weighs."""

    ops: tuple[Mapping[str, Any], ...]
    weight: int


def materialise(rows: Rows, ops: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The instance that the operations make of R.

    Rows keep R's numbers, also after a deletion; no operation can name an inserted row, and naming a deleted one is a
    mistake. What an insertion leaves out is null.
    """
    columns = list(rows[0])
    kept = {number: dict(row) for number, row in enumerate(rows)}
    inserted: list[Row] = []
    for op in ops:
        values = op.get("values", op.get("insert", {}))
        if not set(values) <= set(columns):
            raise ValueError("no such column")
        if "set" in op:
            kept[op["set"]].update(values)
        elif "delete" in op:
            del kept[op["delete"]]
        else:
            inserted.append({a: values.get(a) for a in columns})
    return [*kept.values(), *inserted]


# ---- questions ----------------------------------------------------------------------------------------------------


def query(
    outputs: Sequence[tuple[Column, int]],
    conditions: Sequence[tuple[Column, str, Column | str]],
    sources: Sequence[tuple[str, str]],
    trees: Mapping[str, Tree],
    others: Mapping[str, Rows] | None = None,
) -> Question:
    """A generalized query. Sources are (alias, relation); each occurrence of the main one reads the instance."""

    def ask(instance: Rows) -> frozenset[tuple[Value, ...]]:
        relations = {alias: instance if name == MAIN else (others or {})[name] for alias, name in sources}
        return frozenset(evaluate(outputs, conditions, relations, trees))

    return ask


class Request(NamedTuple):
    """(t, A, l): the value of A for the client's tuple t, at level l."""

    values: Mapping[str, Value]
    attribute: str
    level: int


def request_query(request: Request, match: Match, trees: Mapping[str, Tree]) -> Question:
    """Π_A(σ_match(R)) at level l. The match is made anew in each instance."""

    def ask(instance: Rows) -> frozenset[Value]:
        found = matching_rows(match, request.values, instance, trees)
        tree = tree_of(request.attribute, trees)
        return frozenset(tree.generalize(row[request.attribute], request.level) for row in found)

    return ask


def bundle(*questions: Question) -> Question:
    """All answers side by side. (A cross product would tell less: it is empty as soon as one part is.)"""
    return lambda instance: [ask(instance) for ask in questions]


# ---- Alg. 1 and 2 -------------------------------------------------------------------------------------------------


class Policy(NamedTuple):
    """(X, Y, L) with value k. Y is the keys of `levels`, and not empty: Π of nothing never has two answers."""

    x: tuple[str, ...]
    levels: Mapping[str, int]
    k: int


def price(g: Question, r: Rows, s: Support, w: Mapping[int, int]) -> int:
    """Alg. 1: the weight of the instances that the answer rules out."""
    p, truth = 0, g(r)
    for number, t in s.items():
        if g(t) != truth:
            p += w[number]
    return p


def safe_price(
    g: Question, r: Rows, s: Support, w: Mapping[int, int], policies: Sequence[Policy], trees: Mapping[str, Tree]
) -> float:
    """Alg. 2: the price, or infinity if the instances that remain link some tuple of R to fewer than k values."""
    p, s_g, truth = 0, {}, g(r)
    for number, neighbour in s.items():
        if g(neighbour) == truth:
            s_g[number] = neighbour
        else:
            p += w[number]
    for policy in policies:
        for t in linked_tuples(r, policy.x):  # a tuple with a null in X is in no X-group: there is nothing to judge
            a: set[tuple[Value, ...]] = set()
            for instance in s_g.values():
                a |= linked_values(t, instance, policy, trees)
            if len(a) < policy.k:
                return UNSAFE
    return p


def linked_values(t: Row, instance: Rows, policy: Policy, trees: Mapping[str, Tree]) -> set[tuple[Value, ...]]:
    """Gᵗ(R'') = ⟨Π_Y(σ_{X = t[X]}(R'')), L⟩."""
    return set(answers(x_group(instance, t, policy.x, trees), policy.levels, trees))


def admissible(g: Question, r: Rows, s: Support) -> dict[int, Rows]:
    """S_G: the instances that answer as R does. R itself is not one of them."""
    truth = g(r)
    return {number: t for number, t in s.items() if g(t) == truth}


def short_groups(
    r: Rows, s: Support, policies: Sequence[Policy], trees: Mapping[str, Tree]
) -> dict[tuple[int, tuple[Value, ...]], int]:
    """(policy, X-group) -> its values at L over all of S, wherever they are fewer than k.

    On the untouched support set these are the groups that a covering generation has to fill (D7); on S_G the query is
    safe iff there are none.
    """
    return {
        (number, group): shown
        for number, policy in enumerate(policies)
        for group, shown in shown_values(r, s, policy, trees).items()
        if shown < policy.k
    }


def shown_values(r: Rows, s: Support, policy: Policy, trees: Mapping[str, Tree]) -> dict[tuple[Value, ...], int]:
    """X-group -> how many values at L it shows over all of S."""
    return {
        tuple(tree_of(a, trees).key(t[a]) for a in policy.x): len(
            set().union(*(linked_values(t, instance, policy, trees) for instance in s.values()))
        )
        for t in linked_tuples(r, policy.x)
    }


# ---- a provider ---------------------------------------------------------------------------------------------------


class Purchase(NamedTuple):
    price: int
    answer: Any


class LiteralProvider:
    """Quotes and sells. A quote is a price (int) or the reason of a refusal (str); so is a purchase.

    What is asked is a Request, or any other question, which is priced without the checks of D4.
    """

    def __init__(
        self,
        rows: Rows,
        trees: Mapping[str, Tree],
        matches: Mapping[str, Match],
        policies: Sequence[Policy],
        neighbours: Sequence[Neighbour],
        *,
        max_matches: int = 1000,
        per_buyer: bool = False,
    ) -> None:
        self.rows, self.trees, self.matches, self.policies = rows, trees, matches, policies
        self.support: dict[int, Rows] = {number: materialise(rows, n.ops) for number, n in enumerate(neighbours)}
        self.weights = {number: n.weight for number, n in enumerate(neighbours)}
        self.total = sum(self.weights.values())
        self.max_matches, self.per_buyer = max_matches, per_buyer
        self.ledger: list[tuple[str, Question, int]] = []
        """(buyer, what was asked, what was paid)"""

    def surviving(self, *buyers: str) -> dict[int, Rows]:
        """The instances that what these buyers bought, pooled, has left. No buyer: all of them, untouched."""
        left = self.support
        for buyer, ask, _ in self.ledger:
            if buyer in buyers:
                left = admissible(ask, self.rows, left)
        return dict(left)

    def surviving_all(self) -> dict[int, Rows]:
        return self.surviving(*{buyer for buyer, _, _ in self.ledger})

    def question(self, what: Request | Question) -> Question:
        if not isinstance(what, Request):
            return what
        if what.attribute not in self.matches or not 0 <= what.level <= tree_of(what.attribute, self.trees).height:
            raise ValueError("bad input")
        return request_query(what, self.matches[what.attribute], self.trees)

    def quote(self, what: Request | Question, buyer: str) -> int | str:
        """AskPrice: no_match, ambiguous, unsafe, or a price; nothing changes."""
        ask = self.question(what)
        if isinstance(what, Request):
            matched = matching_rows(self.matches[what.attribute], what.values, self.rows, self.trees)
            if not matched:
                return "no_match"
            if len(ask(self.rows)) > 1 or len(matched) > self.max_matches:
                return "ambiguous"
        judged = self.surviving(buyer) if self.per_buyer else self.surviving_all()
        if safe_price(ask, self.rows, judged, self.weights, self.policies, self.trees) == UNSAFE:
            return "unsafe"
        return price(ask, self.rows, self.surviving(buyer), self.weights)

    def quote_levels(self, values: Mapping[str, Value], attribute: str, buyer: str) -> list[int | str]:
        """One quote per level, from ground to root."""
        height = tree_of(attribute, self.trees).height
        return [self.quote(Request(values, attribute, level), buyer) for level in range(height + 1)]

    def buy(self, what: Request | Question, buyer: str, ceiling: int | None = None) -> Purchase | str:
        """Pay the price of this moment, if the ceiling allows it; else `ceiling`, or the reason of a refusal."""
        quoted = self.quote(what, buyer)
        if isinstance(quoted, str):
            return quoted
        if ceiling is not None and quoted > ceiling:
            return "ceiling"
        ask = self.question(what)
        self.ledger.append((buyer, ask, quoted))
        answer = ask(self.rows)
        if isinstance(what, Request):
            (answer,) = answer
        return Purchase(quoted, answer)

    def spent(self, *buyers: str) -> int:
        return sum(paid for buyer, _, paid in self.ledger if buyer in buyers)
