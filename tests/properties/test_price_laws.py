"""The laws of SPEC §3, "Price", on the provider itself. On the literal algorithms: `test_pricing_oracle.py`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.asking import to_query
from oracles.bridge import to_provider, to_request
from oracles.pricing import short_groups
from oracles.worlds import Query, World, fragile_worlds, queries, worlds

from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Answer, Quote, Refusal, Request
from pacas.provider.provider import Provider

SOME = examples(80)
ENGINE = DuckEngine(threads=1)
HIGH = 10**18
BUYERS = ("ann", "bob", "cyd")


def sell(world: World, provider: Provider) -> list[tuple[str, Request, Answer]]:
    """What the world's buyers ask for, in order; what is not refused."""
    made = []
    for number, (buyer, request) in enumerate(world.requests):
        answer = provider.pay(to_request(request), HIGH, str(number), buyer=buyer)
        if isinstance(answer, Answer):
            made.append((buyer, to_request(request), answer))
    return made


def cost(quoted: Quote | Refusal) -> float:
    """A refusal as the paper has it: an infinite price."""
    return quoted.price if isinstance(quoted, Quote) else float("inf")


@SOME
@given(fragile_worlds() | worlds())
def test_no_price_is_negative_and_coarser_is_never_dearer(world: World) -> None:
    """A coarser answer is never refused where a finer one is not."""
    provider = to_provider(world, engine=ENGINE)
    sell(world, provider)
    for _, request in world.requests:
        mine = to_request(request)
        ladder = [cost(q) for q in provider.quote_batch(mine.attribute, {c: [v] for c, v in mine.tuple.items()})[0]]
        assert all(price >= 0 for price in ladder)
        assert ladder == sorted(ladder, reverse=True)


@SOME
@given(fragile_worlds() | worlds())
def test_buying_twice_is_free_and_all_purchases_together_cost_at_most_the_total(world: World) -> None:
    provider = to_provider(world, engine=ENGINE)
    made = sell(world, provider)
    for buyer in BUYERS:
        assert 0 <= provider.ledger.total(buyer).spent <= provider.stock.total
    for number, (buyer, request, answer) in enumerate(made):
        assert provider.pay(request, 0, f"again {number}", buyer=buyer) == Answer(answer.value, answer.level, 0)


@SOME
@given(fragile_worlds() | worlds())
def test_a_sequence_of_purchases_costs_what_the_most_that_they_tell_costs_at_once(world: World) -> None:
    """In whichever order they are made: what a buyer pays is what the purchases rule out, once."""
    provider, backwards = to_provider(world, engine=ENGINE), to_provider(world, engine=ENGINE)
    made = [(buyer, request) for buyer, request, _ in sell(world, provider)]
    for number, (buyer, request) in enumerate(reversed(made)):
        assert isinstance(backwards.pay(request, HIGH, str(number), buyer=buyer), Answer)
    for buyer in BUYERS:
        assert provider.ledger.total(buyer).spent == backwards.ledger.total(buyer).spent


@SOME
@given(fragile_worlds() | worlds())
def test_no_sequence_of_sales_breaks_a_policy_by_its_definition(world: World) -> None:
    """Whatever all buyers know together: R's groups are linked to k values by the instances that remain."""
    provider, literal = to_provider(world, engine=ENGINE), world.provider()
    for number, (buyer, request) in enumerate(world.requests):
        if isinstance(provider.pay(to_request(request), HIGH, str(number), buyer=buyer), Answer):
            literal.ledger.append((buyer, literal.question(request), 0))
            assert not short_groups(world.rows, literal.surviving_all(), world.policies, world.trees)


@SOME
@given(
    (fragile_worlds() | worlds()).flatmap(lambda w: st.tuples(st.just(w), queries(w))),
    st.integers(0, 2),
    st.integers(1, 3),
)
def test_a_query_that_determines_another_costs_at_least_as_much(
    case: tuple[World, Query], coarser: int, kept: int
) -> None:
    """A coarser query, or one of fewer columns, follows from the whole one."""
    world, whole = case
    provider = to_provider(world, engine=ENGINE)
    sell(world, provider)
    outputs = [
        (column, min(level + coarser, provider.stock.columns[column[1]].hierarchy.height))
        if column[1] in provider.stock.columns and column[1] != "D"
        else (column, level)
        for column, level in whole.outputs
    ]
    part = Query(outputs[:kept], whole.conditions, whole.sources)
    assert cost(provider.quote_query(to_query(part), buyer="ann")) <= cost(
        provider.quote_query(to_query(whole), buyer="ann")
    )
