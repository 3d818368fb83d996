"""The gate: whatever two buyers do, all that is free is a function of what is public.

Two private relations that fit the same public inputs, in any order of rows, must give the same bytes once the value in
a paid answer is masked. The paper's quotes do not pass; that is the control.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from engines import Roomless
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from lanes import many_examples
from oracles import criteria as literal
from oracles.bridge import to_hierarchy
from oracles.sealed_market import Rule, SealedMarket
from oracles.strategies import criteria, tree_rows
from oracles.tree import Tree

import pacas
from pacas.core.component import Component
from pacas.core.criteria.criterion import Criterion
from pacas.core.criteria.named import criterion_named
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.possible import blocks_left, least_left
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders
from pacas.provider.ledger.ledger import MemoryLedger
from pacas.provider.quoter.declared import DeclaredDependency, Sealing, components_of
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_view import SALT, Reserve
from pacas.provider.sealed.held_cells import HeldCells
from pacas.provider.sealed.sales import SealedSales
from pacas.provider.sealed.shop import SealedShop

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
    reserve: Reserve = Reserve.FIXED
    apart: bool = False
    """Whether the second of two providers has no room for its index, which stays on the engine."""

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
            told = [dict(zip("AB", values, strict=True)) for values in self.dictionaries["z0"]]
            declared.append(DeclaredDependency(FunctionalDependency(("A",), "B"), tuple(told)))
        if self.tied:
            declared += [DeclaredDependency(FunctionalDependency(("Z",), a)) for a in "AB"]
        columns = {name: list(column) for name, column in zip("KXZ", zip(*self.rows, strict=True), strict=True)}
        registry = Relation.of(pa.table(columns)) if self.listed else None
        return Sealing(declared, reserve=self.reserve, registry=registry)


class Private(NamedTuple):
    """The values behind each row, or behind each Z where that determines them, and the order of the file."""

    values: list[tuple[str, ...]]
    order: list[int]
    """Of the rows that are in the relation."""


Case = tuple[Inputs, Private, Private]


@st.composite
def inputs(draw: st.DrawFn) -> Inputs:
    trees = tree_rows(max_height=2).map(
        lambda rows: to_hierarchy(Tree([[_lengthened(v) for v in row] for row in rows]))
    )
    hierarchies = {a: draw(trees.filter(lambda tree: len(tree.ground_labels) >= 2)) for a in "AB"}
    keys = st.integers(0, draw(st.sampled_from([2, 30]))).map("k{}".format)
    rows = draw(st.lists(st.tuples(keys, _one_of("x", 2), _one_of("z", 3)), min_size=1, max_size=8))
    every = [*product(*(h.ground_labels for h in hierarchies.values()))]
    given = draw(st.booleans())
    listed = st.lists(st.sampled_from(every), min_size=2, max_size=5, unique_by=lambda values: values[0])
    first = draw(listed)
    dictionaries = {z: draw(listed) if given and z != "z0" else first for z in ("z0", "z1", "z2")}
    linked = draw(st.sampled_from([None, dictionaries]))
    policies = []
    for y in draw(st.lists(st.sampled_from("AB"), max_size=2, unique=True)):
        domains = [_values(domain, y) for domain in ([every] if linked is None else linked.values())]
        criterion = criterion_named(*draw(st.just(("distinct", {"k": "2"})) | criteria()))
        if all(literal.holds(criterion.name, criterion.parameters, found, found) for found in domains):
            keep, scope = draw(st.integers(1, 2)), draw(st.sampled_from(["group", "group", "row"]))
            policies.append(pacas.Policy(("X",), (y,), {y: 0}, 2, True, keep, scope, criterion))
    tied = draw(st.booleans())
    is_listed = not tied and all(policy.scope == "group" for policy in policies)
    operation = st.builds(
        Operation, st.sampled_from("uv"), st.booleans(), st.sampled_from("AB"), keys, st.integers(0, 2)
    )
    return Inputs(
        rows,
        hierarchies,
        policies,
        linked,
        given,
        tied,
        draw(st.lists(operation, max_size=8)),
        is_listed and draw(st.booleans()),
        draw(st.sampled_from(Reserve)),
        draw(st.sampled_from([False] * 9 + [True])),
    )


def _values(possible: Iterable[tuple[str, ...]], y: str) -> Counter[tuple[str | None, ...]]:
    """How likely each value of an attribute is, where tuples are possible, all alike."""
    return Counter((values["AB".index(y)],) for values in possible)


def _lengthened(label: str) -> str:
    """Labels of several lengths: who sees the length of one learns something."""
    return label if label == "*" else label + '"é' * (int(label[1:]) % 3)


def _one_of(letter: str, count: int) -> st.SearchStrategy[str]:
    return st.integers(0, count - 1).map((letter + "{}").format)


@st.composite
def privates(draw: st.DrawFn, public: Inputs) -> Private:
    units = sorted({row[2] for row in public.rows}) if public.tied else [row[2] for row in public.rows]
    values = [draw(st.sampled_from(public.domain(z))) for z in units]
    present = draw(st.integers(1, len(public.rows))) if public.listed else len(public.rows)
    return Private(values, draw(st.permutations(range(len(public.rows))))[:present])


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
        **{"engine": ENGINE} | how,
    )


def transcript(public: Inputs, provider: pacas.Provider, of: str = "uv") -> bytes:
    """All that some buyers are told, as bytes; of a paid answer everything but the value."""
    told: list[Any] = []
    keys = [*sorted({row[0] for row in public.rows}), "nobody"]
    for number, (buyer, pays, attribute, key, level) in enumerate(public.operations):
        height = public.hierarchies[attribute].height
        request = pacas.Request({"K": key}, attribute, min(level, height))
        if pays:
            sold = provider.pay(request, 10**15, f"{number}", buyer=buyer)
            said: Any = ["sold", sold.level, sold.price] if isinstance(sold, Answer) else str(sold)
        else:
            said = str(provider.quote(request, buyer=buyer))
        if buyer in of:
            told.append(said)
            told += [provider.quote_batch(a, {"K": keys}, buyer=buyer).prices.tolist() for a in "AB"]
    told += [[repr(offer) for offer in provider.catalogue().values()], provider.shop.fingerprint()]
    return json.dumps(told).encode()


# ---- what must never be found -----------------------------------------------------------------------------------


def is_told_apart(public: Inputs, one: Private, other: Private) -> bool:
    """Do two relations that fit what is public give different bytes?"""
    engines = (ENGINE, ROOMLESS if public.apart else ENGINE)
    said = [
        transcript(public, opened(public, private, sealing=public.sealing, engine=engine))
        for private, engine in zip((one, other), engines, strict=True)
    ]
    return said[0] != said[1]


def sees_others(public: Inputs, private: Private, _: Private) -> bool:
    """Is a buyer told something else when another buyer has bought nothing?"""
    alone = public._replace(operations=[one for one in public.operations if one.buyer == "u"])
    said = [transcript(inputs, opened(public, private, sealing=public.sealing), of="u") for inputs in (public, alone)]
    return said[0] != said[1]


def breaks_a_policy(public: Inputs, private: Private, _: Private) -> bool:
    """By the literal definition: does all that is for sale, bought and pooled, leave an X-group too few protected rows?

    Who pools it knows the index, the dictionary and the dependencies, and so which tuples are possible for each row.
    """
    provider = opened(public, private, sealing=public.sealing)
    rows = [(row[0], row[1], row[2] if public.tied else str(number)) for number, row in enumerate(public.rows)]
    before = {tie: public.domain(row[2]) for row, (_, _, tie) in zip(public.rows, rows, strict=True)}
    possible = {tie: set(domain) for tie, domain in before.items()}
    keys = sorted({key for key, _, _ in rows})
    for attribute, key, level in product("AB", keys, range(max(h.height for h in public.hierarchies.values()) + 1)):
        hierarchy, at = public.hierarchies[attribute], "AB".index(attribute)
        if level < hierarchy.height + public.listed:
            sold = provider.pay(pacas.Request({"K": key}, attribute, level), 10**15, f"{attribute}{key}{level}")
            if isinstance(sold, Answer):
                for tie in {tie for found, _, tie in rows if found == key}:
                    possible[tie] = {v for v in possible[tie] if hierarchy.generalize_value(v[at], level) == sold.value}
    for policy in public.policies:
        (y,), must = policy.y, policy.must_hold
        for x in {x for _, x, _ in rows}:
            left = [(_values(possible[tie], y), _values(before[tie], y)) for _, found, tie in rows if found == x]
            kept = sum(bool(now) and literal.holds(must.name, must.parameters, now, all_) for now, all_ in left)
            if kept < (len(left) if policy.scope == "row" else min(policy.keep, len(left))):
                return True
    return False


CASES = inputs().flatmap(lambda public: st.tuples(st.just(public), privates(public), privates(public)))
GATE = many_examples(1000, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=3000, suppress_health_check=list(HealthCheck), database=None, phases=[Phase.generate])


@GATE
@given(CASES)
def test_all_that_is_free_is_a_function_of_what_is_public(case: Case) -> None:
    assert not is_told_apart(*case)


@GATE
@given(CASES.filter(lambda case: case[0].reserve is Reserve.FIXED))
def test_a_buyer_is_told_nothing_of_what_others_buy(case: Case) -> None:
    assert not sees_others(*case)


@GATE
@given(CASES)
def test_whatever_is_bought_leaves_every_group_enough(case: Case) -> None:
    assert not breaks_a_policy(*case)


# ---- the literal market -----------------------------------------------------------------------------------------


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
        last=public.reserve is Reserve.LAST,
        listed=public.listed,
        salt=SALT,
    )


@GATE
@given(CASES)
def test_what_is_refused_and_sold_is_what_the_definitions_say(case: Case) -> None:
    """Prices to the nanocredit, refusals and their reasons, before and after what two buyers do."""
    public, private, _ = case
    provider, literally = opened(public, private, sealing=public.sealing), literal_market(public)
    keys = [*sorted({row[0] for row in public.rows}), "nobody"]

    def compare() -> None:
        for buyer, attribute in product("uv", "AB"):
            ladders = provider.quote_batch(attribute, {"K": keys}, buyer=buyer)
            told = [
                [q.price if isinstance(q, pacas.Quote) else q.reason.value for q in ladder]
                for ladder in map(ladders.__getitem__, range(len(keys)))
            ]
            levels = range(public.hierarchies[attribute].height + 1)
            assert told == [[literally.quote(key, attribute, level, buyer) for level in levels] for key in keys]

    compare()
    for number, (buyer, _, attribute, key, level) in enumerate(public.operations):
        at = min(level, public.hierarchies[attribute].height)
        sold = provider.pay(pacas.Request({"K": key}, attribute, at), 10**15, f"{number}", buyer=buyer)
        told = sold.price if isinstance(sold, Answer) else sold.reason.value
        assert told == literally.buy(key, attribute, at, buyer)
    compare()


# ---- mutants, each of which one of these must find --------------------------------------------------------------


def _cells(shop: SealedShop) -> HeldCells:
    assert isinstance(shop._private, HeldCells)
    return shop._private


def _price_looks_at_the_value(patch: pytest.MonkeyPatch) -> None:
    honest = SealedShop.ladders

    def ladders(self: SealedShop, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        told = honest(self, attribute, tuples, buyer)
        return Ladders(told.prices + (told.prices > 0) * int(_cells(self).columns[attribute].cells.sum()))

    patch.setattr(SealedShop, "ladders", ladders)


def _the_files_order_decides(patch: pytest.MonkeyPatch) -> None:
    by_row = "pacas.provider.quoter.quoter.public_draw"
    patch.setattr(by_row, lambda salt, index, units: lambda of: units.first_rows[of].astype(np.uint64))


def _the_first_row_has_the_rest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("pacas.provider.quoter.quoter.row_with_the_rest", lambda view: 0)


def _nobody_is_reserved(patch: pytest.MonkeyPatch) -> None:
    nobody = "pacas.provider.quoter.quoter.reserved_units"
    patch.setattr(nobody, lambda group, unit, keep, draw, unsold: np.zeros(unit.max() + 1, dtype=np.bool_))
    patch.setattr("pacas.provider.quoter.open_rows.OpenRows._leaves_enough", lambda *_: True)


def _dependencies_are_not_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "pacas.provider.sealed.opening.components_of",
        lambda names, trees, _, prior: components_of(names, trees, (), prior),
    )


def _public_values_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LinkedAttributes, "case_of_rows", lambda self, index: np.zeros(index.rows, dtype=np.int64))
    patch.setattr("pacas.provider.sealed.held_cells.check_tuples", lambda *_: None)


def _who_is_there_is_seen(patch: pytest.MonkeyPatch) -> None:
    honest = SealedShop.ladders

    def ladders(self: SealedShop, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        told = honest(self, attribute, tuples, buyer)
        members = _cells(self).members
        if members is not None:
            absent = np.flatnonzero(members < 0)
            quoter = next(self.quoters.by_group(1, 0))
            told.prices[np.isin(quoter.finders[attribute].find(tuples).units, absent)] += 1
        return told

    patch.setattr(SealedShop, "ladders", ladders)


def _an_absent_person_has_some_value(patch: pytest.MonkeyPatch) -> None:
    def present(component: Component, protected: dict[str, int], criterion: Criterion) -> np.ndarray:
        return least_left(replace(component, last_is_absent=False, labels=()), protected, criterion)

    patch.setattr("pacas.provider.quoter.guard.least_left", present)
    patch.setattr(LinkedAttributes, "may_be_absent", False)


def _best_case_instead_of_worst(patch: pytest.MonkeyPatch) -> None:
    def most_left(component: Component, protected: dict[str, int], _: Criterion) -> np.ndarray:
        most = np.ones(component.shape, dtype=np.int64)
        for vector in component.vectors():
            left = blocks_left(component, vector, protected)
            most[vector] = np.bincount(left.group).max()
        return most

    patch.setattr("pacas.provider.quoter.guard.least_left", most_left)


def _one_answer_is_enough(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Criterion, "left", lambda self, histogram: int(self.holds(histogram).any()))


def _others_purchases_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SealedSales, "bought", lambda self, buyer: self.pooled)


@pytest.mark.parametrize(
    ("mutate", "finds"),
    [
        (_price_looks_at_the_value, is_told_apart),
        (_the_files_order_decides, is_told_apart),
        (_the_first_row_has_the_rest, is_told_apart),
        (_nobody_is_reserved, breaks_a_policy),
        (_dependencies_are_not_counted, breaks_a_policy),
        (_public_values_do_not_count, breaks_a_policy),
        (_who_is_there_is_seen, is_told_apart),
        (_an_absent_person_has_some_value, breaks_a_policy),
        (_best_case_instead_of_worst, breaks_a_policy),
        (_one_answer_is_enough, breaks_a_policy),
        (_others_purchases_count, sees_others),
    ],
)
def test_a_mutant_is_caught(
    mutate: Callable[[pytest.MonkeyPatch], None], finds: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert find(CASES.filter(lambda case: not case[0].apart), lambda case: finds(*case), settings=MANY)


def test_the_papers_quotes_do_not_pass() -> None:
    """The control: two relations that a free question tells apart are found soon."""

    def told_apart(case: Case) -> bool:
        public, one, other = case
        if (
            public.dictionaries
            or public.tied
            or public.listed
            or len({row[0] for row in public.rows}) < len(public.rows)
        ):
            return False
        keys = {"K": [row[0] for row in public.rows]}
        try:
            made = [opened(public, private, seed=7) for private in (one, other)]
        except InputError:
            return False
        said = [[provider.quote_batch(a, keys).prices.tolist() for a in "AB"] for provider in made]
        return said[0] != said[1]

    assert find(CASES, told_apart, settings=MANY)


@pytest.mark.parametrize("seed", range(3))
def test_a_restarted_provider_goes_on(seed: int) -> None:
    """What was bought before counts after: prices, charges and answers are those of a provider that never stopped."""
    hierarchy = Hierarchy.from_rows([(f"v{i}", f"f{i % 2}", "*") for i in range(6)])
    rows = pa.table({"K": [f"k{i}" for i in range(6)], "X": ["x0"] * 6, "A": [f"v{(i + seed) % 6}" for i in range(6)]})
    ledger = MemoryLedger()
    policy = pacas.Policy(("X",), ("A",), {"A": 0}, 2, True)

    def provider() -> pacas.Provider:
        return pacas.Provider(
            rows,
            match={"A": "K = K"},
            policies=[policy],
            hierarchies={"A": hierarchy},
            total=1,
            sealing=Sealing(),
            ledger=ledger,
            engine=ENGINE,
        )

    first = provider()
    sold = [first.pay(pacas.Request({"K": f"k{i}"}, "A", 1), 10**9, f"p{i}") for i in range(6)]
    again = provider()
    keys = {"K": [f"k{i}" for i in range(6)]}
    assert again.quote_batch("A", keys).prices.tolist() == first.quote_batch("A", keys).prices.tolist()
    assert [again.pay(pacas.Request({"K": f"k{i}"}, "A", 1), 0, f"p{i}") for i in range(6)] == sold
