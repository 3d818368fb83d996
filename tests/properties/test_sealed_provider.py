"""The gate: whatever two buyers do, all that is free is a function of what is public.

Two private relations that fit the same public inputs, in any order of rows, must give the same bytes once the value in
a paid answer is masked. The paper's quotes do not pass; that is the control.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import find, given
from oracles import criteria as literal
from oracles.sealed_cases import (
    CASES,
    ENGINE,
    GATE,
    MANY,
    ROOMLESS,
    Case,
    Inputs,
    Private,
    literal_market,
    opened,
)
from oracles.sealed_towns import town_examples, towns

import pacas
from pacas.core.criteria.criterion import Criterion
from pacas.core.hierarchy import Hierarchy
from pacas.core.sealed.component import Component
from pacas.core.sealed.possible import blocks_left, least_left
from pacas.errors import InputError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.quoter.declared import Sealing, components_of
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.sealed.held_cells import HeldCells
from pacas.provider.sealed.sales import SealedSales
from pacas.provider.sealed.shop import SealedShop


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
            left = [
                (public.weigh(possible[tie], y), public.weigh(before[tie], y)) for _, found, tie in rows if found == x
            ]
            kept = sum(bool(now) and literal.holds(must.name, must.parameters, now, all_) for now, all_ in left)
            if kept < (len(left) if policy.scope == "row" else min(policy.keep, len(left))):
                return True
    return False


@town_examples(4)
@given(towns(4))
def test_all_that_is_free_is_a_function_of_what_is_public(case: Case) -> None:
    assert not is_told_apart(*case)


@town_examples(4)
@given(towns(4, Reserve.FIXED))
def test_a_buyer_is_told_nothing_of_what_others_buy(case: Case) -> None:
    assert not sees_others(*case)


@GATE
@given(CASES)
def test_whatever_is_bought_leaves_every_group_enough(case: Case) -> None:
    assert not breaks_a_policy(*case)


# ---- the literal market -----------------------------------------------------------------------------------------


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
        for vector, left in blocks_left(component, protected):
            most[vector] = np.bincount(left.group).max()
        return most

    patch.setattr("pacas.provider.quoter.guard.least_left", most_left)


def _one_answer_is_enough(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Criterion, "left", lambda self, histogram: int(self.holds(histogram).any()))


def _others_purchases_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SealedSales, "bought", lambda self, buyer: self.opened.pooled)


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
    """In some worlds of a town, of which it takes fewer than of worlds alone."""
    mutate(monkeypatch)
    assert find(towns(8).filter(lambda case: not case[0].apart), lambda case: finds(*case), settings=MANY)


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
