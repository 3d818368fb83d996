"""The provider against Alg. 1 and 2, transcribed: the same prices, refusals, answers and survivors, sale by sale."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.asking import to_query
from oracles.bridge import to_provider, to_request
from oracles.pricing import LiteralProvider
from oracles.pricing import Purchase as LiteralPurchase
from oracles.worlds import Query, World, fragile_worlds, queries, worlds

from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Answer, Quote, Refusal
from pacas.provider.in_memory.shop import InMemoryShop
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.provider import Provider

MANY = examples(130)
SOME = examples(40)
ENGINE = DuckEngine(threads=1)
HIGH = 10**18


def plain(outcome: Quote | Answer | Refusal) -> object:
    """An outcome as the oracle says it."""
    match outcome:
        case Quote(price):
            return price
        case Refusal(reason):
            return reason.value
        case Answer(value, _, price):
            return LiteralPurchase(price, value)


def survivors(provider: Provider, known: Knowledge) -> set[int]:
    """The neighbours that what is known has left, by their numbers in the support set that was given."""
    support = provider.stock.support
    alive: list[int] = []
    first = support.first()
    for attribute, cells in support.cells.items():
        levels = known.level(attribute, cells.rows)
        alive += [first[attribute] + int(i) for i in (cells.divergence <= levels).nonzero()[0]]
    alive += [first[None] + int(i) for i in (~known.ruled_out).nonzero()[0]]
    assert support.given is not None
    return set(support.given[alive].tolist())


def check_quotes(world: World, provider: Provider, literal: LiteralProvider, buyer: str) -> None:
    """Every request of the world, one by one and all levels at once."""
    for _, request in world.requests:
        mine = to_request(request)
        assert plain(provider.quote(mine, buyer=buyer)) == literal.quote(request, buyer)
        ladders = provider.quote_batch(mine.attribute, {c: [v] for c, v in mine.tuple.items()}, buyer=buyer)
        expected = literal.quote_levels(request.values, request.attribute, buyer)
        assert [plain(quoted) for quoted in ladders[0]] == expected


def check_survivors(world: World, provider: Provider, literal: LiteralProvider) -> None:
    held = provider.shop
    assert isinstance(held, InMemoryShop)
    for buyer in ("ann", "bob", "cyd"):
        assert survivors(provider, held.sales.known(buyer)) == set(literal.surviving(buyer))
    assert survivors(provider, held.sales.current().known) == set(literal.surviving_all())
    assert held.sales.current().alive == len(literal.surviving_all())


@MANY
@given(fragile_worlds() | worlds(), st.sampled_from([False, False, True]), st.sampled_from([1000, 2]))
def test_prices_refusals_answers_and_survivors_agree_over_sequences_of_purchases(
    world: World, per_buyer: bool, max_matches: int
) -> None:
    literal = world.provider(per_buyer=per_buyer, max_matches=max_matches)
    history = "per_buyer" if per_buyer else "pooled"
    provider = to_provider(world, history=history, max_matches=max_matches, engine=ENGINE)
    check_quotes(world, provider, literal, "ann")
    for number, (buyer, request) in enumerate(world.requests):
        expected = literal.buy(request, buyer)
        assert plain(provider.pay(to_request(request), HIGH, str(number), buyer=buyer)) == expected
        if isinstance(expected, LiteralPurchase):
            check_survivors(world, provider, literal)
    for buyer in ("ann", "bob"):
        check_quotes(world, provider, literal, buyer)


@SOME
@given(fragile_worlds() | worlds())
def test_a_batch_quotes_what_each_request_alone_is_quoted(world: World) -> None:
    provider = to_provider(world, engine=ENGINE)
    for number, (buyer, request) in enumerate(world.requests):
        if number % 2:
            provider.pay(to_request(request), HIGH, str(number), buyer=buyer)
    for attribute in world.matches:
        asked = [to_request(request) for _, request in world.requests if request.attribute == attribute]
        columns = provider.catalogue()[attribute].columns
        batch = provider.quote_batch(attribute, {c: [r.tuple[c] for r in asked] for c in columns}, buyer="ann")
        assert len(batch) == len(asked)
        for place, one in enumerate(asked):
            assert batch[place][one.level] == provider.quote(one, buyer="ann")


@SOME
@given(
    (fragile_worlds() | worlds()).flatmap(lambda w: st.tuples(st.just(w), st.lists(queries(w), min_size=1, max_size=3)))
)
def test_generalized_queries_are_priced_by_the_algorithms(case: tuple[World, list[Query]]) -> None:
    world, asked = case
    literal, provider = world.provider(), to_provider(world, engine=ENGINE)
    for number, (buyer, request) in enumerate(world.requests):
        literal.buy(request, buyer)
        provider.pay(to_request(request), HIGH, str(number), buyer=buyer)
        for query in asked:
            expected = literal.quote(query.question(world), "ann")
            assert plain(provider.quote_query(to_query(query), buyer="ann")) == expected
