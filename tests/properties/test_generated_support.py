"""Generated support sets: safe before anything is sold (D7), priced and judged by the literal algorithms."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_generated, to_literal, to_request
from oracles.pricing import Purchase, short_groups
from oracles.worlds import World, fragile_worlds, worlds

from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Answer, Quote
from pacas.provider.support.mix import Mix
from pacas.provider.support.support_set import Generated

MANY = examples(80)
ENGINE = DuckEngine(threads=1)
HIGH = 10**18

MIXES = [
    {"update": 1.0},
    {"update": 0.5, "swap": 0.5},
    {"insert": 0.5, "delete": 0.5},
    {"update": 0.25, "swap": 0.25, "insert": 0.25, "delete": 0.25},
]


@st.composite
def ways(draw: st.DrawFn) -> Generated:
    mix = Mix.of(draw(st.sampled_from(MIXES)))
    if draw(st.booleans()):
        return Generated(per_cell=draw(st.integers(1, 4)), mix=mix)
    return Generated(size=draw(st.integers(1, 30)), mix=mix)


@MANY
@given(fragile_worlds() | worlds(), ways(), st.integers(0, 3))
def test_an_untouched_generated_support_set_is_safe(world: World, how: Generated, seed: int) -> None:
    provider = to_generated(world, support=how, seed=seed, engine=ENGINE)
    literal = to_literal(provider, world)
    short = short_groups(world.rows, literal.support, world.policies, world.trees)
    if len(literal.support):
        assert not short
    assert provider.stock.untouched.short == bool(short)
    assert sum(literal.weights.values()) == (HIGH // 10**9 if literal.support else 0)


@MANY
@given(fragile_worlds() | worlds(), ways(), st.integers(0, 3))
def test_what_a_generated_support_set_prices_and_refuses_is_what_the_algorithms_do(
    world: World, how: Generated, seed: int
) -> None:
    """And after every purchase no policy is broken by what all buyers know together, by its definition."""
    provider = to_generated(world, support=how, seed=seed, engine=ENGINE)
    literal = to_literal(provider, world)
    for number, (buyer, request) in enumerate(world.requests):
        for asker, asked in world.requests:  # quotes are kept from one sale to the next
            quoted = provider.quote(to_request(asked), buyer=asker)
            assert (quoted.price if isinstance(quoted, Quote) else quoted.reason.value) == literal.quote(asked, asker)
        bought = provider.pay(to_request(request), HIGH, str(number), buyer=buyer)
        made = literal.buy(request, buyer)
        assert isinstance(bought, Answer) == isinstance(made, Purchase)
        if isinstance(bought, Answer) and isinstance(made, Purchase):
            assert (bought.value, bought.price) == (made.answer, made.price)
            assert not short_groups(world.rows, literal.surviving_all(), world.policies, world.trees)


@MANY
@given(fragile_worlds() | worlds(), st.integers(1, 12))
def test_no_sold_cell_is_free_for_a_fresh_buyer(world: World, per_cell: int) -> None:
    """Wherever the tree has another value at all, some neighbour of the cell has it (D6)."""
    provider = to_generated(world, support=Generated(per_cell=per_cell), seed=1, engine=ENGINE)
    for attribute in world.matches:
        column = provider.stock.columns[attribute]
        if attribute not in provider.stock.support.cells or int(column.domain.is_ground.sum()) < 2:
            continue
        cells = provider.stock.support.cells[attribute]
        assert all(n >= per_cell for n in (cells.first[1:] - cells.first[:-1]).tolist())
