"""The gate: whatever two buyers do, all that is free is a function of what is public.

Two private relations that fit the same public inputs, in any order of rows, must give the same bytes once the value in
a paid answer is masked. The paper's quotes do not pass; that is the control.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from oracles.bridge import to_hierarchy
from oracles.strategies import tree_rows
from oracles.tree import Tree

import pacas
from pacas.core.component import Component
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.possible import blocks_left
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders
from pacas.provider.ledger.ledger import MemoryLedger
from pacas.provider.quoter.declared import DeclaredDependency, Sealing, components_of
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.sealed.sales import SealedSales
from pacas.provider.sealed.shop import SealedShop

ENGINE = DuckEngine(threads=1)
MATCH = {"A": "K = K", "B": "K = K"}


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
    dictionary: list[tuple[str, ...]] | None
    tied: bool
    operations: list[Operation]
    reserve: Reserve = Reserve.FIXED

    @property
    def domain(self) -> list[tuple[str, ...]]:
        return self.dictionary or [*product(*(self.hierarchies[a].ground_labels for a in "AB"))]

    @property
    def sealing(self) -> Sealing:
        declared = []
        if self.dictionary:
            told = tuple(dict(zip("AB", values, strict=True)) for values in self.dictionary)
            declared.append(DeclaredDependency(FunctionalDependency(("A",), "B"), told))
        if self.tied:
            declared += [DeclaredDependency(FunctionalDependency(("Z",), a)) for a in "AB"]
        return Sealing(declared, reserve=self.reserve)


class Private(NamedTuple):
    """The values behind each row, or behind each Z where that determines them, and the order of the file."""

    values: list[tuple[str, ...]]
    order: list[int]


Case = tuple[Inputs, Private, Private]


@st.composite
def inputs(draw: st.DrawFn) -> Inputs:
    trees = tree_rows(max_height=2).map(lambda rows: to_hierarchy(Tree(rows)))
    hierarchies = {a: draw(trees.filter(lambda tree: len(tree.ground_labels) >= 2)) for a in "AB"}
    keys = st.integers(0, draw(st.sampled_from([2, 30]))).map("k{}".format)
    rows = draw(st.lists(st.tuples(keys, _one_of("x", 2), _one_of("z", 3)), min_size=1, max_size=8))
    every = [*product(*(h.ground_labels for h in hierarchies.values()))]
    by_a = {values[0]: values for values in draw(st.lists(st.sampled_from(every), min_size=2, max_size=5))}
    dictionary = draw(st.sampled_from([None, list(by_a.values())])) if len(by_a) > 1 else None
    policies = []
    for y in draw(st.lists(st.sampled_from("AB"), max_size=2, unique=True)):
        found = {h[0] for h in dictionary or ()} if y == "A" and dictionary else set(hierarchies[y].ground_labels)
        if dictionary and y == "B":
            found = {h[1] for h in dictionary}
        if len(found) >= 2:
            policies.append(pacas.Policy(("X",), (y,), {y: 0}, 2, True, draw(st.integers(1, 2))))
    operation = st.builds(
        Operation, st.sampled_from("uv"), st.booleans(), st.sampled_from("AB"), keys, st.integers(0, 2)
    )
    return Inputs(
        rows,
        hierarchies,
        policies,
        dictionary,
        draw(st.booleans()),
        draw(st.lists(operation, max_size=8)),
        draw(st.sampled_from(Reserve)),
    )


def _one_of(letter: str, count: int) -> st.SearchStrategy[str]:
    return st.integers(0, count - 1).map((letter + "{}").format)


@st.composite
def privates(draw: st.DrawFn, public: Inputs) -> Private:
    units = len({row[2] for row in public.rows}) if public.tied else len(public.rows)
    values = draw(st.lists(st.sampled_from(public.domain), min_size=units, max_size=units))
    return Private(values, draw(st.permutations(range(len(public.rows)))))


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
        total=1000,
        engine=ENGINE,
        **how,
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
    said = [transcript(public, opened(public, private, sealing=public.sealing)) for private in (one, other)]
    return said[0] != said[1]


def sees_others(public: Inputs, private: Private, _: Private) -> bool:
    """Is a buyer told something else when another buyer has bought nothing?"""
    alone = public._replace(operations=[one for one in public.operations if one.buyer == "u"])
    said = [transcript(inputs, opened(public, private, sealing=public.sealing), of="u") for inputs in (public, alone)]
    return said[0] != said[1]


def breaks_a_policy(public: Inputs, private: Private, _: Private) -> bool:
    """By the literal definition: does all that is for sale, bought and pooled, leave an X-group fewer than k values?

    Who pools it knows the index, the dictionary and the dependencies, and so which tuples are possible for each row.
    """
    provider = opened(public, private, sealing=public.sealing)
    rows = [(row[0], row[1], row[2] if public.tied else str(number)) for number, row in enumerate(public.rows)]
    possible = {tie: set(public.domain) for _, _, tie in rows}
    keys = sorted({key for key, _, _ in rows})
    for attribute, key, level in product("AB", keys, range(max(h.height for h in public.hierarchies.values()))):
        hierarchy, at = public.hierarchies[attribute], "AB".index(attribute)
        if level < hierarchy.height:
            sold = provider.pay(pacas.Request({"K": key}, attribute, level), 10**15, f"{attribute}{key}{level}")
            if isinstance(sold, Answer):
                for tie in {tie for found, _, tie in rows if found == key}:
                    fits = {v for v in possible[tie] if hierarchy.generalize_value(v[at], level) == sold.value}
                    possible[tie] = fits
    for policy in public.policies:
        (y,) = policy.y
        for x in {x for _, x, _ in rows}:
            left = {values["AB".index(y)] for _, found, tie in rows if found == x for values in possible[tie]}
            if len(left) < policy.k:
                return True
    return False


CASES = inputs().flatmap(lambda public: st.tuples(st.just(public), privates(public), privates(public)))
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=3000, suppress_health_check=list(HealthCheck), database=None, phases=[Phase.generate])


@PATIENT
@given(CASES)
def test_all_that_is_free_is_a_function_of_what_is_public(case: Case) -> None:
    assert not is_told_apart(*case)


@PATIENT
@given(CASES.filter(lambda case: case[0].reserve is Reserve.FIXED))
def test_a_buyer_is_told_nothing_of_what_others_buy(case: Case) -> None:
    assert not sees_others(*case)


@PATIENT
@given(CASES)
def test_whatever_is_bought_leaves_every_group_enough(case: Case) -> None:
    assert not breaks_a_policy(*case)


# ---- mutants, each of which one of these must find --------------------------------------------------------------


def _price_looks_at_the_value(patch: pytest.MonkeyPatch) -> None:
    honest = SealedShop.ladders

    def ladders(self: SealedShop, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        told = honest(self, attribute, tuples, buyer)
        return Ladders(told.prices + (told.prices > 0) * int(self._private[attribute].cells.sum()))

    patch.setattr(SealedShop, "ladders", ladders)


def _the_files_order_decides(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PublicIndex, "keys", lambda self, names: np.arange(self.rows))


def _the_first_row_has_the_rest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("pacas.provider.quoter.quoter.row_with_the_rest", lambda view: 0)


def _nobody_is_reserved(patch: pytest.MonkeyPatch) -> None:
    nobody = "pacas.provider.quoter.quoter.reserved_units"
    patch.setattr(nobody, lambda group, unit, keep, draws, unsold: np.zeros(len(draws), dtype=np.bool_))
    patch.setattr("pacas.provider.quoter.open_rows.OpenRows._leaves_enough", lambda *_: True)


def _dependencies_are_not_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "pacas.provider.sealed.opening.components_of",
        lambda names, trees, _, prior: components_of(names, trees, (), prior),
    )


def _best_case_instead_of_worst(patch: pytest.MonkeyPatch) -> None:
    def most_left(component: Component, protected: dict[str, int]) -> np.ndarray:
        most = np.ones(component.shape, dtype=np.int64)
        for vector in component.vectors():
            left = blocks_left(component, vector, protected)
            most[vector] = np.bincount(left.group).max()
        return most

    patch.setattr("pacas.provider.quoter.guard.least_left", most_left)


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
        (_best_case_instead_of_worst, breaks_a_policy),
        (_others_purchases_count, sees_others),
    ],
)
def test_a_mutant_is_caught(
    mutate: Callable[[pytest.MonkeyPatch], None], finds: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert find(CASES, lambda case: finds(*case), settings=MANY)


def test_the_papers_quotes_do_not_pass() -> None:
    """The control: two relations that a free question tells apart are found soon."""

    def told_apart(case: Case) -> bool:
        public, one, other = case
        if public.dictionary or public.tied or len({row[0] for row in public.rows}) < len(public.rows):
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
