"""A provider that leaves its relation on the engine: the same prices, refusals, answers and ledger as one in memory."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from oracles.bridge import to_generated, to_literal, to_request
from oracles.cleaning import tree_of
from oracles.pricing import Policy as LiteralPolicy
from oracles.pricing import Purchase as LiteralPurchase
from oracles.pricing import short_groups
from oracles.tree import Tree, Value
from oracles.worlds import AGES, NAMES, PLACES, World, clauses, domain, hierarchies, requests, values_at

from pacas import example
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.core.query import GeneralizedQuery
from pacas.engine.contract import Hierarchies
from pacas.engine.duck import DuckEngine
from pacas.errors import InputError, LedgerChangedError
from pacas.protocol.messages import Answer, Reason, Refusal, Request
from pacas.provider.audit import audit
from pacas.provider.ledger import MemoryLedger
from pacas.provider.mix import Mix
from pacas.provider.neighbour import GivenSupport, Neighbour
from pacas.provider.on_engine import OnEngine
from pacas.provider.provider import Provider
from pacas.provider.support import Generated

MANY = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
HIGH = 10**18
BUYERS = ("ann", "bob", "cyd")


class Roomless(DuckEngine):
    """DuckDB, for a caller that may hold nothing."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.room = 0


ROOMLESS, ROOMY = Roomless(), DuckEngine(threads=1)


# ---- random worlds of some size --------------------------------------------------------------------------------------


@st.composite
def large_worlds(draw: st.DrawFn) -> World:
    """Some dozens of rows in a few X-groups, so that no sale comes near the last neighbours; nobody is found by M or N.

    X and match columns have nulls, spellings of one number and what no tree knows; policies may share attributes.
    """
    trees: dict[str, Tree] = {"M": draw(hierarchies()), "H": AGES}
    if draw(st.booleans()):
        trees["N"] = draw(hierarchies())
    if draw(st.booleans()):
        trees["G"] = PLACES
    values: dict[str, st.SearchStrategy[Value]] = {
        "G": st.sampled_from(["p1", "p2", "q1", "p1", "p2", "zz", None]),
        "H": st.sampled_from(["1", "2", "3", "2.0", "2", "1", None]),
        "K": st.sampled_from([*NAMES, *NAMES, None]),
        "M": st.sampled_from(domain("M", [], trees)),
        "N": st.sampled_from(domain("N", [], trees) if "N" in trees else ["n1", "n2", "n3"]),
    }
    kinds = draw(st.lists(st.fixed_dictionaries(values), min_size=3, max_size=9))
    which = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=24, max_size=36))
    rows = [dict(kinds[i]) for i in which]
    matches = {}
    for a in draw(st.sampled_from([["M"], ["M", "N"], ["N", "M"]])):
        columns = draw(st.lists(st.sampled_from("GHK"), min_size=1, max_size=2, unique=True))
        matches[a] = tuple(draw(clauses(c, trees)) for c in columns)
    policies = draw(st.lists(_policies(rows, trees), max_size=2))
    world = World(rows, trees, matches, policies, [], {})
    world.requests = draw(st.lists(st.tuples(st.sampled_from(BUYERS), requests(world)), min_size=3, max_size=8))
    return world


@st.composite
def _policies(draw: st.DrawFn, rows: list[dict[str, Value]], trees: Mapping[str, Tree]) -> LiteralPolicy:
    y = draw(st.sampled_from(["M", "N", "MN"]))
    x = draw(st.lists(st.sampled_from("GHK"), min_size=1, max_size=3, unique=True))
    levels = {a: draw(st.integers(0, tree_of(a, trees).height - 1)) for a in y}
    most = prod(values_at(a, level, rows, trees) for a, level in levels.items())
    return LiteralPolicy(tuple(x), levels, min(draw(st.sampled_from([2, 3, 4, 6])), most))


def pair(world: World, **options: Any) -> tuple[Provider, Provider]:
    """On the engine, and in memory."""
    support = Generated(per_cell=options.pop("per_cell", 2))
    apart = to_generated(world, support=support, engine=ROOMLESS, seed=5, **options)
    held = to_generated(world, support=support, engine=ROOMY, seed=5, **options)
    assert isinstance(apart.shop, OnEngine) and not isinstance(held.shop, OnEngine)
    return apart, held


def plain(ledger: Any) -> list[Any]:
    """The purchases of a ledger, without the row numbers, which one in memory may leave out."""
    found = [entry.purchase for entry in ledger.entries(1)]
    return [(p.buyer, p.idempotency_key, p.request, p.price, p.answer) for p in found]


def near_the_end(apart: Provider, request: Request, buyer: str) -> bool:
    """Would a sale leave so few neighbours that an X-group elsewhere might lose a value of its own?"""
    shop = apart.shop
    assert isinstance(shop, OnEngine)
    (rows,) = shop._rows(request.attribute, [request.tuple])
    most = shop.whole.per_cell + shop.whole.cover.most_of_a_row
    return shop.sales.judged(buyer).beyond().alive - len(rows) * most <= shop.whole.most_droppers


def check_quotes(world: World, apart: Provider, held: Provider, buyer: str) -> None:
    for attribute in world.matches:
        asked = [to_request(r) for _, r in world.requests if r.attribute == attribute]
        columns = {c: [r.tuple[c] for r in asked] for c in held.catalogue()[attribute].columns}
        mine, theirs = (p.quote_batch(attribute, columns, buyer=buyer) for p in (apart, held))
        for place, request in enumerate(asked):
            alone = [apart.quote(Request(request.tuple, attribute, n), buyer=buyer) for n in range(len(mine[place]))]
            assert list(mine[place]) == alone
            if near_the_end(apart, request, buyer):
                event("near the end")
                pairs = zip(mine[place], theirs[place], strict=True)
                assert all(one == other or one == Refusal(Reason.UNSAFE) for one, other in pairs)
            else:
                assert list(mine[place]) == list(theirs[place])


@MANY
@given(large_worlds(), st.sampled_from(["pooled", "per_buyer"]), st.sampled_from([1000, 4]), st.integers(1, 3))
def test_prices_refusals_answers_and_entries_are_those_of_a_relation_in_memory(
    world: World, history: str, max_matches: int, per_cell: int
) -> None:
    apart, held = pair(world, history=history, max_matches=max_matches, per_cell=per_cell)
    for attribute, offer in held.catalogue().items():
        mine = apart.catalogue()[attribute]
        assert (mine.columns, mine.hierarchy.labels) == (offer.columns, offer.hierarchy.labels)
    assert apart.ledger.opening() == held.ledger.opening()
    assert (apart.shop.total, apart.shop.neighbours) == (held.shop.total, held.shop.neighbours)
    check_quotes(world, apart, held, "ann")
    for number, (buyer, request) in enumerate(world.requests):
        if near_the_end(apart, to_request(request), buyer):
            continue
        outcomes = [p.pay(to_request(request), HIGH, str(number), buyer=buyer) for p in (apart, held)]
        assert outcomes[0] == outcomes[1]
        event(type(outcomes[0]).__name__)
    assert plain(apart.ledger) == plain(held.ledger)
    for buyer in BUYERS:
        check_quotes(world, apart, held, buyer)
    event(f"covering: {bool(held.shop.neighbours > sum(apart.shop.whole.of_a_cell.values()) * len(world.rows))}")
