"""Who has a price list comes to the quotes that the provider gives, whatever it has bought."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import HealthCheck, given
from lanes import many_examples
from oracles.sealed_cases import CASES, Case, Inputs, opened

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.core.sealed.bought_levels import BoughtLevels
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request, refused
from pacas.protocol.price_list import PriceList
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.quoter.public_view import Reserve
from pacas.wire.price_list_stream import read_price_list, write_price_list


def coded(quote: Quote | Refusal) -> int:
    return quote.price if isinstance(quote, Quote) else refused(quote.reason)


def lists_of(provider: pacas.Provider) -> dict[str, PriceList]:
    lists = provider.shop.price_lists
    assert lists is not None
    return {attribute: lists.of(attribute) for attribute in lists.offered}


def agrees(public: Inputs, provider: pacas.Provider, lists: dict[str, PriceList]) -> bool:
    """Are a buyer's quotes what the lists say, before and after each of its purchases?"""
    keys: list[str | None] = [*sorted({row[0] for row in public.rows}), "nobody", "", None]
    bought = BoughtLevels()
    for number, operation in enumerate(public.operations):
        level = min(operation.level, public.hierarchies[operation.attribute].height)
        request = Request({"K": operation.key}, operation.attribute, level)
        if lists[operation.attribute].quote(request, bought) != coded(provider.quote(request, buyer=operation.buyer)):
            return False
        if operation.pays and operation.buyer == "u":
            if isinstance(provider.pay(request, 10**15, f"{number}", buyer="u"), Answer):
                lists[operation.attribute].learn(request, bought)
            for attribute, listed in lists.items():
                told = provider.quote_batch(attribute, {"K": keys}, buyer="u").prices
                if listed.ladders({"K": keys}, bought).tolist() != told.tolist():
                    return False
    return True


@many_examples(1000, suppress_health_check=[HealthCheck.too_slow])
@given(CASES)
def test_a_list_and_the_provider_quote_alike(case: Case) -> None:
    public, private, _ = case
    provider = opened(public, private, sealing=public.sealing)
    lists = lists_of(provider)
    if public.reserve is Reserve.FIXED or not public.policies:
        alone = public._replace(operations=[one._replace(buyer="u") for one in public.operations])
        assert sorted(lists) == ["A", "B"] and agrees(alone, provider, lists)


def test_attributes_that_are_found_by_other_columns_share_their_units() -> None:
    """What is bought by one key counts for another that finds the same rows, and lists number them alike."""
    trees = {a: pacas.Hierarchy.flat([f"{a}{i}" for i in range(4)]) for a in "AB"}
    dictionary = tuple({"A": f"A{i}", "B": f"B{i}"} for i in range(4))
    linked = DeclaredDependency(FunctionalDependency(("A",), "B"), dictionary)
    rows = {"K": [f"k{i}" for i in range(9)], "Z": ["z0", "z1", *["z2"] * 7]}
    values = {a: [f"{a}{i % 4}" for i in range(9)] for a in "AB"}
    match = {"A": "K = K", "B": "Z = Z"}
    provider = pacas.Provider(rows | values, match=match, hierarchies=trees, total=9, sealing=Sealing([linked]))
    lists, bought = lists_of(provider), BoughtLevels()
    assert all(provider.shop.offers[a].prices.linked == ("A", "B") for a in "AB")  # type: ignore[union-attr]
    for number, request in enumerate([Request({"K": "k1"}, "A", 0), Request({"Z": "z0"}, "B", 0)]):
        provider.pay(request, 10**15, f"{number}", buyer="u")
        lists[request.attribute].learn(request, bought)
        for attribute, tuples in {"A": {"K": rows["K"]}, "B": {"Z": ["z0", "z1", "z2", "z3"]}}.items():
            told = provider.quote_batch(attribute, tuples, buyer="u").prices.tolist()
            assert lists[attribute].ladders(tuples, bought).tolist() == told
            again = read_price_list(write_price_list(lists[attribute]), 12)
            assert again is not None and again.ladders(tuples, bought).tolist() == told


def test_keys_that_find_too_many_rows_are_listed_however_few_units_there_are() -> None:
    people = pa.table({"CITY": ["x", "x", "x", "y"], "A": ["v0", "v0", "v0", "v1"]})
    tied = DeclaredDependency(FunctionalDependency(("CITY",), "A"))
    provider = pacas.Provider(
        people,
        match={"A": "CITY = CITY"},
        hierarchies={"A": pacas.Hierarchy.flat(["v0", "v1"])},
        total=100,
        max_matches=2,
        sealing=Sealing([tied]),
    )
    cities = {"CITY": ["x", "y", "z"]}
    told = provider.quote_batch("A", cities).prices.tolist()
    assert lists_of(provider)["A"].ladders(cities, BoughtLevels()).tolist() == told
    assert told[0] == [refused(Reason.AMBIGUOUS)] * 2
